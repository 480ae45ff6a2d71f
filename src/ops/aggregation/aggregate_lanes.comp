// The aggregate for CPU-type devices: no shared memory and no barrier before the end, sums in registers; one partial per subgroup.
//
// Such a device runs a subgroup as vector instructions, executes both sides of every branch, and leaves out work only where a loop ends.
// So exact float sums have a short loop for turns whose values all lie inside the invocation's window of 27 exponents; a turn that
// does not is taken apart outside that loop, window by window. A window's sums are added to wide ones before it moves. All of it is
// integer addition, so the order does not matter and every device gives the same bits.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/aggregation/aggregate_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { AggregateRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 3
#include "rows.glsl"
#include "sum_state.h"
#define UNROLL_ROWS  // the driver does; a module without copies of loops starts sooner
#include "ops/aggregation/aggregate_rows.glsl"

layout(constant_id = 14) const uint partials_per_group = 1u;

uint flags = 0u;
uint sum_limbs[20], square_limbs[20];
int64_t sum = int64_t(0);                                        // in the window, or of integers
uint64_t squares_low = uint64_t(0), squares_high = uint64_t(0);  // low and high parts of squares

// limbs += words * 2^(32 * first), sign-extended by `fill`.
void add_words(inout uint limbs[20], uint words[5], uint fill, uint first) {
  uint carry = 0u;
  for (uint i = 0u; i < 20u; ++i) {
    uint k = i - first;
    uint term = mix(fill, 0u, i < first);
    for (uint word = 0u; word < 5u; ++word) term = mix(term, words[word], k == word);
    uint total = limbs[i] + term;
    uint next = total + carry;
    carry = total < term || next < carry ? 1u : 0u;
    limbs[i] = next;
  }
}

// limbs += (high * 2^64 + low) * 2^position
void add_wide(inout uint limbs[20], uint64_t low, int64_t high, uint position) {
  uint bit = position & 31u;
  uint64_t middle = bit == 0u ? uint64_t(high) : (low >> (64u - bit)) | (uint64_t(high) << bit);
  uint fill = high < int64_t(0) ? 0xffffffffu : 0u;
  uint words[5] = {uint(low << bit), uint((low << bit) >> 32), uint(middle), uint(middle >> 32),
                   bit == 0u ? fill : uint(high >> (64u - bit))};
  add_words(limbs, words, fill, position >> 5);
}

#ifdef VARIANT_float32
const uint window_span = 26u;     // the largest place in the window
const uint square_low_bits = 52u;
const uint turns_per_flush = 255u;  // 4,080 additions fit into a window's sums

uint window = 1u;  // smallest exponent field inside
uint turns_since_flush = 0u;
float fast_sum = 0.0;

void flush_window() {
  add_wide(sum_limbs, uint64_t(sum), sum >> 63, window + 148u);
  if (wants(aggregate_squares)) {
    uint64_t low = squares_low + (squares_high << square_low_bits);
    uint64_t high = (squares_high >> (64u - square_low_bits)) + (low < squares_low ? uint64_t(1) : uint64_t(0));
    add_wide(square_limbs, low, int64_t(high), 2u * window - 2u);
  }
  sum = int64_t(0);
  squares_low = uint64_t(0);
  squares_high = uint64_t(0);
  turns_since_flush = 0u;
}

// A significand at a place of the window.
void add_at_place(uint bits, uint significand, uint place) {
  int factor = 1 << place;
  sum += int64_t(int(significand)) * int64_t(int(bits) < 0 ? -factor : factor);
  if (!wants(aggregate_squares)) return;
  uint64_t square = uint64_t(significand) * uint64_t(significand);
  uint64_t shift = uint64_t(2u * place);
  squares_low += (square << shift) & ((uint64_t(1) << square_low_bits) - uint64_t(1));
  squares_high += square >> (uint64_t(square_low_bits) - shift);
}

