// Normalized difference of two calibrated bands; one workgroup a tile.
#version 460
#include "addressed.glsl"
#include "raster/pixel/ndvi_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { NdviRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 6
#include "rows.glsl"

const uint near_infrared = 0u, red = 2u, target = 4u, target_validity = 5u;

// The record's options, read once.
float epsilon, lowest, highest;
bool clamps;

// The index as float32 bits; a quiet NaN where it does not exist.
uint index_of(uint near_infrared_bits, uint red_bits) {
  float left = calibrated(near_infrared, near_infrared_bits), right = calibrated(red, red_bits);
  precise float difference = left - right;
  precise float sum = left + right;
  precise float quotient = difference / sum;
  // A sum is finite only where both bands are.
  bool exists = is_finite_bits(floatBitsToUint(sum)) && abs(sum) > epsilon && is_finite_bits(floatBitsToUint(quotient));
  if (clamps) quotient = clamp(quotient, lowest, highest);
  return exists ? floatBitsToUint(quotient) : quiet_nan_bits;
}

const uint batch = 4u;

void compute_quads() {
  uint quads = rows_per_thread / 4u;
  for (uint start = 0u; start < quads; start += batch) {
    uvec4 index[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      uvec4 x = load_quad(near_infrared, quad), y = load_quad(red, quad);
      bvec4 there = are_observed(near_infrared, x, quad), also = are_observed(red, y, quad);
      for (uint j = 0u; j < 4u; ++j) index[k][j] = there[j] && also[j] ? index_of(x[j], y[j]) : quiet_nan_bits;
    }
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      store_quad(target, quad, index[k]);
      if (column_has(target_validity, column_present))
        store_quad(target_validity, quad, uvec4(notEqual(index[k], uvec4(quiet_nan_bits))));
    }
  }
}

void compute_rows() {
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
    if (i >= tile_rows) return;
    uint place = locate(i);
    uint x = load_row(near_infrared, i, place), y = load_row(red, i, place);
    bool there = is_observed(near_infrared, x, i, place) && is_observed(red, y, i, place);
    uint bits = there ? index_of(x, y) : quiet_nan_bits;
    store_row(target, i, place, bits);
    if (column_has(target_validity, column_present)) store_row(target_validity, i, place, bits != quiet_nan_bits ? 1u : 0u);
  }
}

void main() {
  if (!open_tile(workgroup_index())) return;
  epsilon = record.epsilon;
  lowest = record.lowest;
  highest = record.highest;
  clamps = record.clamps != 0u;
  if (wide_access != 0u && tile_wide)
    compute_quads();
  else
    compute_rows();
}
