#include "statistics/otsu_cutoff.hpp"

#include <array>
#include <numeric>

#include <fmt/format.h>

#include <tessera/error.hpp>
#include <tessera/graph/operation.hpp>
#include <tessera/raster/threshold.hpp>

namespace tessera::cli {

std::optional<double> otsu_cutoff(Device& device, const BandHistogram& histogram) {
  const std::uint64_t total = std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::uint64_t{0});
  if (total == 0) return std::nullopt;
  constexpr std::uint64_t limit = std::uint64_t{1} << 48;
  if (total >= limit)
    throw Error(ErrorCode::limit_exceeded,
                {"threshold", "--otsu", "there must be fewer than 2^48 valid pixels; --window or --bbox takes a part",
                 fmt::format("{} of at most {}", total, limit - 1)});
  const Vector counts = upload<std::uint64_t>(device, histogram.counts);
  const Vector output = upload<float>(device, std::array<float, 1>{});
  tessera::run(device, raster::OtsuThreshold{.histogram = counts,
                                             .domain = std::array<double, 2>{histogram.low, histogram.high},
                                             .output = output});
  return download<float>(output).front();
}

}  // namespace tessera::cli
