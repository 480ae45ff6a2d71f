// Count, exact sum, exact sum of squares and extent of a population; one partial per persistent workgroup.
//
// Exact float sums: an invocation adds signed significands, shifted into a window of 28 exponents, to one 64-bit integer. The window is the
// same over a subgroup and moves when a quarter of its invocations miss it. What lies outside is added to the workgroup's digits in shared
// memory. All of it is integer addition, so the order does not matter and every device gives the same bits.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/aggregation/aggregate_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { AggregateRecord at; };
#define record Record(push.record).at
#define COLUMNS 3
#include "rows.glsl"
#include "sum_state.h"

layout(constant_id = 12) const uint quantities = 1u;
layout(constant_id = 13) const uint largest_groups = 1024u;

const uint values = 0u, mask = 2u;
bool wants(uint quantity) { return (quantities & quantity) != 0u; }

shared int sum_digits[digit_count];
shared int square_digits[digit_count];
shared uint shared_count, shared_flags, shared_smallest, shared_largest;

uint row_total = 0u, flags = 0u, smallest = 0xffffffffu, largest = 0u;
int64_t sum = int64_t(0);         // in the window, or of integers
uint64_t squares_low = uint64_t(0), squares_high = uint64_t(0);  // 128 bits in the window, or low and high halves of integer squares
int window = 1;                    // smallest exponent field inside
uint batches = 0u;                 // since the last flush
float fast_sum = 0.0;

// digits += value * 2^position
void add_digits(bool to_squares, int64_t value, uint position) {
  bool negative = value < int64_t(0);
  uint64_t left = uint64_t(negative ? -value : value);
  uint shift = position & 7u, word = position >> 3;
  int digit = int(uint(left << shift) & 255u);
  left >>= 8u - shift;
  for (;;) {
    if (digit != 0) {
      if (to_squares)
        atomicAdd(square_digits[word], negative ? -digit : digit);
      else
        atomicAdd(sum_digits[word], negative ? -digit : digit);
    }
    if (left == uint64_t(0)) break;
    digit = int(uint(left) & 255u);
    left >>= 8u;
    ++word;
  }
}

// Adds every invocation's value to the digits, once per subgroup.
void flush_value(bool to_squares, int64_t value, uint position) {
  uint low = subgroupAdd(uint(value) & 0xffffffu);
  uint middle = subgroupAdd(uint(value >> 24) & 0xffffffu);
  int high = subgroupAdd(int(value >> 48));
  if (subgroupElect())
    add_digits(to_squares, int64_t(low) + (int64_t(middle) << 24) + (int64_t(high) << 48), position);
}

void flush_unsigned(bool to_squares, uint64_t value, uint position) {
  flush_value(to_squares, int64_t(value & 0xffffffffffffUL), position);
  flush_value(to_squares, int64_t(value >> 48), position + 48u);
}

#ifdef VARIANT_float32
const uint window_span = 27u;

void flush_window() {
  flush_value(false, sum, uint(window + 148));
  if (wants(aggregate_squares)) {
    flush_unsigned(true, squares_low, uint(2 * window - 2));
    flush_unsigned(true, squares_high, uint(2 * window + 62));
  }
  sum = int64_t(0);
  squares_low = uint64_t(0);
  squares_high = uint64_t(0);
  batches = 0u;
}

void add_outside_window(uint bits) {
  if ((bits << 1) == 0u) return;
  uint special = sum_float32_flags(bits);
  flags |= special;
  if (special != 0u) return;
  int64_t significand = int64_t(sum_float32_significand(bits));
  int scale = sum_float32_scale(bits);
  add_digits(false, (bits >> 31) != 0u ? -significand : significand, uint(scale + 148));
  if (wants(aggregate_squares)) add_digits(true, significand * significand, uint(2 * scale - 2));
}

void add_in_window(uint bits) {
  uint place = ((bits >> 23) & 0xffu) - uint(window);
  if (place > window_span) {
    add_outside_window(bits);
    return;
  }
  int significand = int((bits & 0x7fffffu) | 0x800000u);
  int signed_significand = (bits >> 31) != 0u ? -significand : significand;
  sum += int64_t(signed_significand) * int64_t(1 << place);
  if (wants(aggregate_squares)) {
    uint64_t square = uint64_t(significand) * uint64_t(significand);
    uint shift = 2u * place;
    uint64_t low = square << shift;
    squares_low += low;
    squares_high += (shift == 0u ? uint64_t(0) : square >> (64u - shift)) + (squares_low < low ? uint64_t(1) : uint64_t(0));
  }
}

