#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "raster_job.hpp"

// Counts of a band's calibrated values in bins of equal width, over any number of windows.
namespace tessera::cli {

struct HistogramRequest {
  std::uint32_t bins = 256;
  std::optional<double> low = {};   ///< absent: the smallest valid value
  std::optional<double> high = {};  ///< absent: the largest
};

struct BandHistogram {
  double low = 0;
  double high = 0;
  std::vector<std::uint64_t> counts;
  std::uint64_t valid = 0;
  /// Valid values below `low` or above `high`.
  std::uint64_t outside() const noexcept;
};

/// 8- and 16-bit integers take one pass, other types one more where an end of the domain is absent. Bins are those of
/// `tessera::Histogram`; calibrated values are float32, 64-bit types are binned in double on the host. Without a valid
/// pixel the counts are 0. Throws `UsageError` for ends in the wrong order and for ends that float32 does not hold.
BandHistogram gather_histogram(const JobContext& context, const BandChoice& band, const HistogramRequest& request,
                               const std::string& progress_name);

}  // namespace tessera::cli