// Adds a turn whose values are zero or normal numbers inside the window; false if it has others, and nothing is added.
bool add_inside(uvec4 bits[4]) {
  uint farthest = 0u;
  for (uint k = 0u; k < 16u; ++k) {
    uint doubled = bits[k / 4u][k % 4u] << 1;
    farthest = max(farthest, doubled == 0u ? 0u : (doubled >> 24) - window);
  }
  if (farthest > window_span || turns_since_flush >= turns_per_flush) return false;
  for (uint k = 0u; k < 16u; ++k) {
    uint value = bits[k / 4u][k % 4u];
    uint significand = (value << 1) == 0u ? 0u : (value & 0x7fffffu) | 0x800000u;
    add_at_place(value, significand, (((value << 1) >> 24) - window) & 31u);
  }
  ++turns_since_flush;
  return true;
}

// The exponent field that a value counts by, denormals with the smallest normal numbers; 0 for what adds nothing.
uint exponent_of(uint bits) {
  uint exponent = (bits << 1) >> 24;
  return (bits << 1) == 0u || exponent == 255u ? 0u : max(exponent, 1u);
}

uint largest_exponent_below(uvec4 bits[4], uint bound) {
  uint exponent = 0u;
  for (uint k = 0u; k < 16u; ++k) {
    uint candidate = exponent_of(bits[k / 4u][k % 4u]);
    exponent = max(exponent, candidate < bound ? candidate : 0u);
  }
  return exponent;
}

// Adds any turn, from its largest values down; leaves room in the window for larger ones to come.
void add_anywhere(uvec4 bits[4]) {
  for (uint k = 0u; k < 16u; ++k) flags |= sum_float32_flags(bits[k / 4u][k % 4u]);
  uint bound = 255u;
  uint exponent = largest_exponent_below(bits, bound);
  do {
    flush_window();
    window = uint(clamp(int(exponent) - 22, 1, 228));
    for (uint k = 0u; k < 16u; ++k) {
      uint value = bits[k / 4u][k % 4u];
      uint counted = exponent_of(value);
      bool inside = counted >= window && counted < bound;
      add_at_place(value, inside ? sum_float32_significand(value) : 0u, min(counted - window, window_span));
    }
    bound = window;
    exponent = largest_exponent_below(bits, bound);
    ++turns_since_flush;
  } while (exponent != 0u);
}

bool add_turn(uvec4 bits[4]) {
  if (!wants(aggregate_fast)) return add_inside(bits);
  for (uint k = 0u; k < 4u; ++k) {
    vec4 value = uintBitsToFloat(bits[k]);
    fast_sum += (value.x + value.y) + (value.z + value.w);
  }
  return true;
}

void add_any_turn(uvec4 bits[4]) {
  if (wants(aggregate_fast))
    add_turn(bits);
  else
    add_anywhere(bits);
}
#else
bool add_turn(uvec4 bits[4]) {
  for (uint k = 0u; k < 16u; ++k) {
    int64_t value = int64_t(COMPUTE_TYPE(bits[k / 4u][k % 4u]));
    sum += value;
    if (!wants(aggregate_squares)) continue;
    uint64_t square = uint64_t(value * value);
    squares_low += square & 0xffffffffUL;
    squares_high += square >> 32;
  }
  return true;
}

void add_any_turn(uvec4 bits[4]) { add_turn(bits); }
#endif

// What loading a turn counts and compares, so that a turn that is loaded again is not counted twice.
struct Counted {
  uint rows, smallest, largest;
};
Counted counted() { return Counted(row_total, smallest, largest); }
void restore(Counted before) {
  row_total = before.rows;
  smallest = before.smallest;
  largest = before.largest;
}

void add_tile_of_quads() {
  uint turn = 0u, turns = quads(0u) ? tile_turns() : 0u;
  for (;;) {
    for (; turn < turns; ++turn) {
      Counted before = counted();
      uvec4 bits[4];
      load_turn_of_quads(turn, bits);
      if (wants(aggregate_sum) && !add_turn(bits)) {
        restore(before);
        break;
      }
    }
    if (turn >= turns) break;
    uvec4 bits[4];
    load_turn_of_quads(turn, bits);
    add_any_turn(bits);
    ++turn;
  }
}

