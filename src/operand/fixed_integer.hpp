#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace tessera::detail {

__extension__ using uint128 = unsigned __int128;

/// An integer of `limb_count` 32-bit limbs, least significant first; two's complement where a sign matters. Arithmetic
/// is modulo 2^(32 * limb_count): callers choose a width that holds their result.
template <int limb_count>
struct FixedInteger {
  std::uint32_t limbs[limb_count] = {};

  /// Sign-extends, or cuts to this width.
  static FixedInteger from_limbs(std::span<const std::uint32_t> source) {
    FixedInteger result;
    const std::uint32_t fill = (source.back() >> 31) != 0 ? ~std::uint32_t{0} : 0;
    for (int i = 0; i < limb_count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      result.limbs[i] = k < source.size() ? source[k] : fill;
    }
    return result;
  }

  bool is_negative() const { return (limbs[limb_count - 1] >> 31) != 0; }

  FixedInteger negated() const {
    FixedInteger result;
    std::uint64_t carry = 1;
    for (int i = 0; i < limb_count; ++i) {
      carry += std::uint32_t{~limbs[i]};
      result.limbs[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return result;
  }

  FixedInteger magnitude() const { return is_negative() ? negated() : *this; }

  FixedInteger operator-(const FixedInteger& other) const {
    FixedInteger result;
    std::uint64_t carry = 1;
    for (int i = 0; i < limb_count; ++i) {
      carry += std::uint64_t{limbs[i]} + std::uint32_t{~other.limbs[i]};
      result.limbs[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return result;
  }

  FixedInteger operator<<(int bits) const {
    FixedInteger result;
    const int words = bits / 32;
    for (int i = words; i < limb_count; ++i) {
      std::uint64_t pair = std::uint64_t{limbs[i - words]} << 32;
      if (i > words) pair |= limbs[i - words - 1];
      result.limbs[i] = static_cast<std::uint32_t>((pair << (bits % 32)) >> 32);
    }
    return result;
  }

  /// The unsigned product of this and another, as wide as this one.
  template <int other_count>
  FixedInteger multiplied(const FixedInteger<other_count>& other) const {
    FixedInteger result;
    for (int i = 0; i < limb_count; ++i) {
      std::uint64_t carry = 0;
      for (int j = 0; j < other_count && i + j < limb_count; ++j) {
        carry += std::uint64_t{limbs[i]} * other.limbs[j] + result.limbs[i + j];
        result.limbs[i + j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
      }
      if (i + other_count < limb_count) result.limbs[i + other_count] = static_cast<std::uint32_t>(carry);
    }
    return result;
  }

  /// Divides this unsigned number in place; returns the remainder.
  std::uint64_t divide(std::uint64_t divisor) {
    std::uint64_t remainder = 0;
    for (int i = limb_count - 1; i >= 0; --i) {
      const uint128 dividend = (uint128{remainder} << 32) | limbs[i];
      limbs[i] = static_cast<std::uint32_t>(dividend / divisor);
      remainder = static_cast<std::uint64_t>(dividend % divisor);
    }
    return remainder;
  }

  /// Bits of this unsigned number without leading zeros; 0 for zero.
  int bit_length() const {
    for (int i = limb_count - 1; i >= 0; --i) {
      if (limbs[i] != 0) return 32 * i + std::bit_width(limbs[i]);
    }
    return 0;
  }

  /// Whether any bit below `position` is set.
  bool any_bit_below(int position) const {
    for (int i = 0; i < position; ++i) {
      if (((limbs[i / 32] >> (i % 32)) & 1) != 0) return true;
    }
    return false;
  }

  /// The 128 bits from `position` up.
  uint128 bits_from(int position) const {
    uint128 result = 0;
    for (int i = 127; i >= 0; --i) {
      const int bit = position + i;
      const std::uint32_t limb = bit < 32 * limb_count ? limbs[bit / 32] : 0;
      result = (result << 1) | ((limb >> (bit % 32)) & 1);
    }
    return result;
  }
};

/// The largest integer whose square is at most `value`.
inline std::uint64_t integer_square_root(uint128 value) {
  std::uint64_t root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const std::uint64_t candidate = root | (std::uint64_t{1} << bit);
    if (uint128{candidate} * candidate <= value) root = candidate;
  }
  return root;
}

}  // namespace tessera::detail