// Moves the window to where most of the subgroup's next values are, each invocation's largest magnitude given, and keeps its sums from
// overflowing: 4,096 additions fit, at most 16 come between two calls.
void prepare_sums(uint largest_magnitude) {
  if (wants(aggregate_fast)) return;
  uint exponent = largest_magnitude >= 0x7f800000u ? 0u : largest_magnitude >> 23;
  bool misses = exponent != 0u && exponent - uint(window) > window_span;
  if (subgroupAny(misses)) {
    uint missing = subgroupBallotBitCount(subgroupBallot(misses));
    if (4u * missing >= gl_SubgroupSize) {
      flush_window();
      uint mean = subgroupAdd(exponent) / max(subgroupBallotBitCount(subgroupBallot(exponent != 0u)), 1u);
      window = max(int(mean) - 16, 1);
    }
  }
  if (batches >= 255u) flush_window();
  ++batches;
}

uint largest_magnitude(uvec4 bits) {
  uvec4 magnitude = bits & 0x7fffffffu;
  return max(max(magnitude.x, magnitude.y), max(magnitude.z, magnitude.w));
}

void add_sums(uvec4 bits) {
  if (wants(aggregate_fast)) {
    vec4 value = uintBitsToFloat(bits);
    fast_sum += (value.x + value.y) + (value.z + value.w);
    return;
  }
  for (uint k = 0u; k < 4u; ++k) add_in_window(bits[k]);
}

uint order_of(uint bits) { return float_order(bits); }
bool is_number(uint bits) { return is_finite_bits(bits); }
uint value_bits(uint raw) {
  return column_is_float(values) && !column_has(values, column_calibrate) ? raw : floatBitsToUint(calibrated(values, raw));
}
#else
void prepare_sums(uint largest) {}
uint largest_magnitude(uvec4 bits) { return 0u; }

void add_sums(uvec4 bits) {
  for (uint k = 0u; k < 4u; ++k) {
    sum += int64_t(COMPUTE_TYPE(bits[k]));
    if (!wants(aggregate_squares)) continue;
    int64_t value = int64_t(COMPUTE_TYPE(bits[k]));
    uint64_t square = uint64_t(value * value);
    squares_low += square & 0xffffffffUL;
    squares_high += square >> 32;
  }
}

#ifdef VARIANT_sint32
uint order_of(uint bits) { return bits ^ 0x80000000u; }
#else
uint order_of(uint bits) { return bits; }
#endif
bool is_number(uint bits) { return true; }
uint value_bits(uint raw) { return raw; }
#endif

// Counts four values and compares them with the extent. Gives back what the sums take: rows that are out as zero bits, which add nothing.
uvec4 population_of(uvec4 bits, bvec4 there) {
  for (uint k = 0u; k < 4u; ++k) {
    bool number = is_number(bits[k]);
    if (wants(aggregate_extent) && there[k] && number) {
      uint key = order_of(bits[k]);
      smallest = min(smallest, key);
      largest = max(largest, key);
    }
    bool counted = there[k] && (number || !wants(aggregate_only_finite));
    row_total += counted ? 1u : 0u;
    bits[k] = counted ? bits[k] : 0u;
  }
  return bits;
}

bool may_miss() {
  return (column_flags(values) & (column_compare | column_finite | column_validity)) != 0u || column_has(mask, column_present);
}

void add_quads() {
  uint quads = rows_per_thread / 4u;
  const uint batch = 4u;
  for (uint start = 0u; start < quads; start += batch) {
    uvec4 raw[batch];
    bvec4 there[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      raw[k] = load_quad(values, quad);
      there[k] = bvec4(true);
      if (may_miss()) {
        there[k] = are_observed(values, raw[k], quad);
        if (column_has(mask, column_present)) {
          bvec4 selected = notEqual(load_quad(mask, quad), uvec4(0u));
          there[k] = bvec4(there[k].x && selected.x, there[k].y && selected.y, there[k].z && selected.z,
                           there[k].w && selected.w);
        }
      }
    }
    uint largest_of_batch = 0u;
    for (uint k = 0u; k < batch; ++k) {
      uvec4 bits = uvec4(value_bits(raw[k].x), value_bits(raw[k].y), value_bits(raw[k].z), value_bits(raw[k].w));
      raw[k] = population_of(bits, there[k]);
      largest_of_batch = max(largest_of_batch, largest_magnitude(raw[k]));
    }
    if (!wants(aggregate_sum)) continue;
    prepare_sums(largest_of_batch);
    for (uint k = 0u; k < batch; ++k) add_sums(raw[k]);
  }
}

