// Row-wise arithmetic; one workgroup a tile.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/arithmetic/elementwise_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ElementwiseRecord at; };
#define record Record(push.record).at
#define COLUMNS 8
#include "rows.glsl"

layout(constant_id = 12) const uint operation = 0u;
const uint operation_copy = 0u, operation_add = 1u, operation_subtract = 2u, operation_multiply = 3u,
           operation_multiply_add = 4u, operation_minimum = 5u, operation_maximum = 6u;

const uint a = 0u, b = 2u, c = 4u, target = 6u, target_validity = 7u;

#ifdef VARIANT_float32
const uint missing_bits = quiet_nan_bits;
uint smaller(uint left, uint right) { return float_from_order(min(float_order(left), float_order(right))); }
uint larger(uint left, uint right) { return float_from_order(max(float_order(left), float_order(right))); }
uint chosen(bool minimum, uint left, uint right) {
  if (is_nan_bits(left)) return right;
  if (is_nan_bits(right)) return left;
  return minimum ? smaller(left, right) : larger(left, right);
}
uint computed(uint left, uint right, uint third) {
  precise float x = uintBitsToFloat(left), y = uintBitsToFloat(right), z = uintBitsToFloat(third);
  precise float product = x * y;
  precise float sum = x + y;
  precise float difference = x - y;
  precise float both = product + z;
  if (operation == operation_add) return floatBitsToUint(sum);
  if (operation == operation_subtract) return floatBitsToUint(difference);
  if (operation == operation_multiply) return floatBitsToUint(product);
  return floatBitsToUint(both);
}
#else
const uint missing_bits = 0u;
uint chosen(bool minimum, uint left, uint right) {
  COMPUTE_TYPE x = COMPUTE_TYPE(left), y = COMPUTE_TYPE(right);
  return uint(minimum ? min(x, y) : max(x, y));
}
uint computed(uint left, uint right, uint third) {
  if (operation == operation_add) return left + right;
  if (operation == operation_subtract) return left - right;
  if (operation == operation_multiply) return left * right;
  return left * right + third;
}
#endif

uint result_of(uint left, uint right, uint third) {
  if (operation == operation_copy) return left;
  if (operation == operation_minimum || operation == operation_maximum)
    return chosen(operation == operation_minimum, left, right);
  return computed(left, right, third);
}

bool may_miss(uint column) {
  return (column_flags(column) & (column_compare | column_finite | column_validity)) != 0u;
}

// The operand's value as bits: calibrated when it is.
uint operand_bits(uint column, uint bits) {
#ifdef VARIANT_float32
  if (column_has(column, column_calibrate)) return floatBitsToUint(calibrated(column, bits));
#endif
  return bits;
}

struct Row {
  uint bits;
  bool there;
};

Row load_operand(uint column, uint i, uint place) {
  if (!column_has(column, column_present)) return Row(0u, true);
  uint raw = load_row(column, i, place);
  Row row = Row(operand_bits(column, raw), true);
  if (may_miss(column)) row.there = is_observed(column, raw, i, place);
#ifdef VARIANT_float32
  if (column_has(column, column_calibrate)) row.there = row.there && is_finite_bits(row.bits);
#endif
  return row;
}

uvec4 load_operand_quad(uint column, uint quad, inout bvec4 there) {
  if (!column_has(column, column_present)) return uvec4(0u);
  uvec4 raw = load_quad(column, quad);
  uvec4 bits = raw;
  [[unroll]] for (uint k = 0u; k < 4u; ++k) bits[k] = operand_bits(column, raw[k]);
  if (may_miss(column)) {
    bvec4 observed = are_observed(column, raw, quad);
    [[unroll]] for (uint k = 0u; k < 4u; ++k) {
      there[k] = there[k] && observed[k];
#ifdef VARIANT_float32
      if (column_has(column, column_calibrate)) there[k] = there[k] && is_finite_bits(bits[k]);
#endif
    }
  }
  return bits;
}

// Loads of a batch finish before its stores: addressed memory may alias for the compiler.
const uint batch = 4u;

void compute_quads() {
  uint quads = rows_per_thread / 4u;
  for (uint start = 0u; start < quads; start += batch) {
    uvec4 x[batch], y[batch], z[batch];
    bvec4 there[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      there[k] = bvec4(true);
      x[k] = load_operand_quad(a, quad, there[k]);
      y[k] = load_operand_quad(b, quad, there[k]);
      z[k] = load_operand_quad(c, quad, there[k]);
    }
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      uvec4 result;
      [[unroll]] for (uint j = 0u; j < 4u; ++j)
        result[j] = there[k][j] ? result_of(x[k][j], y[k][j], z[k][j]) : missing_bits;
      store_quad(target, quad, result);
      if (column_has(target_validity, column_present)) store_quad(target_validity, quad, uvec4(there[k]));
    }
  }
}

void compute_rows() {
  for (uint start = 0u; start < rows_per_thread; start += batch) {
    Row x[batch], y[batch], z[batch];
    uint place[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint i = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      if (i >= tile_rows) continue;
      place[k] = locate(i);
      x[k] = load_operand(a, i, place[k]);
      y[k] = load_operand(b, i, place[k]);
      z[k] = load_operand(c, i, place[k]);
    }
    for (uint k = 0u; k < batch; ++k) {
      uint i = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      if (i >= tile_rows) continue;
      bool there = x[k].there && y[k].there && z[k].there;
      store_row(target, i, place[k], there ? result_of(x[k].bits, y[k].bits, z[k].bits) : missing_bits);
      if (column_has(target_validity, column_present)) store_row(target_validity, i, place[k], there ? 1u : 0u);
    }
  }
}

void main() {
  if (!open_tile(workgroup_index())) return;
  if (wide_access != 0u && tile_wide)
    compute_quads();
  else
    compute_rows();
}
