#include "reference/natural.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace tessera::reference {

Natural::Natural(uint128 value) {
  for (; value != 0; value >>= 32) digits_.push_back(static_cast<std::uint32_t>(value));
}

void Natural::trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

std::size_t Natural::bit_length() const {
  if (is_zero()) return 0;
  return 32 * (digits_.size() - 1) + static_cast<std::size_t>(std::bit_width(digits_.back()));
}

bool Natural::bit(std::size_t position) const {
  return position / 32 < digits_.size() && ((digits_[position / 32] >> (position % 32)) & 1) != 0;
}

bool Natural::any_bit_below(std::size_t position) const {
  for (std::size_t i = 0; i < std::min(position, bit_length()); ++i) {
    if (bit(i)) return true;
  }
  return false;
}

std::uint64_t Natural::bits_from(std::size_t position) const {
  std::uint64_t result = 0;
  for (std::size_t i = 64; i-- > 0;) result = (result << 1) | (bit(position + i) ? 1 : 0);
  return result;
}

Natural Natural::operator+(const Natural& other) const {
  Natural result;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(digits_.size(), other.digits_.size()) || carry != 0; ++i) {
    if (i < digits_.size()) carry += digits_[i];
    if (i < other.digits_.size()) carry += other.digits_[i];
    result.digits_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  return result;
}

Natural Natural::operator-(const Natural& other) const {
  Natural result;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    std::int64_t digit = std::int64_t{digits_[i]} - borrow;
    if (i < other.digits_.size()) digit -= other.digits_[i];
    borrow = digit < 0 ? 1 : 0;
    result.digits_.push_back(static_cast<std::uint32_t>(digit + (borrow << 32)));
  }
  result.trim();
  return result;
}

Natural Natural::operator*(const Natural& other) const {
  Natural result;
  result.digits_.resize(digits_.size() + other.digits_.size());
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.digits_.size() || carry != 0; ++j) {
      carry += result.digits_[i + j];
      if (j < other.digits_.size()) carry += std::uint64_t{digits_[i]} * other.digits_[j];
      result.digits_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }
  result.trim();
  return result;
}

Natural Natural::operator<<(std::size_t bits) const {
  Natural result = *this * Natural(uint128{1} << (bits % 32));
  if (!result.is_zero()) result.digits_.insert(result.digits_.begin(), bits / 32, 0);
  return result;
}

Natural::Division Natural::divided_by(std::uint64_t divisor) const {
  Natural quotient;
  quotient.digits_.resize(digits_.size());
  uint128 remainder = 0;
  for (std::size_t i = bit_length(); i-- > 0;) {
    remainder = (remainder << 1) | (bit(i) ? 1 : 0);
    if (remainder < divisor) continue;
    remainder -= divisor;
    quotient.digits_[i / 32] |= std::uint32_t{1} << (i % 32);
  }
  quotient.trim();
  return {std::move(quotient), static_cast<std::uint64_t>(remainder)};
}

std::strong_ordering Natural::operator<=>(const Natural& other) const {
  if (digits_.size() != other.digits_.size()) return digits_.size() <=> other.digits_.size();
  for (std::size_t i = digits_.size(); i-- > 0;) {
    if (digits_[i] != other.digits_[i]) return digits_[i] <=> other.digits_[i];
  }
  return std::strong_ordering::equal;
}

Integer::Integer(Natural value, bool negative) : magnitude(std::move(value)), is_negative(negative) {
  if (magnitude.is_zero()) is_negative = false;
}

Integer::Integer(std::int64_t value)
    : Integer(Natural(value < 0 ? uint128{0} - static_cast<uint128>(value) : static_cast<uint128>(value)), value < 0) {}

Integer Integer::operator+(const Integer& other) const {
  if (is_negative == other.is_negative) return {magnitude + other.magnitude, is_negative};
  if (magnitude >= other.magnitude) return {magnitude - other.magnitude, is_negative};
  return {other.magnitude - magnitude, other.is_negative};
}

Integer Integer::operator-(const Integer& other) const { return *this + Integer(other.magnitude, !other.is_negative); }

Integer Integer::operator*(const Integer& other) const {
  return {magnitude * other.magnitude, is_negative != other.is_negative};
}

Integer Integer::operator<<(std::size_t bits) const { return {magnitude << bits, is_negative}; }

std::strong_ordering Integer::operator<=>(const Integer& other) const {
  if (is_negative != other.is_negative) return is_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  return is_negative ? other.magnitude <=> magnitude : magnitude <=> other.magnitude;
}

double round_scaled(const Natural& magnitude, int exponent, bool has_more, int precision, int smallest_exponent,
                    double largest) {
  if (magnitude.is_zero()) return 0.0;
  // The last bit that is kept: by precision, or by the smallest exponent where numbers are denormal.
  const int length = static_cast<int>(magnitude.bit_length());
  const int last = std::max(length - precision, smallest_exponent - exponent);
  if (last <= 0) return std::ldexp(static_cast<double>(magnitude.bits_from(0)), exponent);
  const auto position = static_cast<std::size_t>(last);
  std::uint64_t kept = last >= length ? 0 : magnitude.bits_from(position);
  const bool half = magnitude.bit(position - 1);
  const bool more = has_more || magnitude.any_bit_below(position - 1);
  if (half && (more || kept % 2 == 1)) ++kept;
  if (exponent + length > 1025) return std::numeric_limits<double>::infinity();
  const double result = std::ldexp(static_cast<double>(kept), exponent + last);
  return result > largest ? std::numeric_limits<double>::infinity() : result;
}

float round_to_float(const Integer& value, int exponent, bool has_more) {
  const double result = round_scaled(value.magnitude, exponent, has_more, 24, -149, std::numeric_limits<float>::max());
  return static_cast<float>(value.is_negative ? -result : result);
}

double round_to_double(const Integer& value, int exponent, bool has_more) {
  const double result =
      round_scaled(value.magnitude, exponent, has_more, 53, -1074, std::numeric_limits<double>::max());
  return value.is_negative ? -result : result;
}

}  // namespace tessera::reference
