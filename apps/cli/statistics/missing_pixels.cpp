#include "statistics/missing_pixels.hpp"

#include <array>
#include <cstring>

#include <tessera/raster/statistics.hpp>

namespace tessera::cli {

void add_missing_counts(Graph& graph, const BandOperands& operands, std::uint64_t offset, bool has_quality_mask) {
  raster::Band band = operands.band;
  if (has_quality_mask) band.validity = operands.unmasked;
  graph.add(raster::MissingCounts{.band = band.source(),
                                  .quality = has_quality_mask ? operands.band.validity : std::nullopt,
                                  .output = operands.results.view(Format::uint32, raster::MissingCounts::rows,
                                                                  {.byte_offset = operands.offset + offset})});
}

void merge_missing_counts(const BandWindow& window, std::uint64_t offset, MissingPixels& missing) {
  using Reason = raster::MissingCounts::Reason;
  std::array<std::uint32_t, raster::MissingCounts::rows> counts{};
  std::memcpy(counts.data(), window.results.data() + offset, missing_counts_bytes);
  missing.add_masked(window);
  const auto count = [&](Reason reason) { return counts[static_cast<std::size_t>(reason)]; };
  missing.no_data += count(Reason::no_data);
  missing.not_finite += count(Reason::not_finite);
  missing.quality += count(Reason::quality);
}

}  // namespace tessera::cli
