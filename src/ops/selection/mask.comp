// Row-wise boolean composition of masks; one workgroup a tile.
#version 460
#include "addressed.glsl"
#include "ops/selection/mask_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { MaskRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 8
#include "rows.glsl"

layout(constant_id = 12) const uint operation = 0u;
layout(constant_id = 13) const uint continued = 0u;  // start from the output instead of the first input
const uint conjunction = 0u, disjunction = 1u, exclusive_disjunction = 2u, difference = 3u, negation = 4u;

const uint inputs = 7u, target = 7u;

// Truth of four rows as words of 0 or 1.
uvec4 truth(uvec4 bits) { return uvec4(notEqual(bits, uvec4(0u))); }

uvec4 composed(uvec4 result, uvec4 next) {
  if (operation == conjunction) return result & next;
  if (operation == disjunction) return result | next;
  if (operation == exclusive_disjunction) return result ^ next;
  return result & ~next;
}
bool takes_turn(uint column) { return column_has(column, column_present) && (column > 0u || continued != 0u); }
uvec4 started(uvec4 first) { return operation == negation ? uvec4(1u) - truth(first) : truth(first); }

void compose_quads() {
  for (uint k = 0u; k < rows_per_thread / 4u; ++k) {
    uint quad = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
    uvec4 result = started(load_quad(continued != 0u ? target : 0u, quad));
    UNROLL for (uint column = 0u; column < inputs; ++column)
      if (takes_turn(column)) result = composed(result, truth(load_quad(column, quad)));
    store_quad(target, quad, result);
  }
}

// Four rows at a time, whose loads finish before their stores: addressed memory may alias for the compiler.
void compose_rows() {
  for (uint first = 0u; first < rows_per_thread; first += 4u) {
    uvec4 result = uvec4(0u);
    uint place[4];
    for (uint k = 0u; k < 4u; ++k) {
      uint i = gl_LocalInvocationID.x + (first + k) * gl_WorkGroupSize.x;
      if (i >= tile_rows) continue;
      place[k] = locate(i);
      uvec4 row = started(uvec4(load_row(continued != 0u ? target : 0u, i, place[k])));
      UNROLL for (uint column = 0u; column < inputs; ++column)
        if (takes_turn(column)) row = composed(row, truth(uvec4(load_row(column, i, place[k]))));
      result[k] = row.x;
    }
    for (uint k = 0u; k < 4u; ++k) {
      uint i = gl_LocalInvocationID.x + (first + k) * gl_WorkGroupSize.x;
      if (i < tile_rows) store_row(target, i, place[k], result[k]);
    }
  }
}

void main() {
  if (!open_tile(workgroup_index())) return;
  if (wide_access != 0u && tile_wide)
    compose_quads();
  else
    compose_rows();
}
