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

// Divides |state| by `divisor` (not zero) and returns what is left over: 0 if it came out even. Three limbs of the
// quotient are enough for any rounding; the limbs below become zero and count as left over.
EDGE_FUNCTION uint divide_magnitude(EDGE_INOUT(SumStateRecord, state), uint divisor) {
  uint invert = (state.limbs[sum_state_limb_count - 1] >> 31) != 0u ? 0xffffffffu : 0u;
  uint carry = invert & 1u;
  for (int i = 0; i < sum_state_limb_count; ++i) {
    uint limb = (state.limbs[i] ^ invert) + carry;
    carry = limb == 0u ? carry : 0u;
    state.limbs[i] = limb;
  }
  uint64_t remainder = uint64_t(0);
  uint left_over = 0u;
  int limbs_done = 0;
  for (int i = sum_state_limb_count - 1; i >= 0; --i) {
    if (limbs_done == 3) {
      left_over |= state.limbs[i];
      state.limbs[i] = 0u;
    } else if (remainder != uint64_t(0) || state.limbs[i] != 0u) {
      uint64_t dividend = (remainder << 32) | uint64_t(state.limbs[i]);
      uint64_t quotient = dividend / uint64_t(divisor);
      remainder = dividend - quotient * uint64_t(divisor);
      state.limbs[i] = uint(quotient);
      if (limbs_done > 0 || quotient != uint64_t(0)) ++limbs_done;
    } else if (limbs_done > 0) {
      ++limbs_done;
    }
  }
  return left_over | uint(remainder);
}

// Bits of the float32 nearest to low + index * (high - low) / bin_count, ties to even, with 0 <= index <= bin_count and
// finite bounds. Exact until that one rounding: (low * (bin_count - index) + high * index) / bin_count.
EDGE_FUNCTION uint uniform_edge_bits(uint low, uint high, uint index, uint bin_count) {
  if (index == 0u) return low;
  if (index == bin_count) return high;
  SumStateRecord state;
  sum_state_clear(state);
  int64_t low_term = int64_t(sum_float32_significand(low)) * int64_t(bin_count - index);
  int64_t high_term = int64_t(sum_float32_significand(high)) * int64_t(index);
  if ((low >> 31) != 0u) low_term = -low_term;
  if ((high >> 31) != 0u) high_term = -high_term;
  int unit = 150 + sum_state_unit_exponent;
  sum_add_shifted(state.limbs, low_term, sum_float32_scale(low) - unit);
  sum_add_shifted(state.limbs, high_term, sum_float32_scale(high) - unit);
  uint negative = state.limbs[sum_state_limb_count - 1] >> 31;
  uint left_over = divide_magnitude(state, bin_count);
  SumMagnitude edge = sum_magnitude(state.limbs, sum_state_unit_exponent);
  edge.sticky |= left_over;
  edge.negative = negative;
  return uint(sum_encode(edge, 0u, 23, 8));
}

#ifdef __cplusplus
}  // namespace tessera::detail
#endif

#undef EDGE_FUNCTION
#undef EDGE_INOUT

#endif
