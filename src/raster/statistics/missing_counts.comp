// Counts a band's pixels by the first reason that makes them missing. One phase clears the counts, the other adds to them; workgroups take
// turns at tiles and add once.
#version 460
#include "addressed.glsl"
#include "raster/statistics/missing_counts_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { MissingCountsRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 3
#include "rows.glsl"

layout(constant_id = 12) const uint clears = 0u;
layout(constant_id = 13) const uint nan_is_no_data = 0u;

const uint band = 0u, quality = 2u;
const uint reason_count = 5u;
// tessera::raster::MissingCounts::Reason
const uint none = 0u, by_validity = 1u, by_no_data = 2u, by_not_finite = 3u, by_quality = 4u;

shared uint totals[reason_count];

uint pixels = 0u;
uvec4 missing = uvec4(0u);  // by reason, without `none`

Words output_counts() { return Words(slot_address(record.counts) + record.counts_offset); }

// Whether a float's exponent is that of NaN and infinities. A float64 counts as it is stored, not as the float32 it rounds to.
bool is_not_finite(uint bits, uint i, uint place) {
  if (column_format(band) != format_float64) return !is_finite_bits(bits);
  return (uint(load_long(band, i, place) >> 52) & 0x7ffu) == 0x7ffu;
}

uint reason_of(uint bits, bool accepted, bool good, uint i, uint place) {
  if (!accepted) return by_validity;
  if (!differs_from_no_data(band, bits, i, place)) return by_no_data;
  if (column_is_float(band) && is_not_finite(bits, i, place))
    return nan_is_no_data != 0u && is_nan_bits(bits) ? by_no_data : by_not_finite;
  return good ? none : by_quality;
}

void count(uint reason) {
  ++pixels;
  missing += uvec4(equal(uvec4(reason), uvec4(by_validity, by_no_data, by_not_finite, by_quality)));
}

void count_quads() {
  for (uint turn = 0u; turn < rows_per_thread / 4u; ++turn) {
    uint quad = gl_LocalInvocationID.x + turn * gl_WorkGroupSize.x;
    uvec4 bits = load_quad(band, quad);
    uvec4 accepted = column_has(band, column_validity) ? load_quad(band + 1u, quad) : uvec4(1u);
    uvec4 good = column_has(quality, column_present) ? load_quad(quality, quad) : uvec4(1u);
    UNROLL for (uint j = 0u; j < 4u; ++j) count(reason_of(bits[j], accepted[j] != 0u, good[j] != 0u, 0u, 0u));
  }
}

void count_rows() {
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = gl_LocalInvocationID.x + k * gl_WorkGroupSize.x;
    if (i >= tile_rows) return;
    uint place = locate(i);
    bool accepted = !column_has(band, column_validity) || load_row(band + 1u, i, place) != 0u;
    bool good = !column_has(quality, column_present) || load_row(quality, i, place) != 0u;
    count(reason_of(load_row(band, i, place), accepted, good, i, place));
  }
}

void add_to_totals() {
  uint sums[reason_count];
  sums[none] = subgroupAdd(pixels - missing.x - missing.y - missing.z - missing.w);
  sums[by_validity] = subgroupAdd(missing.x);
  sums[by_no_data] = subgroupAdd(missing.y);
  sums[by_not_finite] = subgroupAdd(missing.z);
  sums[by_quality] = subgroupAdd(missing.w);
  if (subgroupElect())
    UNROLL for (uint reason = 0u; reason < reason_count; ++reason) atomicAdd(totals[reason], sums[reason]);
}

void main() {
  if (clears != 0u) {
    if (gl_LocalInvocationID.x < reason_count) WRITE_IN(Words, output_counts(), gl_LocalInvocationID.x) = 0u;
    return;
  }
  if (gl_LocalInvocationID.x < reason_count) totals[gl_LocalInvocationID.x] = 0u;
  barrier();
  uint tiles = tile_count();
  for (uint tile = workgroup_index(); tile < tiles; tile += workgroup_count()) {
    if (!open_tile(tile)) break;
    if (wide_access != 0u && tile_wide)
      count_quads();
    else
      count_rows();
  }
  add_to_totals();
  barrier();
  if (gl_LocalInvocationID.x < reason_count && totals[gl_LocalInvocationID.x] != 0u)
    atomicAdd(WRITE_IN(Words, output_counts(), gl_LocalInvocationID.x), totals[gl_LocalInvocationID.x]);
}