void add_tile_of_rows() {
  uint turns = quads(0u) ? 0u : tile_turns();
  for (uint turn = 0u; turn < turns; ++turn) {
    uvec4 bits[4];
    load_turn_of_rows(turn, bits);
    if (wants(aggregate_sum)) add_any_turn(bits);
  }
}

void add_tile() {
  if (!selects() && !wants(aggregate_only_finite) && gl_LocalInvocationID.x == 0u) row_total += tile_rows;
  add_tile_of_quads();
  add_tile_of_rows();
}

void flush_invocation() {
#ifdef VARIANT_float32
  if (wants(aggregate_fast)) {
    uvec4 bits[4] = {uvec4(floatBitsToUint(fast_sum), 0u, 0u, 0u), uvec4(0u), uvec4(0u), uvec4(0u)};
    add_anywhere(bits);
  }
  flush_window();
#else
  add_wide(sum_limbs, uint64_t(sum), sum >> 63, 298u);
  if (wants(aggregate_squares)) {
    add_wide(square_limbs, squares_low, int64_t(0), 298u);
    add_wide(square_limbs, squares_high, int64_t(0), 330u);
  }
#endif
}

// Adds up the subgroup's limbs; `target` is the partial's flag word, the limbs follow.
void write_limbs(uint limbs[20], uint all_flags, uint64_t partial, uint target) {
  uint64_t carry = uint64_t(0);
  if (subgroupElect()) WRITE_AT(Words, partial, target) = all_flags;
  for (uint limb = 0u; limb < 20u; ++limb) {
    carry += uint64_t(subgroupAdd(limbs[limb] & 0xffffu)) + (uint64_t(subgroupAdd(limbs[limb] >> 16)) << 16);
    if (subgroupElect()) WRITE_AT(Words, partial, target + 1u + limb) = uint(carry);
    carry >>= 32;
  }
}

uint64_t partial_address(uint subgroup) {
  uint words = wants(aggregate_squares) ? partial_words_with_squares : partial_words;
  return record.partials + uint64_t(workgroup_index() * partials_per_group + subgroup) * uint64_t(4u * words);
}

void write_partial() {
  uint64_t partial = partial_address(gl_SubgroupID);
  uint total = subgroupAdd(row_total);
  uint all_flags = subgroupOr(flags), low = subgroupMin(smallest), high = subgroupMax(largest);
  if (subgroupElect()) {
    WRITE_AT(Words, partial, partial_count) = total;
    WRITE_AT(Words, partial, partial_count + 1u) = 0u;
    WRITE_AT(Words, partial, partial_smallest) = low;
    WRITE_AT(Words, partial, partial_largest) = high;
  }
  write_limbs(sum_limbs, all_flags, partial, partial_sum);
  if (wants(aggregate_squares)) write_limbs(square_limbs, all_flags, partial, partial_squares);
}

// Subgroups may be larger than the smallest that the partials were made for.
void clear_unused_partials() {
  uint words = wants(aggregate_squares) ? partial_words_with_squares : partial_words;
  for (uint subgroup = gl_NumSubgroups; subgroup < partials_per_group; ++subgroup)
    for (uint word = gl_LocalInvocationID.x; word < words; word += gl_WorkGroupSize.x)
      WRITE_AT(Words, partial_address(subgroup), word) = word == partial_smallest ? 0xffffffffu : 0u;
}

void main() {
  uint groups = min(tile_count(), largest_groups);
  if (workgroup_index() >= groups) return;
  for (uint limb = 0u; limb < 20u; ++limb) {
    sum_limbs[limb] = 0u;
    square_limbs[limb] = 0u;
  }
  for (uint tile = workgroup_index(); tile < tile_count(); tile += groups) {
    open_tile(tile);
    if (tile_rows != 0u) add_tile();
  }
  if (wants(aggregate_sum)) flush_invocation();
  write_partial();
  clear_unused_partials();
}
