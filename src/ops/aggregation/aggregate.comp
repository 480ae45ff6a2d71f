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
#define record Record(push.arguments).at
#define COLUMNS 3
#define ROWS_OF_ANY_TILE
#include "rows.glsl"
#include "sum_state.h"
#define UNROLL_ROWS UNROLL
#include "ops/aggregation/aggregate_rows.glsl"

shared int sum_digits[digit_count];
shared int square_digits[digit_count];
shared uint shared_count, shared_flags, shared_smallest, shared_largest;

uint flags = 0u;
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

uint place_of(uint bits) { return ((bits << 1) >> 24) - uint(window); }

// A value inside the window. Anything else is told apart before, or has a factor of 0.
void add_at_place(uint bits, int factor) {
  int significand = int((bits & 0x7fffffu) | 0x800000u);
  sum += int64_t(significand) * int64_t(int(bits) < 0 ? -factor : factor);
}

void add_square_at_place(uint bits, uint place) {
  uint64_t significand = uint64_t((bits & 0x7fffffu) | 0x800000u);
  uint64_t square = place <= window_span ? significand * significand : uint64_t(0);
  uint shift = 2u * min(place, window_span);
  uint64_t low = square << shift;
  squares_low += low;
  squares_high += (shift == 0u ? uint64_t(0) : square >> (64u - shift)) + (squares_low < low ? uint64_t(1) : uint64_t(0));
}

// Moves the window to where most of the subgroup's next values are, each invocation's largest doubled bits given.
void move_window(uint largest_doubled) {
  uint exponent = largest_doubled >> 24;
  bool misses = largest_doubled != 0u && exponent != 255u && exponent - uint(window) > window_span;
  if (4u * subgroupBallotBitCount(subgroupBallot(misses)) < gl_SubgroupSize) return;
  flush_window();
  uint counted = exponent == 255u ? 0u : exponent;
  uint mean = subgroupAdd(counted) / max(subgroupBallotBitCount(subgroupBallot(counted != 0u)), 1u);
  window = max(int(mean) - 16, 1);
}

uint largest_of(uvec4 values[4]) {
  uvec4 largest_values = max(max(values[0], values[1]), max(values[2], values[3]));
  return max(max(largest_values.x, largest_values.y), max(largest_values.z, largest_values.w));
}

uint farthest_place(uvec4 bits[4]) {
  uvec4 places[4];
  UNROLL for (uint k = 0u; k < 4u; ++k) places[k] = ((bits[k] << 1) >> 24) - uint(window);
  return largest_of(places);
}

// Values outside the window, read again: few, and so the others stay in registers.
void add_outside(uint turn) {
  for (uint k = 0u; k < turn_rows; ++k) {
    bool there;
    uint bits = load_value(row_of(turn, k), there);
    bool counted = there && (is_number(bits) || !wants(aggregate_only_finite));
    if (counted && place_of(bits) > window_span) add_outside_window(bits);
  }
}

void add_turn(uint turn, uvec4 bits[4]) {
  if (wants(aggregate_fast)) {
    UNROLL for (uint k = 0u; k < 4u; ++k) {
      vec4 value = uintBitsToFloat(bits[k]);
      fast_sum += (value.x + value.y) + (value.z + value.w);
    }
    return;
  }
  // 4,096 additions fit into the window's sums; a turn is 16.
  if (batches >= 255u) flush_window();
  ++batches;
  bool all_inside = subgroupAll(farthest_place(bits) <= window_span);
  if (!all_inside) {
    uvec4 doubled[4];
    UNROLL for (uint k = 0u; k < 4u; ++k) doubled[k] = bits[k] << 1;
    move_window(largest_of(doubled));
    all_inside = subgroupAll(farthest_place(bits) <= window_span);
  }
  if (all_inside) {
    UNROLL for (uint k = 0u; k < 16u; ++k) add_at_place(bits[k / 4u][k % 4u], 1 << place_of(bits[k / 4u][k % 4u]));
  } else {
    bool any_outside = false;
    UNROLL for (uint k = 0u; k < 16u; ++k) {
      uint value = bits[k / 4u][k % 4u];
      bool inside = place_of(value) <= window_span;
      add_at_place(value, inside ? 1 << place_of(value) : 0);
      any_outside = any_outside || (!inside && (value << 1) != 0u);
    }
    if (any_outside) add_outside(turn);
  }
  if (wants(aggregate_squares)) {
    UNROLL for (uint k = 0u; k < 16u; ++k) add_square_at_place(bits[k / 4u][k % 4u], place_of(bits[k / 4u][k % 4u]));
  }
}
#else
void add_turn(uint turn, uvec4 bits[4]) {
  UNROLL for (uint k = 0u; k < 4u; ++k) {
    UNROLL for (uint j = 0u; j < 4u; ++j) {
      int64_t value = int64_t(COMPUTE_TYPE(bits[k][j]));
      sum += value;
      if (!wants(aggregate_squares)) continue;
      uint64_t square = uint64_t(value * value);
      squares_low += square & 0xffffffffUL;
      squares_high += square >> 32;
    }
  }
}
#endif

// Exact float sums have no registers to spare, and enough to do while they wait.
bool prefetches() {
#ifdef VARIANT_float32
  return !wants(aggregate_sum) || wants(aggregate_fast);
#else
  return true;
#endif
}

// Turns of quads, each loaded while the one before is added. How many there were.
uint add_prefetched_turns() {
  if (!quads(0u)) return 0u;
  uint turns = tile_rows / (turn_rows * gl_WorkGroupSize.x);
  uvec4 raw[4];
  load_raw_quads(0u, raw);
  for (uint turn = 0u; turn < turns; ++turn) {
    uvec4 next[4], bits[4];
    load_raw_quads(min(turn + 1u, turns - 1u), next);
    count_quads(turn, raw, bits);
    if (wants(aggregate_sum)) add_turn(turn, bits);
    raw = next;
  }
  return turns;
}

// Every invocation takes every turn: subgroup operations need all of them.
void add_tile() {
  if (!selects() && !wants(aggregate_only_finite) && gl_LocalInvocationID.x == 0u) row_total += tile_rows;
  uint first = prefetches() ? add_prefetched_turns() : 0u;
  for (uint turn = first; turn < tile_turns(); ++turn) {
    uvec4 bits[4];
    load_turn(turn, bits);
    if (wants(aggregate_sum)) add_turn(turn, bits);
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
  WRITE_AT(Words, partial, target) = shared_flags;
  for (uint limb = 0u; limb < digit_count / 4u; ++limb) {
    uint bits = 0u;
    for (uint k = 0u; k < 4u; ++k) {
      carry += int64_t(of_squares ? square_digits[4u * limb + k] : sum_digits[4u * limb + k]);
      bits |= (uint(carry) & 255u) << (8u * k);
      carry >>= 8;
    }
    WRITE_AT(Words, partial, target + 1u + limb) = bits;
  }
}

void write_partial() {
  uint words = wants(aggregate_squares) ? partial_words_with_squares : partial_words;
  uint64_t partial = record.partials + uint64_t(workgroup_index()) * uint64_t(4u * words);
  WRITE_AT(Words, partial, partial_count) = shared_count;
  WRITE_AT(Words, partial, partial_count + 1u) = 0u;
  WRITE_AT(Words, partial, partial_smallest) = shared_smallest;
  WRITE_AT(Words, partial, partial_largest) = shared_largest;
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
    if (tile_rows != 0u) add_tile();
  }
  flush_invocations();
  barrier();
  if (gl_LocalInvocationID.x == 0u) write_partial();
}
