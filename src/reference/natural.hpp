#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::reference {

__extension__ using uint128 = unsigned __int128;
__extension__ using int128 = __int128;

/// A natural number of any size, by schoolbook arithmetic. Thread-safe to read.
class Natural {
 public:
  Natural() = default;
  explicit Natural(uint128 value);

  bool is_zero() const { return digits_.empty(); }
  /// Bits without leading zeros; 0 for zero.
  std::size_t bit_length() const;
  bool bit(std::size_t position) const;
  /// Whether any bit below `position` is set.
  bool any_bit_below(std::size_t position) const;
  /// The low 64 bits of this shifted right by `position`.
  std::uint64_t bits_from(std::size_t position) const;

  Natural operator+(const Natural& other) const;
  /// The difference; `other` is not larger.
  Natural operator-(const Natural& other) const;
  Natural operator*(const Natural& other) const;
  Natural operator<<(std::size_t bits) const;

  struct Division;
  /// Quotient and remainder, one bit at a time; `divisor` is not 0.
  Division divided_by(std::uint64_t divisor) const;

  std::strong_ordering operator<=>(const Natural& other) const;
  bool operator==(const Natural& other) const = default;

 private:
  void trim();
  std::vector<std::uint32_t> digits_;  // base 2^32, least significant first, no leading zeros
};

struct Natural::Division {
  Natural quotient;
  std::uint64_t remainder;
};

/// A whole number with a sign. Zero is never negative.
struct Integer {
  Natural magnitude;
  bool is_negative = false;

  Integer() = default;
  Integer(Natural value, bool negative);
  explicit Integer(std::int64_t value);
  Integer operator+(const Integer& other) const;
  Integer operator-(const Integer& other) const;
  Integer operator*(const Integer& other) const;
  Integer operator<<(std::size_t bits) const;
  std::strong_ordering operator<=>(const Integer& other) const;
  bool operator==(const Integer& other) const = default;
};

/// Rounds magnitude * 2^exponent (plus something smaller than its last bit when `has_more`) to the nearest number of
/// `precision` bits that is a multiple of 2^smallest_exponent, ties to even; as a double, which holds it exactly.
/// Overflow beyond `largest` gives infinity.
double round_scaled(const Natural& magnitude, int exponent, bool has_more, int precision, int smallest_exponent,
                    double largest);

/// To the nearest float32 and the nearest float64.
float round_to_float(const Integer& value, int exponent, bool has_more = false);
double round_to_double(const Integer& value, int exponent, bool has_more = false);

}  // namespace tessera::reference
