#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/exact_sum.hpp"

/// CPU references of the column operations: one plain loop each, sharing nothing with the operations. All functions are
/// thread-safe. Spans that must agree in length are the caller's business.
namespace tessera::reference {

/// Which rows of a source count. An empty span accepts every row, otherwise a row counts where the word is not zero.
struct Rows {
  /// The caller's mask.
  std::span<const std::uint32_t> mask = {};
  /// The source's own validity. Unlike the mask it also limits automatic domains.
  std::span<const std::uint32_t> validity = {};

  bool is_valid(std::size_t row) const { return validity.empty() || validity[row] != 0; }
  bool is_selected(std::size_t row) const { return is_valid(row) && (mask.empty() || mask[row] != 0); }
};

/// Finite by the bit pattern; integers always are.
template <class T>
bool is_finite(T value);

enum class ScanMode { exclusive, inclusive };

/// Prefix sums modulo 2^32, starting anew at row 0 and wherever a flag is not zero (no flags: one segment). Invalid
/// rows count as 0.
std::vector<std::uint32_t> scan(std::span<const std::uint32_t> values, ScanMode mode,
                                std::span<const std::uint32_t> segment_flags = {},
                                std::span<const std::uint32_t> validity = {});

enum class ElementwiseOperation { copy, add, subtract, multiply, multiply_add, minimum, maximum };

/// Row by row a, a + b, a - b, a * b, a * b + c (two roundings), min(a, b), max(a, b). T: uint32, sint32 (both modulo
/// 2^32), float. Minimum and maximum return the other operand for a NaN, and order -0 below +0; of two NaN, b.
template <class T>
std::vector<T> elementwise(ElementwiseOperation operation, std::span<const T> a, std::span<const T> b = {},
                           std::span<const T> c = {});

enum class MaskOperation { conjunction, disjunction, exclusive_disjunction, difference, negation };

/// All, any, an odd number of, the first and no other of, or not the first of the inputs; 0 or 1 for each row.
std::vector<std::uint32_t> combine_masks(MaskOperation operation,
                                         std::span<const std::span<const std::uint32_t>> inputs);

/// The exact sum of the selected rows; with a mask or a validity only finite ones count, without either all do.
/// T: uint32, sint32, float, double.
template <class T>
ExactSum exact_sum(std::span<const T> values, const Rows& rows = {});

/// Smallest and largest of the selected finite rows, with -0 below +0; two zeros when there is none.
/// T: uint32, sint32, float, double.
template <class T>
std::array<T, 2> extent(std::span<const T> values, const Rows& rows = {});

enum class ReductionOperation { sum, minimum, maximum, extent };

/// A reduction into the input's own format: one value, or two for the extent. Integer sums are modulo 2^32, float sums
/// the exact sum rounded once. T: uint32, sint32, float.
template <class T>
std::vector<T> reduce(ReductionOperation operation, std::span<const T> values, const Rows& rows = {});

}  // namespace tessera::reference
