#pragma once

#include <cstdint>
#include <map>

#include "reference/natural.hpp"

namespace tessera::reference {

/// An exact sum: one integer for each binary exponent that occurs among the terms. Terms that are not finite are added
/// in floating point, which is exact for them. Thread-safe to read.
class ExactSum {
 public:
  void add(double value);
  void add_integer(std::int64_t value) { add_scaled(value, 0); }
  void add_integer(std::uint64_t value) { add_scaled(static_cast<int128>(value), 0); }
  void add_product(double left, double right);
  void add_square(double value) { add_product(value, value); }
  /// Adds magnitude * magnitude.
  void add_integer_square(std::uint64_t magnitude);

  std::uint64_t count() const { return count_; }
  bool is_finite() const { return special_ == 0.0; }
  /// The finite terms: value * 2^exponent.
  struct Scaled {
    Integer value;
    int exponent;
  };
  Scaled scaled() const;

  /// Correctly rounded; an exact zero is +0, NaN is the positive quiet one.
  float to_float() const;
  double to_double() const;
  /// The integer part modulo 2^64, for sums of integers.
  std::uint64_t to_integer() const;

 private:
  void add_scaled(int128 value, int exponent);
  std::map<int, int128> terms_;
  double special_ = 0.0;
  std::uint64_t count_ = 0;
};

/// sum / count, correctly rounded; 0 for no value; NaN and infinities as the sum has them.
double mean(const ExactSum& sum, std::uint64_t count);

/// Population standard deviation: the exact variance, then a square root in long double and one rounding, so within
/// one unit in the last place. 0 for no value, NaN when a term was not finite.
double population_deviation(const ExactSum& sum, const ExactSum& sum_of_squares, std::uint64_t count);

}  // namespace tessera::reference
