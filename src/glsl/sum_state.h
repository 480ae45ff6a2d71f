// The exact sum state: one source for kernels and host.
//
// A sum is a two's complement integer of `sum_limb_count` 32-bit limbs, least significant first, in units of
// 2^unit_exponent, so that adding and merging never round and any order gives the same bits. Rounding happens once, in
// integers, when the state is finalised; no rounding, denormal or contraction mode of a device can reach it.
//
// GLSL needs GL_EXT_shader_explicit_arithmetic_types_int64. There the limb count is the constant below; in C++ it is a
// template parameter, which is how the host gets its wider states from the same code.
#ifndef TESSERA_GLSL_SUM_STATE_H
#define TESSERA_GLSL_SUM_STATE_H

#ifdef __cplusplus
#include <bit>
#include <cstdint>
#define SUM_FUNCTION inline
#define SUM_LIMBS_FUNCTION      \
  template <int sum_limb_count> \
  inline
#define SUM_IN_LIMBS(name) const uint(&name)[sum_limb_count]
#define SUM_INOUT_LIMBS(name) uint(&name)[sum_limb_count]
#define SUM_INOUT(type, name) type& name
#define SUM_CONSTANT(type, name, value) inline constexpr type name = value
namespace tessera::detail {
using uint = std::uint32_t;
using std::int64_t;
using std::uint64_t;
inline int sum_highest_bit(uint bits) { return static_cast<int>(std::bit_width(bits)) - 1; }
#else
#ifndef SUM_LIMB_COUNT
#define SUM_LIMB_COUNT 20
#endif
const int sum_limb_count = SUM_LIMB_COUNT;
#define SUM_FUNCTION
#define SUM_LIMBS_FUNCTION
#define SUM_IN_LIMBS(name) const uint name[sum_limb_count]
#define SUM_INOUT_LIMBS(name) inout uint name[sum_limb_count]
#define SUM_INOUT(type, name) inout type name
#define SUM_CONSTANT(type, name, value) const type name = value
int sum_highest_bit(uint bits) { return findMSB(bits); }
#endif

SUM_CONSTANT(int, sum_state_limb_count, 20);
SUM_CONSTANT(int, sum_state_unit_exponent, -298);  // the smallest product of two float32 is 2^-298
SUM_CONSTANT(int, sum_state_byte_size, 96);

SUM_CONSTANT(uint, sum_flag_nan, 1u);
SUM_CONSTANT(uint, sum_flag_positive_infinity, 2u);
SUM_CONSTANT(uint, sum_flag_negative_infinity, 4u);

// In memory (scalar layout, 96 bytes, aligned to 8). `reserved` is zero.
struct SumStateRecord {
  uint limbs[20];
  uint flags;
  uint reserved;
  uint64_t count;
};

// A magnitude cut to its leading 64 bits (the highest is set, unless the sum is zero): significand * 2^(exponent - 63),
// plus something smaller than the last bit when `sticky` is not zero.
struct SumMagnitude {
  uint64_t significand;
  int exponent;
  uint sticky;
  uint negative;
};

// limbs += other
SUM_LIMBS_FUNCTION void sum_merge_limbs(SUM_INOUT_LIMBS(limbs), SUM_IN_LIMBS(other)) {
  uint64_t carry = uint64_t(0);
  for (int i = 0; i < sum_limb_count; ++i) {
    carry += uint64_t(limbs[i]) + uint64_t(other[i]);
    limbs[i] = uint(carry);
    carry >>= 32;
  }
}

// limbs += value * 2^position, with 0 <= position < 32 * (limb count - 2). No limb is addressed by a computed index, so
// a kernel can keep the state in registers.
SUM_LIMBS_FUNCTION void sum_add_shifted(SUM_INOUT_LIMBS(limbs), int64_t value, int position) {
  int word = position >> 5;
  int bit = position & 31;
  uint64_t low = uint64_t(value) << bit;
  uint high = uint((value >> 32) >> (32 - bit));
  uint fill = value < int64_t(0) ? 0xffffffffu : 0u;
  uint64_t carry = uint64_t(0);
  for (int i = 0; i < sum_limb_count; ++i) {
    uint term = i < word ? 0u : i == word ? uint(low) : i == word + 1 ? uint(low >> 32) : i == word + 2 ? high : fill;
    carry += uint64_t(limbs[i]) + uint64_t(term);
    limbs[i] = uint(carry);
    carry >>= 32;
  }
}

// What a float32 term adds to the flags; 0 for a finite one.
SUM_FUNCTION uint sum_float32_flags(uint bits) {
  uint magnitude = bits & 0x7fffffffu;
  if (magnitude < 0x7f800000u) return 0u;
  if (magnitude > 0x7f800000u) return sum_flag_nan;
  return (bits >> 31) != 0u ? sum_flag_negative_infinity : sum_flag_positive_infinity;
}

// The integer significand of a finite float32, without its sign.
SUM_FUNCTION uint sum_float32_significand(uint bits) {
  uint fraction = bits & 0x007fffffu;
  return (bits & 0x7f800000u) == 0u ? fraction : (fraction | 0x00800000u);
}

// The float32's value is significand * 2^(scale - 150); denormals share the scale of the smallest normal numbers.
SUM_FUNCTION int sum_float32_scale(uint bits) {
  int exponent = int((bits >> 23) & 0xffu);
  return exponent == 0 ? 1 : exponent;
}

// state += the float32 with these bits, in units of 2^unit_exponent (at most 2^-149)
SUM_LIMBS_FUNCTION void sum_add_float32(SUM_INOUT_LIMBS(limbs), SUM_INOUT(uint, flags), uint bits, int unit_exponent) {
  uint special = sum_float32_flags(bits);
  flags |= special;
  if (special != 0u) return;
  int64_t term = int64_t(sum_float32_significand(bits));
  if ((bits >> 31) != 0u) term = -term;
  sum_add_shifted(limbs, term, sum_float32_scale(bits) - 150 - unit_exponent);
}

// What the product of two float32 adds to the flags; an infinity times zero is not a number.
SUM_FUNCTION uint sum_product_flags(uint left, uint right) {
  uint special = sum_float32_flags(left) | sum_float32_flags(right);
  if (special == 0u) return 0u;
  bool zero = (left << 1) == 0u || (right << 1) == 0u;
  if ((special & sum_flag_nan) != 0u || zero) return sum_flag_nan;
  return ((left ^ right) >> 31) != 0u ? sum_flag_negative_infinity : sum_flag_positive_infinity;
}

// state += the exact product of two float32, in units of 2^unit_exponent (at most 2^-298)
SUM_LIMBS_FUNCTION void sum_add_product(SUM_INOUT_LIMBS(limbs), SUM_INOUT(uint, flags), uint left, uint right,
                                        int unit_exponent) {
  uint special = sum_product_flags(left, right);
  flags |= special;
  if (special != 0u) return;
  int64_t term = int64_t(sum_float32_significand(left)) * int64_t(sum_float32_significand(right));
  if (((left ^ right) >> 31) != 0u) term = -term;
  sum_add_shifted(limbs, term, sum_float32_scale(left) + sum_float32_scale(right) - 300 - unit_exponent);
}

// state += an unsigned 64-bit integer, in units of 2^unit_exponent (at most 1)
SUM_LIMBS_FUNCTION void sum_add_uint64(SUM_INOUT_LIMBS(limbs), uint64_t value, int unit_exponent) {
  sum_add_shifted(limbs, int64_t(value & uint64_t(0xffffffffu)), -unit_exponent);
  sum_add_shifted(limbs, int64_t(value >> 32), 32 - unit_exponent);
}

// The leading bits of |limbs * 2^unit_exponent|.
SUM_LIMBS_FUNCTION SumMagnitude sum_magnitude(SUM_IN_LIMBS(limbs), int unit_exponent) {
  SumMagnitude result;
  result.negative = limbs[sum_limb_count - 1] >> 31;
  result.sticky = 0u;
  uint invert = result.negative != 0u ? 0xffffffffu : 0u;
  uint carry = result.negative;
  uint head = 0u;  // the highest limb that is not zero, and the two below it
  uint middle = 0u;
  uint tail = 0u;
  uint previous = 0u;  // the last two limbs seen, and all bits below them
  uint before = 0u;
  uint below = 0u;
  int top = 0;
  for (int i = 0; i < sum_limb_count; ++i) {
    uint limb = (limbs[i] ^ invert) + carry;
    carry = limb == 0u ? carry : 0u;
    if (limb != 0u) {
      head = limb;
      middle = previous;
      tail = before;
      result.sticky = below;
      top = i;
    }
    below |= before;
    before = previous;
    previous = limb;
  }
  int high = head == 0u ? 0 : sum_highest_bit(head);
  int shift = 31 - high;
  uint64_t leading = ((uint64_t(head) << 32) | uint64_t(middle)) << shift;
  uint64_t rest = uint64_t(tail) << shift;
  result.significand = head == 0u ? uint64_t(0) : (leading | (rest >> 32));
  result.sticky |= uint(rest);
  result.exponent = 32 * top + high + unit_exponent;
  return result;
}

// The magnitude as a binary floating-point number, rounded to nearest, ties to even, with gradual underflow and
// overflow to infinity. Without the sign.
SUM_FUNCTION uint64_t sum_round(SumMagnitude value, int fraction_bits, int exponent_bits) {
  int maximum_exponent = (1 << (exponent_bits - 1)) - 1;
  int minimum_exponent = 1 - maximum_exponent;
  if (value.significand == uint64_t(0)) return uint64_t(0);
  if (value.exponent > maximum_exponent) return uint64_t(2 * maximum_exponent + 1) << fraction_bits;
  bool is_normal = value.exponent >= minimum_exponent;
  int kept_bits = fraction_bits + 1 + (is_normal ? 0 : value.exponent - minimum_exponent);
  if (kept_bits < 0) return uint64_t(0);
  int dropped_bits = 64 - kept_bits;
  uint64_t kept = dropped_bits == 64 ? uint64_t(0) : value.significand >> dropped_bits;
  uint64_t half_bit = (value.significand >> (dropped_bits - 1)) & uint64_t(1);
  bool above_half = (value.significand << (65 - dropped_bits)) != uint64_t(0) || value.sticky != 0u;
  if (half_bit != uint64_t(0) && (above_half || (kept & uint64_t(1)) != uint64_t(0))) kept += uint64_t(1);
  // The leading one of `kept` adds itself to the exponent field, and so does a carry out of the fraction.
  uint64_t exponent_field = is_normal ? uint64_t(value.exponent - minimum_exponent) : uint64_t(0);
  return (exponent_field << fraction_bits) + kept;
}

// Bits of the finalised number. NaN or both infinities give the quiet NaN, one infinity itself; an exact zero is +0.
SUM_FUNCTION uint64_t sum_encode(SumMagnitude value, uint flags, int fraction_bits, int exponent_bits) {
  uint64_t infinity = ((uint64_t(1) << exponent_bits) - uint64_t(1)) << fraction_bits;
  uint64_t sign = uint64_t(1) << (fraction_bits + exponent_bits);
  uint both = sum_flag_positive_infinity | sum_flag_negative_infinity;
  if ((flags & sum_flag_nan) != 0u || (flags & both) == both) return infinity | (uint64_t(1) << (fraction_bits - 1));
  if ((flags & sum_flag_positive_infinity) != 0u) return infinity;
  if ((flags & sum_flag_negative_infinity) != 0u) return sign | infinity;
  uint64_t magnitude = sum_round(value, fraction_bits, exponent_bits);
  return value.negative != 0u ? (sign | magnitude) : magnitude;
}

// The sum as float32 bits.
SUM_LIMBS_FUNCTION uint sum_to_float32(SUM_IN_LIMBS(limbs), uint flags, int unit_exponent) {
  return uint(sum_encode(sum_magnitude(limbs, unit_exponent), flags, 23, 8));
}

// The sum as float64 bits.
SUM_LIMBS_FUNCTION uint64_t sum_to_float64(SUM_IN_LIMBS(limbs), uint flags, int unit_exponent) {
  return sum_encode(sum_magnitude(limbs, unit_exponent), flags, 52, 11);
}

// The integer part (rounded towards minus infinity) modulo 2^64; its low half is the sum modulo 2^32. Reads as signed
// or unsigned. `unit_exponent` is at most 0.
SUM_LIMBS_FUNCTION uint64_t sum_to_integer(SUM_IN_LIMBS(limbs), int unit_exponent) {
  int word = (-unit_exponent) >> 5;
  int bit = (-unit_exponent) & 31;
  uint64_t low = uint64_t(limbs[word]) | (uint64_t(limbs[word + 1]) << 32);
  uint64_t high = uint64_t(limbs[word + 2]);
  return (low >> bit) | ((high << 32) << (32 - bit));
}

// The layout of `SumStateRecord`, with its own unit.
SUM_FUNCTION void sum_state_clear(SUM_INOUT(SumStateRecord, state)) {
  for (int i = 0; i < sum_state_limb_count; ++i) state.limbs[i] = 0u;
  state.flags = 0u;
  state.reserved = 0u;
  state.count = uint64_t(0);
}

#if defined(__cplusplus) || SUM_LIMB_COUNT == 20
// The whole state: limbs, flags and count.
SUM_FUNCTION void sum_state_merge(SUM_INOUT(SumStateRecord, state), SumStateRecord other) {
  sum_merge_limbs(state.limbs, other.limbs);
  state.flags |= other.flags;
  state.count += other.count;
}

SUM_FUNCTION uint sum_state_to_float32(SumStateRecord state) {
  return sum_to_float32(state.limbs, state.flags, sum_state_unit_exponent);
}

SUM_FUNCTION uint64_t sum_state_to_float64(SumStateRecord state) {
  return sum_to_float64(state.limbs, state.flags, sum_state_unit_exponent);
}

SUM_FUNCTION uint64_t sum_state_to_integer(SumStateRecord state) {
  return sum_to_integer(state.limbs, sum_state_unit_exponent);
}
#endif

#ifdef __cplusplus
static_assert(sizeof(SumStateRecord) == sum_state_byte_size && alignof(SumStateRecord) == 8);
}  // namespace tessera::detail
#endif

#undef SUM_FUNCTION
#undef SUM_LIMBS_FUNCTION
#undef SUM_IN_LIMBS
#undef SUM_INOUT_LIMBS
#undef SUM_INOUT
#undef SUM_CONSTANT

#endif