// Every invocation takes every turn: subgroup operations need all of them.
void add_rows() {
  uint turns = (tile_rows + 4u * gl_WorkGroupSize.x - 1u) / (4u * gl_WorkGroupSize.x);
  for (uint turn = 0u; turn < turns; ++turn) {
    uvec4 bits = uvec4(0u);
    bvec4 there = bvec4(false);
    for (uint k = 0u; k < 4u; ++k) {
      uint i = gl_LocalInvocationID.x + (4u * turn + k) * gl_WorkGroupSize.x;
      if (i >= tile_rows) continue;
      uint place = locate(i);
      uint raw = load_row(values, i, place);
      there[k] = !may_miss() || (is_observed(values, raw, i, place) &&
                                 (!column_has(mask, column_present) || load_row(mask, i, place) != 0u));
      bits[k] = value_bits(raw);
    }
    bits = population_of(bits, there);
    if (!wants(aggregate_sum)) continue;
    prepare_sums(largest_magnitude(bits));
    add_sums(bits);
  }
}

void flush_invocations() {
#ifdef VARIANT_float32
  if (wants(aggregate_sum)) {
    if (wants(aggregate_fast)) add_outside_window(floatBitsToUint(fast_sum));
    flush_window();
  }
#else
  if (wants(aggregate_sum)) flush_value(false, sum, 298u);
  if (wants(aggregate_squares)) {
    flush_unsigned(true, squares_low, 298u);
    flush_unsigned(true, squares_high, 330u);
  }
#endif
  uint total = subgroupAdd(row_total);
  uint all_flags = subgroupOr(flags), low = subgroupMin(smallest), high = subgroupMax(largest);
  if (subgroupElect()) {
    atomicAdd(shared_count, total);
    atomicOr(shared_flags, all_flags);
    atomicMin(shared_smallest, low);
    atomicMax(shared_largest, high);
  }
}

// Digits to limbs with their carries. `target` is the partial's flag word, the limbs follow.
void write_limbs(bool of_squares, uint64_t partial, uint target) {
  int64_t carry = int64_t(0);
  Words(partial).at[target] = shared_flags;
  for (uint limb = 0u; limb < digit_count / 4u; ++limb) {
    uint bits = 0u;
    for (uint k = 0u; k < 4u; ++k) {
      carry += int64_t(of_squares ? square_digits[4u * limb + k] : sum_digits[4u * limb + k]);
      bits |= (uint(carry) & 255u) << (8u * k);
      carry >>= 8;
    }
    Words(partial).at[target + 1u + limb] = bits;
  }
}

void write_partial() {
  uint words = wants(aggregate_squares) ? partial_words_with_squares : partial_words;
  uint64_t partial = record.partials + uint64_t(workgroup_index()) * uint64_t(4u * words);
  Words(partial).at[partial_count] = shared_count;
  Words(partial).at[partial_count + 1u] = 0u;
  Words(partial).at[partial_smallest] = shared_smallest;
  Words(partial).at[partial_largest] = shared_largest;
  write_limbs(false, partial, partial_sum);
  if (wants(aggregate_squares)) write_limbs(true, partial, partial_squares);
}

void main() {
  uint groups = min(tile_count(), largest_groups);
  if (workgroup_index() >= groups) return;
  for (uint i = gl_LocalInvocationID.x; i < digit_count; i += gl_WorkGroupSize.x) {
    sum_digits[i] = 0;
    square_digits[i] = 0;
  }
  if (gl_LocalInvocationID.x == 0u) {
    shared_count = 0u;
    shared_flags = 0u;
    shared_smallest = 0xffffffffu;
    shared_largest = 0u;
  }
  barrier();
  for (uint tile = workgroup_index(); tile < tile_count(); tile += groups) {
    open_tile(tile);
    if (wide_access != 0u && tile_wide)
      add_quads();
    else
      add_rows();
  }
  flush_invocations();
  barrier();
  if (gl_LocalInvocationID.x == 0u) write_partial();
}
