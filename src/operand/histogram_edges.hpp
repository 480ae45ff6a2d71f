#pragma once

#include <cstdint>
#include <vector>

namespace tessera::detail {

/// The `bins` + 1 edges of equal-width bins over [lo, hi]: edge k is the float32 nearest to lo + k * (hi - lo) / bins,
/// computed exactly and rounded once (ties to even), so that every device compares with the same numbers. Edges never
/// decrease; some are equal when the bins are narrower than the spacing of float32 values. The bounds are finite with
/// lo <= hi, and `bins` is at least 1: callers check that. Thread-safe.
std::vector<float> uniform_edges(float lo, float hi, std::uint32_t bins);

}  // namespace tessera::detail
