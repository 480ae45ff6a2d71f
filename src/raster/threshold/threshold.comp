// Pixels whose calibrated value is above or below a threshold, or between two; one workgroup a tile.
#version 460
#include "addressed.glsl"
#include "raster/threshold/threshold_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ThresholdRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 3
#include "rows.glsl"

layout(constant_id = 12) const uint operation = 0u;  // tessera::raster::Threshold::Operation
layout(constant_id = 13) const uint exclusive = 0u;

const uint band = 0u, target = 2u;
const uint operation_below = 1u, operation_range = 2u;
const uint one_bits = 0x3f800000u;

// Selected values have first_key <= key <= last_key.
uint first_key, last_key;

// Order of finite floats as unsigned integers, which no driver folds or flushes; both zeros are one.
uint key_of(uint bits) { return float_order((bits << 1) == 0u ? 0u : bits); }

void open_thresholds() {
  uint lower = floatBitsToUint(record.lower), upper = floatBitsToUint(record.upper);
  if (record.thresholds != uint64_t(0)) {
    Words words = Words(slot_address(record.thresholds) + record.thresholds_offset);
    lower = READ_IN(Words, words, 0);
    if (operation == operation_range) upper = READ_IN(Words, words, 1);
  }
  bool usable = is_finite_bits(lower) && (operation != operation_range || is_finite_bits(upper));
  // Keys of finite values lie well inside the unsigned range, so that one more or less never wraps.
  first_key = operation == operation_below ? 0u : key_of(lower) + exclusive;
  last_key = operation == operation_range ? key_of(upper) - exclusive
      : operation == operation_below ? key_of(lower) - exclusive : 0xffffffffu;
  if (usable) return;
  first_key = 0xffffffffu;
  last_key = 0u;
}

uint selected_bits(uint raw, bool there) {
  uint bits = floatBitsToUint(calibrated(band, raw));
  there = there && is_finite_bits(bits);
  uint key = key_of(bits);
  bool selected = there && key >= first_key && key <= last_key;
  if (column_format(target) != format_float32) return selected ? 1u : 0u;
  return selected ? one_bits : there ? 0u : quiet_nan_bits;
}

const uint batch = 4u;

void compute_quads() {
  for (uint start = 0u; start < rows_per_thread / 4u; start += batch) {
    uvec4 result[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      uvec4 raw = load_quad(band, quad);
      bvec4 there = are_observed(band, raw, quad);
      for (uint j = 0u; j < 4u; ++j) result[k][j] = selected_bits(raw[j], there[j]);
    }
    for (uint k = 0u; k < batch; ++k)
      store_quad(target, gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x, result[k]);
  }
}

void compute_rows() {
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
    if (i >= tile_rows) return;
    uint place = locate(i);
    uint raw = load_row(band, i, place);
    store_row(target, i, place, selected_bits(raw, is_observed(band, raw, i, place)));
  }
}

void main() {
  if (!open_tile(workgroup_index())) return;
  open_thresholds();
  if (wide_access != 0u && tile_wide)
    compute_quads();
  else
    compute_rows();
}
