// Row-wise arithmetic on rows that may be missing; one workgroup a tile.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/arithmetic/elementwise_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ElementwiseObservedRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 8
#include "rows.glsl"
#include "ops/arithmetic/elementwise_values.glsl"

const uint target = 6u, target_validity = 7u;

// One operand's bits, calibrated where it is; `there` turns false where the row is missing.
uint operand_row(uint column, uint i, uint place, inout bool there) {
  if (!column_has(column, column_present)) return 0u;
  uint bits = load_row(column, i, place);
  if (may_miss(column)) there = there && is_observed(column, bits, i, place);
#ifdef VARIANT_float32
  if (column_has(column, column_calibrate)) {
    bits = floatBitsToUint(calibrated(column, bits));
    there = there && is_finite_bits(bits);
  }
#endif
  return bits;
}

void main() {
  if (!open_tile(workgroup_index())) return;
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
    if (i >= tile_rows) return;
    uint place = locate(i);
    bool there = true;
    uint operands[3];
    UNROLL for (uint operand = 0u; operand < 3u; ++operand)
      operands[operand] = operand_row(2u * operand, i, place, there);
    uint result = results_of(uvec4(operands[0]), uvec4(operands[1]), uvec4(operands[2])).x;
    store_row(target, i, place, there ? result : missing_bits);
    if (column_has(target_validity, column_present)) store_row(target_validity, i, place, there ? 1u : 0u);
  }
}
