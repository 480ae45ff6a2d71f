// Correctly rounded edges of equal-width float32 histogram bins, in integers: one source for kernels and host, so that
// a value's bin is the same wherever the domain is known.
//
// GLSL needs GL_EXT_shader_explicit_arithmetic_types_int64.
#ifndef TESSERA_GLSL_HISTOGRAM_EDGES_H
#define TESSERA_GLSL_HISTOGRAM_EDGES_H

#include "sum_state.h"

#ifdef __cplusplus
#define EDGE_FUNCTION inline
#define EDGE_INOUT(type, name) type& name
namespace tessera::detail {
#else
#define EDGE_FUNCTION
#define EDGE_INOUT(type, name) inout type name
#endif

// A natural number below 2^128.
struct WideNatural {
  uint64_t high;
  uint64_t low;
};

EDGE_FUNCTION WideNatural shift_left(WideNatural value, int bits) {
  if (bits >= 64) {
    value.high = value.low << (bits - 64);
    value.low = uint64_t(0);
  } else if (bits > 0) {
    value.high = (value.high << bits) | (value.low >> (64 - bits));
    value.low <<= bits;
  }
  return value;
}

// Bits that are zero above the highest one of a number that is not zero.
EDGE_FUNCTION int leading_zeros(WideNatural value) {
  uint64_t half_value = value.high != uint64_t(0) ? value.high : value.low;
  uint word = uint(half_value >> 32);
  int zeros = word != 0u ? 31 - sum_highest_bit(word) : 63 - sum_highest_bit(uint(half_value));
  return value.high != uint64_t(0) ? zeros : zeros + 64;
}

// Divides by a number that is not zero, word by word, and returns the remainder.
EDGE_FUNCTION uint divide(EDGE_INOUT(WideNatural, value), uint divisor) {
  uint64_t remainder = uint64_t(0);
  for (int i = 0; i < 4; ++i) {
    uint64_t dividend = (remainder << 32) | (value.high >> 32);
    uint64_t quotient = dividend / uint64_t(divisor);
    remainder = dividend - quotient * uint64_t(divisor);
    value.high = (value.high << 32) | (value.low >> 32);
    value.low = (value.low << 32) | quotient;
  }
  return uint(remainder);
}

// larger * 2^64 plus or minus smaller * 2^(64 - distance), as a magnitude in units of 2^-64. Whether it is negative
// counts from the sign of `larger`; what lies below the last bit is `sticky`. Both are below 2^60, and where `distance`
// is above 1, `larger` is at least 2^23.
EDGE_FUNCTION WideNatural add_apart(uint64_t larger, uint64_t smaller, int distance, bool opposite,
                                    EDGE_INOUT(uint, sticky), EDGE_INOUT(uint, negative)) {
  WideNatural sum;
  WideNatural term;
  sum.high = larger;
  sum.low = uint64_t(0);
  term.high = distance < 64 ? smaller >> distance : uint64_t(0);
  term.low = uint64_t(0);
  if (distance > 0 && distance <= 64)
    term.low = distance == 64 ? smaller : smaller << (64 - distance);
  else if (distance > 64 && distance < 128)
    term.low = smaller >> (distance - 64);
  bool is_cut = distance > 64 && smaller != (distance < 128 ? term.low << (distance - 64) : uint64_t(0));
  if (is_cut) sticky = 1u;
  if (!opposite) {
    sum.low += term.low;
    sum.high += term.high + (sum.low < term.low ? uint64_t(1) : uint64_t(0));
    return sum;
  }
  // What is cut from the term makes the difference smaller still.
  if (is_cut) term.low += uint64_t(1);
  bool below = sum.high < term.high || (sum.high == term.high && sum.low < term.low);
  WideNatural first = sum;
  WideNatural second = term;
  if (below) {
    negative ^= 1u;
    first = term;
    second = sum;
  }
  sum.high = first.high - second.high - (first.low < second.low ? uint64_t(1) : uint64_t(0));
  sum.low = first.low - second.low;
  return sum;
}

// Bits of the float32 nearest to low + index * (high - low) / bin_count, ties to even, with 0 <= index <= bin_count <=
// 2^30 and finite bounds. Exact until that one rounding: (low * (bin_count - index) + high * index) / bin_count.
EDGE_FUNCTION uint uniform_edge_bits(uint low, uint high, uint index, uint bin_count) {
  if (index == 0u) return low;
  if (index == bin_count) return high;
  uint64_t low_term = uint64_t(sum_float32_significand(low)) * uint64_t(bin_count - index);
  uint64_t high_term = uint64_t(sum_float32_significand(high)) * uint64_t(index);
  int low_scale = sum_float32_scale(low);
  int high_scale = sum_float32_scale(high);
  bool low_first = low_scale >= high_scale;
  int scale = low_first ? low_scale : high_scale;
  SumMagnitude edge;
  edge.sticky = 0u;
  edge.negative = (low_first ? low : high) >> 31;
  WideNatural sum = add_apart(low_first ? low_term : high_term, low_first ? high_term : low_term,
                              low_first ? low_scale - high_scale : high_scale - low_scale,
                              ((low ^ high) >> 31) != 0u, edge.sticky, edge.negative);
  if ((sum.high | sum.low) == uint64_t(0)) return 0u;
  // The dividend's highest bit is its topmost, so that the quotient has bits enough for any rounding.
  int shift = leading_zeros(sum);
  sum = shift_left(sum, shift);
  edge.sticky |= divide(sum, bin_count);
  int zeros = leading_zeros(sum);
  sum = shift_left(sum, zeros);
  edge.significand = sum.high;
  if (sum.low != uint64_t(0)) edge.sticky = 1u;
  edge.exponent = scale - 150 - 64 - shift + 127 - zeros;
  return uint(sum_encode(edge, 0u, 23, 8));
}

#ifdef __cplusplus
}  // namespace tessera::detail
#endif

#undef EDGE_FUNCTION
#undef EDGE_INOUT

#endif
