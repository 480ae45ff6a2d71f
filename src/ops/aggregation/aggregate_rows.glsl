// How the aggregate kernels read their population: values of a band or column, an optional mask, sixteen rows at a time.
//
// Before including: rows.glsl with three columns (values, their validity, mask), the aggregate's record, and UNROLL_ROWS, what stands before
// loops that a driver shall unroll.
#ifndef TESSERA_AGGREGATE_ROWS_GLSL
#define TESSERA_AGGREGATE_ROWS_GLSL

layout(constant_id = 12) const uint quantities = 1u;
layout(constant_id = 13) const uint largest_groups = 1024u;

const uint values = 0u, mask = 2u;
bool wants(uint quantity) { return (quantities & quantity) != 0u; }

uint row_total = 0u, smallest = 0xffffffffu, largest = 0u;

#ifdef VARIANT_float32
uint order_of(uint bits) { return float_order(bits); }
bool is_number(uint bits) { return is_finite_bits(bits); }
uint value_bits(uint raw) {
  return column_is_float(values) && !column_has(values, column_calibrate) ? raw : floatBitsToUint(calibrated(values, raw));
}
#else
#ifdef VARIANT_sint32
uint order_of(uint bits) { return bits ^ 0x80000000u; }
#else
uint order_of(uint bits) { return bits; }
#endif
bool is_number(uint bits) { return true; }
uint value_bits(uint raw) { return raw; }
#endif

bool selects() { return may_miss(values) || column_has(mask, column_present); }

// Rows are taken sixteen at a time by each invocation: as four quads of neighbours, or a workgroup apart.
const uint turn_rows = 16u;
bool quads(uint turn) {
#ifdef ROWS_OF_ANY_TILE
  if ((turn + 1u) * turn_rows * gl_WorkGroupSize.x > tile_rows) return false;
#endif
  return wide_access != 0u && tile_wide;
}
uint row_of(uint turn, uint k) {
  uint step = turn * turn_rows + k;
  if (quads(turn)) return 4u * (gl_LocalInvocationID.x + (step / 4u) * gl_WorkGroupSize.x) + k % 4u;
  return gl_LocalInvocationID.x + step * gl_WorkGroupSize.x;
}

// One row's value, and whether it is in the population.
uint load_value(uint i, out bool there) {
  there = i < tile_rows;
  if (!there) return 0u;
  uint place = locate(i);
  uint raw = load_row(values, i, place);
  if (may_miss(values)) there = is_observed(values, raw, i, place);
  if (column_has(mask, column_present)) there = there && load_row(mask, i, place) != 0u;
  return value_bits(raw);
}

// What a sum takes of a value: nothing, as zero bits, where it does not count.
uint counted_bits(uint bits, bool there) {
  bool number = is_number(bits);
  if (wants(aggregate_extent) && there && number) {
    uint key = order_of(bits);
    smallest = min(smallest, key);
    largest = max(largest, key);
  }
  bool counted = there && (number || !wants(aggregate_only_finite));
  if (selects() || wants(aggregate_only_finite)) row_total += counted ? 1u : 0u;
  return counted ? bits : 0u;
}

// A turn of a wide tile: the raw values, and what a sum takes of them.
void load_raw_quads(uint turn, out uvec4 raw[4]) {
  UNROLL_ROWS for (uint k = 0u; k < 4u; ++k) raw[k] = load_quad(values, gl_LocalInvocationID.x + (4u * turn + k) * gl_WorkGroupSize.x);
}
void count_quads(uint turn, uvec4 raw[4], out uvec4 bits[4]) {
  UNROLL_ROWS for (uint k = 0u; k < 4u; ++k) {
    uint quad = gl_LocalInvocationID.x + (4u * turn + k) * gl_WorkGroupSize.x;
    bvec4 there = bvec4(true);
    if (may_miss(values)) there = are_observed(values, raw[k], quad);
    if (column_has(mask, column_present)) {
      uvec4 selected = load_quad(mask, quad);
      there = bvec4(there.x && selected.x != 0u, there.y && selected.y != 0u, there.z && selected.z != 0u,
                    there.w && selected.w != 0u);
    }
    UNROLL_ROWS for (uint j = 0u; j < 4u; ++j) bits[k][j] = counted_bits(value_bits(raw[k][j]), there[j]);
  }
}
void load_turn_of_quads(uint turn, out uvec4 bits[4]) {
  uvec4 raw[4];
  load_raw_quads(turn, raw);
  count_quads(turn, raw, bits);
}

// A turn of any other tile.
void load_turn_of_rows(uint turn, out uvec4 bits[4]) {
  bvec4 there[4];
  UNROLL_ROWS for (uint k = 0u; k < 16u; ++k) bits[k / 4u][k % 4u] = load_value(row_of(turn, k), there[k / 4u][k % 4u]);
  UNROLL_ROWS for (uint k = 0u; k < 16u; ++k) bits[k / 4u][k % 4u] = counted_bits(bits[k / 4u][k % 4u], there[k / 4u][k % 4u]);
}

void load_turn(uint turn, out uvec4 bits[4]) {
  if (quads(turn))
    load_turn_of_quads(turn, bits);
  else
    load_turn_of_rows(turn, bits);
}

// Turns that the tile takes of every invocation.
uint tile_turns() { return (tile_rows - 1u) / (turn_rows * gl_WorkGroupSize.x) + 1u; }

#endif
