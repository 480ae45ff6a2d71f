// Row-wise arithmetic on plain rows; one workgroup a tile.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/arithmetic/elementwise_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ElementwiseRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 4
#define ROWS_OF_WORDS
#include "rows.glsl"
#include "ops/arithmetic/elementwise_values.glsl"

const uint a = 0u, b = 1u, c = 2u, target = 3u;

uvec4 operand_quad(uint column, uint quad) {
  return column_has(column, column_present) ? load_quad(column, quad) : uvec4(0u);
}

// Four rows that are a workgroup apart.
uvec4 operand_rows(uint column, uint first, uvec4 place) {
  uvec4 bits = uvec4(0u);
  if (!column_has(column, column_present)) return bits;
  UNROLL for (uint k = 0u; k < 4u; ++k) {
    uint i = first + k * gl_WorkGroupSize.x;
    if (i < tile_rows) bits[k] = load_row(column, i, place[k]);
  }
  return bits;
}

// Loads of a batch finish before its stores: addressed memory may alias for the compiler.
// A constant of the pipeline, so that the loops stay whole for the driver: unrolled in advance they ran 4 % slower on an H200.
const uint batch = rows_per_thread < 16u ? rows_per_thread / 4u : 4u;

void compute_quads() {
  for (uint start = 0u; start < rows_per_thread / 4u; start += batch) {
    uint first = gl_LocalInvocationID.x + start * gl_WorkGroupSize.x;
    uvec4 x[batch], y[batch], z[batch];
    UNROLL for (uint k = 0u; k < batch; ++k) {
      x[k] = operand_quad(a, first + k * gl_WorkGroupSize.x);
      y[k] = operand_quad(b, first + k * gl_WorkGroupSize.x);
      z[k] = operand_quad(c, first + k * gl_WorkGroupSize.x);
    }
    UNROLL for (uint k = 0u; k < batch; ++k)
      store_quad(target, first + k * gl_WorkGroupSize.x, results_of(x[k], y[k], z[k]));
  }
}

void compute_rows() {
  for (uint start = 0u; start < rows_per_thread; start += 4u) {
    uint first = gl_LocalInvocationID.x + start * gl_WorkGroupSize.x;
    if (first >= tile_rows) return;
    uvec4 place = uvec4(0u);
    if (row_mode != 0u) {
      UNROLL for (uint k = 0u; k < 4u; ++k) place[k] = locate(min(first + k * gl_WorkGroupSize.x, tile_rows - 1u));
    }
    uvec4 result = results_of(operand_rows(a, first, place), operand_rows(b, first, place), operand_rows(c, first, place));
    UNROLL for (uint k = 0u; k < 4u; ++k) {
      uint i = first + k * gl_WorkGroupSize.x;
      if (i < tile_rows) store_row(target, i, place[k], result[k]);
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
