// What one row becomes, for the kernels of Elementwise: four rows at a time, as bits.
#ifndef TESSERA_ELEMENTWISE_VALUES_GLSL
#define TESSERA_ELEMENTWISE_VALUES_GLSL

layout(constant_id = 12) const uint operation = 0u;
const uint operation_copy = 0u, operation_add = 1u, operation_subtract = 2u, operation_multiply = 3u,
           operation_multiply_add = 4u, operation_minimum = 5u, operation_maximum = 6u;

#ifdef VARIANT_float32
const uint missing_bits = quiet_nan_bits;
uint chosen(uint left, uint right) {
  if (is_nan_bits(left)) return right;
  if (is_nan_bits(right)) return left;
  uint x = float_order(left), y = float_order(right);
  return float_from_order(operation == operation_minimum ? min(x, y) : max(x, y));
}
uvec4 computed(uvec4 left, uvec4 right, uvec4 third) {
  precise vec4 x = uintBitsToFloat(left), y = uintBitsToFloat(right);
  precise vec4 result;
  if (operation == operation_add) {
    result = x + y;
  } else if (operation == operation_subtract) {
    result = x - y;
  } else {
    result = x * y;
    if (operation == operation_multiply_add) result = result + uintBitsToFloat(third);
  }
  return floatBitsToUint(result);
}
#else
const uint missing_bits = 0u;
uint chosen(uint left, uint right) {
  COMPUTE_TYPE x = COMPUTE_TYPE(left), y = COMPUTE_TYPE(right);
  return uint(operation == operation_minimum ? min(x, y) : max(x, y));
}
uvec4 computed(uvec4 left, uvec4 right, uvec4 third) {
  if (operation == operation_add) return left + right;
  if (operation == operation_subtract) return left - right;
  if (operation == operation_multiply) return left * right;
  return left * right + third;
}
#endif

uvec4 results_of(uvec4 left, uvec4 right, uvec4 third) {
  uvec4 bits = left;
  if (operation == operation_minimum || operation == operation_maximum) {
    bits = uvec4(chosen(left.x, right.x), chosen(left.y, right.y), chosen(left.z, right.z), chosen(left.w, right.w));
  } else if (operation != operation_copy) {
    bits = computed(left, right, third);
  }
  return bits;
}

#endif
