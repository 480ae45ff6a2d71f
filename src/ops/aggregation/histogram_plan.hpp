#pragma once

#include <cstdint>
#include <vector>

#include "operand/context.hpp"
#include "operand/rows.hpp"
#include "ops/aggregation/histogram_record.h"

// How a histogram is made: which bins, where they are counted, and by how many workgroups. Host only.
namespace tessera::detail {

/// The enumerators of the option `binning`.
enum class HistogramBins : std::uint32_t { domain, resident_domain, automatic_domain, edges, resident_edges };

/// Which format values are binned in: float32 for calibrated values of a calibrated source, else the input's widened
/// one.
Format histogram_format(const OperationContext& context);
ValueDomain histogram_values(const OperationContext& context);
HistogramBins histogram_bins(const OperationContext& context);

/// Bins known on the host: the binning and, behind it, the keys of its edges where they are compared.
struct HostBinning {
  HistogramBinning binning;
  std::vector<std::int32_t> keys;
};
/// From literal bounds or edges, which were validated.
HostBinning make_host_binning(HistogramBins bins, Format format, const std::vector<double>& bounds,
                              std::uint32_t count);

struct HistogramPlan {
  RowTuning tuning;
  RowPass pass;
  std::uint32_t counter_words = 1;  ///< shared words for counters; 1: bins are counted in the output
  std::uint32_t copies = 1;
  std::uint32_t key_words = 1;  ///< shared words for edges; 1: they are read where they are
  bool join_lanes = false;
};
/// `mode`: how bins are found, `histogram_resident` where the device decides.
HistogramPlan plan_histogram(const OperationContext& context, std::uint32_t bins, std::uint32_t mode);

}  // namespace tessera::detail
