#include <tessera/operand/sum_state.hpp>

#include <bit>
#include <cstring>
#include <limits>
#include <string>

#include <tessera/error.hpp>

#include "glsl/sum_state.h"
#include "operand/fixed_integer.hpp"

namespace tessera {
namespace detail {

static_assert(std::endian::native == std::endian::little, "the device's layout is little-endian");

template <int limb_count, int unit_exponent>
float BasicSumState<limb_count, unit_exponent>::to_float() const noexcept {
  return std::bit_cast<float>(sum_to_float32(limbs_, flags_, unit_exponent));
}

template <int limb_count, int unit_exponent>
double BasicSumState<limb_count, unit_exponent>::to_double() const noexcept {
  return std::bit_cast<double>(sum_to_float64(limbs_, flags_, unit_exponent));
}

template <int limb_count, int unit_exponent>
std::uint64_t BasicSumState<limb_count, unit_exponent>::to_integer() const noexcept {
  return sum_to_integer(limbs_, unit_exponent);
}

template <int limb_count, int unit_exponent>
auto BasicSumState<limb_count, unit_exponent>::bytes() const noexcept -> Bytes {
  static_assert(sizeof(*this) == byte_size);
  return std::bit_cast<Bytes>(*this);
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::read_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() != byte_size) {
    throw Error(ErrorCode::length_mismatch,
                {.operation = "sum_state",
                 .operand = "bytes",
                 .rule = "a state has one fixed size in bytes",
                 .values = std::to_string(bytes.size()) + " instead of " + std::to_string(byte_size)});
  }
  BasicSumState state;
  std::memcpy(&state, bytes.data(), byte_size);
  constexpr std::uint32_t known = sum_flag_nan | sum_flag_positive_infinity | sum_flag_negative_infinity;
  if ((state.flags_ & ~known) != 0) {
    throw Error(ErrorCode::invalid_argument, {.operation = "sum_state",
                                              .operand = "bytes",
                                              .rule = "flags are 1, 2 and 4",
                                              .values = std::to_string(state.flags_)});
  }
  state.reserved_ = 0;
  *this = state;
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::merge_state(const BasicSumState& other) noexcept {
  sum_merge_limbs(limbs_, other.limbs_);
  flags_ |= other.flags_;
  count_ += other.count_;
}

namespace {

constexpr std::uint64_t infinity_bits = 0x7ff0000000000000;
constexpr std::uint64_t magnitude_bits = 0x7fffffffffffffff;

std::uint32_t double_flags(std::uint64_t bits) {
  if ((bits & magnitude_bits) < infinity_bits) return 0;
  if ((bits & magnitude_bits) > infinity_bits) return sum_flag_nan;
  return (bits >> 63) != 0 ? sum_flag_negative_infinity : sum_flag_positive_infinity;
}

// A finite double's magnitude is significand * 2^(scale - 1075).
struct DoubleParts {
  std::int64_t significand;
  int scale;
};

DoubleParts double_parts(std::uint64_t bits) {
  const auto fraction = static_cast<std::int64_t>(bits & 0x000fffffffffffff);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff);
  if (exponent == 0) return {fraction, 1};
  return {fraction | (std::int64_t{1} << 52), exponent};
}

}  // namespace

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::add_double(double value) noexcept {
  ++count_;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  flags_ |= double_flags(bits);
  if (double_flags(bits) != 0) return;
  const auto [significand, scale] = double_parts(bits);
  if (significand == 0) return;  // zero has no position in units above 2^-1074
  sum_add_shifted(limbs_, (bits >> 63) != 0 ? -significand : significand, scale - 1075 - unit_exponent);
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::add_product_of(float left, float right) noexcept {
  ++count_;
  sum_add_product(limbs_, flags_, std::bit_cast<std::uint32_t>(left), std::bit_cast<std::uint32_t>(right),
                  unit_exponent);
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::add_square_of(double value) noexcept {
  ++count_;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (double_flags(bits) != 0) {
    flags_ |= double_flags(bits & magnitude_bits);
    return;
  }
  const auto [significand, scale] = double_parts(bits);
  const std::int64_t high = significand >> 27;
  const std::int64_t low = significand & ((std::int64_t{1} << 27) - 1);
  const int position = 2 * (scale - 1075) - unit_exponent;
  sum_add_shifted(limbs_, low * low, position);
  sum_add_shifted(limbs_, 2 * high * low, position + 27);
  sum_add_shifted(limbs_, high * high, position + 54);
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::add_signed(std::int64_t value) noexcept {
  ++count_;
  sum_add_shifted(limbs_, value, -unit_exponent);
}

template <int limb_count, int unit_exponent>
void BasicSumState<limb_count, unit_exponent>::add_unsigned(std::uint64_t value) noexcept {
  ++count_;
  sum_add_uint64(limbs_, value, unit_exponent);
}

template class BasicSumState<20, -298>;
template class BasicSumState<68, -1074>;
template class BasicSumState<134, -2148>;

namespace {

double encode_double(SumMagnitude magnitude) { return std::bit_cast<double>(sum_encode(magnitude, 0, 52, 11)); }

template <int limb_count, int unit_exponent>
double mean_of(const BasicSumState<limb_count, unit_exponent>& sum, std::uint64_t count) {
  if (count == 0) return 0.0;
  if (!sum.is_finite()) return sum.to_double();
  // 128 more bits below the unit leave at least 64 in the quotient; one limb more above keeps the sign bit clear.
  constexpr int quotient_limb_count = limb_count + 5;
  const auto wide = FixedInteger<quotient_limb_count>::from_limbs(sum.limbs());
  auto quotient = wide.magnitude() << 128;
  const std::uint64_t remainder = quotient.divide(count);
  SumMagnitude magnitude = sum_magnitude(quotient.limbs, unit_exponent - 128);
  magnitude.sticky |= remainder != 0 ? 1u : 0u;
  magnitude.negative = wide.is_negative() ? 1u : 0u;
  return encode_double(magnitude);
}

// sqrt(numerator * 2^unit_exponent) / count for an even unit exponent, correctly rounded.
template <int limb_count>
double root_over_count(const FixedInteger<limb_count>& numerator, int unit_exponent, std::uint64_t count) {
  const int numerator_length = numerator.bit_length();
  if (numerator_length == 0) return 0.0;
  // 256 more bits leave at least 128 in the quotient by count^2, and so 64 in its root.
  auto quotient = FixedInteger<limb_count + 8>::from_limbs(numerator.limbs) << 256;
  bool is_inexact = quotient.divide(count) != 0;
  is_inexact = quotient.divide(count) != 0 || is_inexact;
  const int dropped_bits = (quotient.bit_length() - 127) & ~1;
  const uint128 leading = quotient.bits_from(dropped_bits);
  const std::uint64_t root = integer_square_root(leading);
  is_inexact = is_inexact || uint128{root} * root != leading || quotient.any_bit_below(dropped_bits);
  return encode_double({.significand = root,
                        .exponent = 63 + (dropped_bits + unit_exponent - 256) / 2,
                        .sticky = is_inexact ? 1u : 0u,
                        .negative = 0});
}

template <int sum_limbs, int sum_unit, int square_limbs, int square_unit>
double deviation_of(const BasicSumState<sum_limbs, sum_unit>& sum,
                    const BasicSumState<square_limbs, square_unit>& sum_of_squares, std::uint64_t count) {
  if (count == 0) return 0.0;
  if (!sum.is_finite() || !sum_of_squares.is_finite()) return std::numeric_limits<double>::quiet_NaN();
  constexpr int shift = square_unit - 2 * sum_unit;
  static_assert(shift >= 0);
  constexpr int limb_count = std::max(2 * sum_limbs, square_limbs + 2 + (shift + 31) / 32) + 1;
  using Integer = FixedInteger<limb_count>;
  const FixedInteger<2> factor{{static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(count >> 32)}};
  const Integer total = Integer::from_limbs(sum.limbs()).magnitude();
  const Integer squares = Integer::from_limbs(sum_of_squares.limbs());
  const Integer numerator = (squares.multiplied(factor) << shift) - total.multiplied(total);
  if (squares.is_negative() || numerator.is_negative()) {
    throw Error(ErrorCode::invalid_argument,
                {.operation = "population_deviation",
                 .operand = "sum_of_squares",
                 .rule = "sum, sum of squares and count belong to the same values",
                 .values = "count " + std::to_string(count) + ", sum " + std::to_string(sum.to_double()) +
                           ", sum of squares " + std::to_string(sum_of_squares.to_double())});
  }
  return root_over_count(numerator, 2 * sum_unit, count);
}

}  // namespace
}  // namespace detail

SumState SumState::from_bytes(std::span<const std::byte> bytes) {
  SumState state;
  state.read_bytes(bytes);
  return state;
}

WideSumState WideSumState::from_bytes(std::span<const std::byte> bytes) {
  WideSumState state;
  state.read_bytes(bytes);
  return state;
}

WideSquareSumState WideSquareSumState::from_bytes(std::span<const std::byte> bytes) {
  WideSquareSumState state;
  state.read_bytes(bytes);
  return state;
}

double mean(const SumState& sum, std::uint64_t count) noexcept { return detail::mean_of(sum, count); }
double mean(const WideSumState& sum, std::uint64_t count) noexcept { return detail::mean_of(sum, count); }

double population_deviation(const SumState& sum, const SumState& sum_of_squares, std::uint64_t count) {
  return detail::deviation_of(sum, sum_of_squares, count);
}

double population_deviation(const WideSumState& sum, const WideSquareSumState& sum_of_squares, std::uint64_t count) {
  return detail::deviation_of(sum, sum_of_squares, count);
}

}  // namespace tessera
