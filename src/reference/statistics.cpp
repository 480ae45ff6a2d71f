#include "reference/statistics.hpp"

#include <cmath>
#include <type_traits>

namespace tessera::reference {
namespace {

template <class T>
void add_with_square(T value, ExactSum& sum, ExactSum& sum_of_squares) {
  if constexpr (std::is_floating_point_v<T>) {
    sum.add(value);
    sum_of_squares.add_square(value);
  } else if constexpr (std::is_signed_v<T>) {
    sum.add_integer(std::int64_t{value});
    sum_of_squares.add_integer_square(static_cast<std::uint64_t>(value < 0 ? -(value + 1) : value) +
                                      (value < 0 ? 1 : 0));
  } else {
    sum.add_integer(std::uint64_t{value});
    sum_of_squares.add_integer_square(value);
  }
}

template <class T>
bool comes_before(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (left == right) return std::signbit(left) && !std::signbit(right);
  }
  return left < right;
}

}  // namespace

template <class T>
Statistics<T> statistics(std::span<const T> values, std::span<const std::uint32_t> validity) {
  Statistics<T> result;
  ExactSum sum_of_squares;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    if (!validity.empty() && validity[i] == 0) continue;
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) continue;
    }
    if (result.count == 0 || comes_before(value, result.minimum)) result.minimum = value;
    if (result.count == 0 || comes_before(result.maximum, value)) result.maximum = value;
    add_with_square(value, result.sum, sum_of_squares);
    ++result.count;
  }
  result.mean = mean(result.sum, result.count);
  result.population_deviation = population_deviation(result.sum, sum_of_squares, result.count);
  return result;
}

template Statistics<std::uint8_t> statistics(std::span<const std::uint8_t>, std::span<const std::uint32_t>);
template Statistics<std::int8_t> statistics(std::span<const std::int8_t>, std::span<const std::uint32_t>);
template Statistics<std::uint16_t> statistics(std::span<const std::uint16_t>, std::span<const std::uint32_t>);
template Statistics<std::int16_t> statistics(std::span<const std::int16_t>, std::span<const std::uint32_t>);
template Statistics<std::uint32_t> statistics(std::span<const std::uint32_t>, std::span<const std::uint32_t>);
template Statistics<std::int32_t> statistics(std::span<const std::int32_t>, std::span<const std::uint32_t>);
template Statistics<std::uint64_t> statistics(std::span<const std::uint64_t>, std::span<const std::uint32_t>);
template Statistics<std::int64_t> statistics(std::span<const std::int64_t>, std::span<const std::uint32_t>);
template Statistics<float> statistics(std::span<const float>, std::span<const std::uint32_t>);
template Statistics<double> statistics(std::span<const double>, std::span<const std::uint32_t>);

}  // namespace tessera::reference
