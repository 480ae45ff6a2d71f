#include "reference/columns.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

namespace tessera::reference {
namespace {

// Total order in which -0 comes before +0; no operand is NaN.
template <class T>
bool is_less(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (left == right) return std::signbit(left) && !std::signbit(right);
  }
  return left < right;
}

template <class T>
bool is_nan(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

template <class T>
T minimum(T a, T b) {
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return is_less(b, a) ? b : a;
}

template <class T>
T maximum(T a, T b) {
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return is_less(a, b) ? b : a;
}

// Integers are computed as unsigned, which wraps.
template <class T>
using Arithmetic = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, T>;

template <class T>
T apply(ElementwiseOperation operation, T a, T b, T c) {
  const auto x = static_cast<Arithmetic<T>>(a);
  const auto y = static_cast<Arithmetic<T>>(b);
  const auto z = static_cast<Arithmetic<T>>(c);
  switch (operation) {
    case ElementwiseOperation::copy:
      return a;
    case ElementwiseOperation::add:
      return static_cast<T>(x + y);
    case ElementwiseOperation::subtract:
      return static_cast<T>(x - y);
    case ElementwiseOperation::multiply:
      return static_cast<T>(x * y);
    case ElementwiseOperation::multiply_add:
      return static_cast<T>(x * y + z);
    case ElementwiseOperation::minimum:
      return minimum(a, b);
    case ElementwiseOperation::maximum:
      return maximum(a, b);
  }
  return a;
}

}  // namespace

template <class T>
bool is_finite(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isfinite(value);
  return true;
}

std::vector<std::uint32_t> scan(std::span<const std::uint32_t> values, ScanMode mode,
                                std::span<const std::uint32_t> segment_flags, std::span<const std::uint32_t> validity) {
  std::vector<std::uint32_t> result(values.size());
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!segment_flags.empty() && segment_flags[i] != 0) sum = 0;
    const std::uint32_t before = sum;
    if (validity.empty() || validity[i] != 0) sum += values[i];
    result[i] = mode == ScanMode::exclusive ? before : sum;
  }
  return result;
}

template <class T>
std::vector<T> elementwise(ElementwiseOperation operation, std::span<const T> a, std::span<const T> b,
                           std::span<const T> c) {
  std::vector<T> result(a.begin(), a.end());
  if (operation == ElementwiseOperation::copy) return result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    result[i] = apply(operation, a[i], b[i], operation == ElementwiseOperation::multiply_add ? c[i] : T{});
  }
  return result;
}

std::vector<std::uint32_t> combine_masks(MaskOperation operation,
                                         std::span<const std::span<const std::uint32_t>> inputs) {
  std::vector<std::uint32_t> result(inputs.front().size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t accepted = 0;
    for (const auto& input : inputs) accepted += input[i] != 0 ? 1 : 0;
    const bool first = inputs.front()[i] != 0;
    bool value = false;
    switch (operation) {
      case MaskOperation::conjunction:
        value = accepted == inputs.size();
        break;
      case MaskOperation::disjunction:
        value = accepted > 0;
        break;
      case MaskOperation::exclusive_disjunction:
        value = accepted % 2 == 1;
        break;
      case MaskOperation::difference:
        value = first && accepted == 1;
        break;
      case MaskOperation::negation:
        value = !first;
        break;
    }
    result[i] = value ? 1 : 0;
  }
  return result;
}

template <class T>
ExactSum exact_sum(std::span<const T> values, const Rows& rows) {
  const bool is_filtered = !rows.mask.empty() || !rows.validity.empty();
  ExactSum sum;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (rows.is_selected(i) && (!is_filtered || is_finite(values[i]))) sum.add(static_cast<double>(values[i]));
  }
  return sum;
}

template <class T>
std::array<T, 2> extent(std::span<const T> values, const Rows& rows) {
  std::array<T, 2> result = {};
  bool is_empty = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    if (!rows.is_selected(i) || !is_finite(value)) continue;
    result[0] = is_empty ? value : minimum(result[0], value);
    result[1] = is_empty ? value : maximum(result[1], value);
    is_empty = false;
  }
  return result;
}

template <class T>
std::vector<T> reduce(ReductionOperation operation, std::span<const T> values, const Rows& rows) {
  if (operation == ReductionOperation::sum) {
    const ExactSum sum = exact_sum(values, rows);
    if constexpr (std::is_floating_point_v<T>) {
      return {static_cast<T>(sum.to_float())};
    } else {
      return {static_cast<T>(static_cast<std::uint32_t>(sum.to_integer()))};
    }
  }
  const std::array<T, 2> both = extent(values, rows);
  if (operation == ReductionOperation::minimum) return {both[0]};
  if (operation == ReductionOperation::maximum) return {both[1]};
  return {both[0], both[1]};
}

template bool is_finite(std::uint32_t);
template bool is_finite(std::int32_t);
template bool is_finite(float);
template bool is_finite(double);

template std::vector<std::uint32_t> elementwise(ElementwiseOperation, std::span<const std::uint32_t>,
                                                std::span<const std::uint32_t>, std::span<const std::uint32_t>);
template std::vector<std::int32_t> elementwise(ElementwiseOperation, std::span<const std::int32_t>,
                                               std::span<const std::int32_t>, std::span<const std::int32_t>);
template std::vector<float> elementwise(ElementwiseOperation, std::span<const float>, std::span<const float>,
                                        std::span<const float>);

template ExactSum exact_sum(std::span<const std::uint32_t>, const Rows&);
template ExactSum exact_sum(std::span<const std::int32_t>, const Rows&);
template ExactSum exact_sum(std::span<const float>, const Rows&);
template ExactSum exact_sum(std::span<const double>, const Rows&);

template std::array<std::uint32_t, 2> extent(std::span<const std::uint32_t>, const Rows&);
template std::array<std::int32_t, 2> extent(std::span<const std::int32_t>, const Rows&);
template std::array<float, 2> extent(std::span<const float>, const Rows&);
template std::array<double, 2> extent(std::span<const double>, const Rows&);

template std::vector<std::uint32_t> reduce(ReductionOperation, std::span<const std::uint32_t>, const Rows&);
template std::vector<std::int32_t> reduce(ReductionOperation, std::span<const std::int32_t>, const Rows&);
template std::vector<float> reduce(ReductionOperation, std::span<const float>, const Rows&);

}  // namespace tessera::reference
