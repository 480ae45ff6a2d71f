// Floats by their bits: tests that no driver folds away, and conversions without 64-bit floats.
#ifndef TESSERA_FLOAT_BITS_GLSL
#define TESSERA_FLOAT_BITS_GLSL

const uint quiet_nan_bits = 0x7fc00000u;

bool is_finite_bits(uint bits) { return (bits & 0x7f800000u) != 0x7f800000u; }
bool is_nan_bits(uint bits) { return (bits & 0x7fffffffu) > 0x7f800000u; }

// Unsigned order of float values with -0 < +0; its own inverse is `float_from_order`.
uint float_order(uint bits) { return (bits & 0x80000000u) != 0u ? ~bits : bits ^ 0x80000000u; }
uint float_from_order(uint key) { return (key & 0x80000000u) != 0u ? key ^ 0x80000000u : ~key; }

// float64 bits (low word first) rounded to float32 bits, to nearest, ties to even.
uint float32_from_float64(uvec2 bits) {
  uint sign = bits.y & 0x80000000u;
  uint exponent = (bits.y >> 20) & 0x7ffu;
  uint high = bits.y & 0xfffffu;
  if (exponent == 0x7ffu)
    return sign | 0x7f800000u | ((high | bits.x) != 0u ? 0x400000u | (high << 3) | (bits.x >> 29) : 0u);
  if (exponent < 872u) return sign;  // below half of the smallest denormal
  uint64_t significand = (uint64_t(high | 0x100000u) << 32) | uint64_t(bits.x);
  int scale = int(exponent) - 1023 + 127;  // the float32 exponent field
  if (scale > 254) return sign | 0x7f800000u;
  int shift = scale >= 1 ? 29 : 30 - scale;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t(1) << shift) - uint64_t(1));
  uint64_t half_unit = uint64_t(1) << (shift - 1);
  if (rest > half_unit || (rest == half_unit && (kept & uint64_t(1)) != uint64_t(0))) kept += uint64_t(1);
  uint magnitude = scale >= 1 ? uint(kept) + (uint(scale - 1) << 23) : uint(kept);
  return sign | min(magnitude, 0x7f800000u);
}

#endif
