#pragma once

#include <cstdint>
#include <span>

#include "reference/exact_sum.hpp"

namespace tessera::reference {

/// Statistics of the valid finite values; all zero when there is none.
template <class T>
struct Statistics {
  std::uint64_t count = 0;
  T minimum = {};  ///< -0 comes before +0
  T maximum = {};
  ExactSum sum;                       ///< exact; `to_float`, `to_double`, `to_integer` round it
  double mean = 0.0;                  ///< correctly rounded
  double population_deviation = 0.0;  ///< within one unit in the last place
};

/// An empty validity accepts every row. T: any integer of 8 to 64 bits, float, double.
template <class T>
Statistics<T> statistics(std::span<const T> values, std::span<const std::uint32_t> validity = {});

}  // namespace tessera::reference
