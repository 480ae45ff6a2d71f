#include "reference/exact_sum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera::reference {
namespace {

// A finite value as an integer of at most 53 bits times 2^exponent.
struct Parts {
  std::int64_t significand;
  int exponent;
};

Parts parts_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {static_cast<std::int64_t>(std::ldexp(fraction, 53)), exponent - 53};
}

double quiet_nan() { return std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

void ExactSum::add_scaled(int128 value, int exponent) {
  terms_[exponent] += value;
  ++count_;
}

void ExactSum::add(double value) {
  if (std::isfinite(value)) {
    const Parts parts = parts_of(value);
    add_scaled(parts.significand, parts.exponent);
    return;
  }
  special_ += value;
  ++count_;
}

void ExactSum::add_product(double left, double right) {
  ++count_;
  if (!std::isfinite(left) || !std::isfinite(right)) {
    special_ += left * right;
    return;
  }
  // Four partial products, so that many terms of 106 bits can't overflow one 128-bit integer.
  const Parts a = parts_of(left);
  const Parts b = parts_of(right);
  constexpr std::int64_t split = std::int64_t{1} << 27;
  const int exponent = a.exponent + b.exponent;
  terms_[exponent] += static_cast<int128>(a.significand % split) * (b.significand % split);
  terms_[exponent + 27] += static_cast<int128>(a.significand / split) * (b.significand % split);
  terms_[exponent + 27] += static_cast<int128>(a.significand % split) * (b.significand / split);
  terms_[exponent + 54] += static_cast<int128>(a.significand / split) * (b.significand / split);
}

void ExactSum::add_integer_square(std::uint64_t magnitude) {
  ++count_;
  const std::uint64_t high = magnitude >> 32;
  const std::uint64_t low = magnitude & 0xffffffff;
  terms_[0] += static_cast<int128>(low * low);
  terms_[33] += static_cast<int128>(high * low);
  terms_[64] += static_cast<int128>(high * high);
}

ExactSum::Scaled ExactSum::scaled() const {
  Integer total;
  if (terms_.empty()) return {total, 0};
  const int lowest = terms_.begin()->first;
  for (const auto& [exponent, value] : terms_) {
    const uint128 magnitude = value < 0 ? uint128{0} - static_cast<uint128>(value) : static_cast<uint128>(value);
    total = total + (Integer(Natural(magnitude), value < 0) << static_cast<std::size_t>(exponent - lowest));
  }
  return {total, lowest};
}

float ExactSum::to_float() const {
  if (!is_finite()) return static_cast<float>(std::isnan(special_) ? quiet_nan() : special_);
  const auto [value, exponent] = scaled();
  return round_to_float(value, exponent);
}

double ExactSum::to_double() const {
  if (!is_finite()) return std::isnan(special_) ? quiet_nan() : special_;
  const auto [value, exponent] = scaled();
  return round_to_double(value, exponent);
}

std::uint64_t ExactSum::to_integer() const {
  const auto [value, exponent] = scaled();
  const Natural& magnitude = value.magnitude;
  std::uint64_t result = 0;
  bool has_fraction = false;
  if (exponent >= 0) {
    result = (magnitude << static_cast<std::size_t>(exponent)).bits_from(0);
  } else {
    result = magnitude.bits_from(static_cast<std::size_t>(-exponent));
    has_fraction = magnitude.any_bit_below(static_cast<std::size_t>(-exponent));
  }
  if (!value.is_negative) return result;
  return ~result + (has_fraction ? 0 : 1);
}

double mean(const ExactSum& sum, std::uint64_t count) {
  if (count == 0) return 0.0;
  if (!sum.is_finite()) return sum.to_double();
  const auto [value, exponent] = sum.scaled();
  const auto [quotient, remainder] = (value.magnitude << 128).divided_by(count);
  return round_to_double(Integer(quotient, value.is_negative), exponent - 128, remainder != 0);
}

double population_deviation(const ExactSum& sum, const ExactSum& sum_of_squares, std::uint64_t count) {
  if (count == 0) return 0.0;
  if (!sum.is_finite() || !sum_of_squares.is_finite()) return quiet_nan();
  const auto [total, total_exponent] = sum.scaled();
  const auto [squares, squares_exponent] = sum_of_squares.scaled();
  // count * squares - total^2, in one unit with an even exponent
  int unit = std::min(2 * total_exponent, squares_exponent);
  if (unit % 2 != 0) --unit;
  const Integer scaled_squares = squares * Integer(Natural(count), false);
  const Integer numerator = (scaled_squares << static_cast<std::size_t>(squares_exponent - unit)) -
                            ((total * total) << static_cast<std::size_t>(2 * total_exponent - unit));
  if (numerator.is_negative) return quiet_nan();
  const std::size_t length = numerator.magnitude.bit_length();
  std::size_t dropped = length > 64 ? length - 64 : 0;
  if (dropped % 2 != 0) ++dropped;
  const auto leading = static_cast<long double>(numerator.magnitude.bits_from(dropped));
  const int exponent = (unit + static_cast<int>(dropped)) / 2;
  return static_cast<double>(std::ldexp(std::sqrt(leading) / static_cast<long double>(count), exponent));
}

}  // namespace tessera::reference
