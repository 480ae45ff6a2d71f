#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/columns.hpp"

namespace tessera::reference {

/// The `bins` + 1 edges of equal-width float bins, bins >= 1: edge k is the float nearest to lo + k * (hi - lo) / bins
/// (ties to even), found by exact comparison with the midpoints between neighbouring floats. Finite lo <= hi.
std::vector<float> uniform_edges(float lo, float hi, std::uint32_t bins);

/// Counts of equal-width bins over [lo, hi]; values outside, unselected and not finite are ignored, lo == hi counts its
/// own value in bin 0, and the last bin contains hi. Nothing is counted when lo > hi or a bound is not finite.
/// Integers: bin floor((v - lo) * bins / (hi - lo)), exact. Floats: the bin k with edge k <= v < edge k + 1, where the
/// edges are those of `uniform_edges`. T: uint32, sint32, float.
template <class T>
std::vector<std::uint64_t> histogram(std::span<const T> values, T lo, T hi, std::uint32_t bins, const Rows& rows = {});

/// Counts of the bins [edge k, edge k + 1), the last one closed. Nothing is counted unless the edges are finite and
/// strictly increasing. T: uint32, sint32, float.
template <class T>
std::vector<std::uint64_t> histogram(std::span<const T> values, std::span<const T> edges, const Rows& rows = {});

/// The automatic domain: the extent of the valid finite rows, whatever the mask says.
template <class T>
std::array<T, 2> automatic_domain(std::span<const T> values, const Rows& rows = {}) {
  return extent(values, Rows{.mask = {}, .validity = rows.validity});
}

}  // namespace tessera::reference
