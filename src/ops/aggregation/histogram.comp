// Counts values into bins. Workgroups take turns at tiles. Few bins are counted in shared memory, in several copies so
// that lanes rarely meet in one bank or counter, and are added to the output once; many bins in the output itself.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/aggregation/histogram_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { HistogramRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 3
#include "rows.glsl"

layout(constant_id = 12) const uint binning_mode = histogram_resident;
layout(constant_id = 13) const uint counter_words = 1u;     // shared words for counters; 1: count in the output
layout(constant_id = 14) const uint copies = 1u;            // power of two
layout(constant_id = 15) const uint key_words = 1u;         // shared words for edges; 1: read them where they are
layout(constant_id = 16) const uint long_counts = 0u;       // the output is uint64
layout(constant_id = 17) const uint counts_carry = 0u;      // there may be 2^32 rows or more
layout(constant_id = 18) const uint join_lanes = 0u;        // counting in the output: lanes with one bin add once

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Binning { HistogramBinning at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Keys { int at[]; };
#define Binning_bytes binning_bytes
#define Keys_bytes 4u

shared uint counters[counter_words];
shared int shared_keys[key_words];

const uint values = 0u, mask = 2u;
const bool in_shared = counter_words > 1u;
const uint no_bin = 0xffffffffu;

HistogramBinning binning;
uint bins;
uint64_t keys_address;
uint64_t counts_address;
uint run_bin = no_bin;   // the last bin, and how often it came in a row
uint run_length = 0u;

int key_of(uint bits) {
#if defined(VARIANT_float32)
  return float_key(bits);
#elif defined(VARIANT_sint32)
  return sint32_key(bits);
#else
  return uint32_key(bits);
#endif
}

int edge_key(uint index) { return key_words > 1u ? shared_keys[index] : READ_AT(Keys, keys_address, index); }

// Four values at a time, without branches between them, so that their latencies overlap.

// The last bins whose lower edge is not above each key.
uvec4 searched_bins(ivec4 keys) {
  uvec4 low = uvec4(0u);
  for (uint count = bins; count > 1u;) {
    uint half_count = count >> 1;
    UNROLL for (uint j = 0u; j < 4u; ++j) low[j] += edge_key(low[j] + half_count) <= keys[j] ? half_count : 0u;
    count -= half_count;
  }
  return low;
}

// Where keys of accepted values lie.
bool accepts(int key) { return uint(key) - uint(binning.low_key) <= binning.key_range; }

#ifdef VARIANT_float32
// What a guess near a border is decided by.
uint bin_beside(uint border, uint bits) {
  int key = key_of(bits);
  if (!accepts(key)) return no_bin;
  return min(key >= edge_key(border) ? border : border - 1u, bins - 1u);
}

// Adding and taking away 1.5 * 2^23 rounds to an integer, many times faster than conversions do. A value outside the domain
// is near a border too, or its integer is no bin: below 0, or, as for NaN and infinities, beyond the largest.
uvec4 guessed_bins(uvec4 bits) {
  vec4 places = (uintBitsToFloat(bits) - binning.low) * binning.inverse - 0.5;
  precise vec4 moved = places + 12582912.0;
  precise vec4 rounded = moved - 12582912.0;
  vec4 from_middle = places - rounded;
  uvec4 bin = floatBitsToUint(moved) - 0x4b400000u;
  bvec4 unsure = greaterThan(abs(from_middle), vec4(binning.certain));
  if (any(unsure)) {
    UNROLL for (uint j = 0u; j < 4u; ++j)
      if (unsure[j]) bin[j] = bin_beside(min(from_middle[j] > 0.0 ? bin[j] + 1u : bin[j], bins), bits[j]);
  }
  return bin;
}
#else
uvec4 guessed_bins(uvec4 bits) {
  uint ratio_high = uint(binning.ratio >> 32), ratio_low = uint(binning.ratio);
  uvec4 bin;
  UNROLL for (uint j = 0u; j < 4u; ++j) {
    int key = key_of(bits[j]);
    uint distance = uint(key) - uint(binning.low_key);
    uint guess = distance * ratio_high + uint(uint64_t(distance) * uint64_t(ratio_low) >> 32);
    bool above = (uint64_t(guess) + uint64_t(1)) * uint64_t(binning.width) <= uint64_t(distance) * uint64_t(bins);
    bin[j] = accepts(key) ? min(above ? guess + 1u : guess, bins - 1u) : no_bin;
  }
  return bin;
}
#endif

// The bins of four values; `bins` or more for those that are not accepted.
uvec4 bins_of(uvec4 bits) {
  uint mode = binning_mode == histogram_resident ? binning.mode : binning_mode;
  if (mode == histogram_guess) return guessed_bins(bits);
  ivec4 keys = ivec4(key_of(bits.x), key_of(bits.y), key_of(bits.z), key_of(bits.w));
  if (mode == histogram_direct) return uvec4(keys) - uint(binning.low_key);
  uvec4 bin = searched_bins(keys);
  UNROLL for (uint j = 0u; j < 4u; ++j) bin[j] = accepts(keys[j]) ? bin[j] : no_bin;
  return bin;
}

void add_to_output(uint bin, uint count) {
  Words words = Words(counts_address);
  uint index = long_counts != 0u ? 2u * bin : bin;
  if (counts_carry == 0u) {
    atomicAdd(WRITE_IN(Words, words, index), count);
    return;
  }
  uint before = atomicAdd(WRITE_IN(Words, words, index), count);
  if (before + count >= before) return;
  if (long_counts != 0u)
    atomicAdd(WRITE_IN(Words, words, index + 1u), 1u);
  else if (record.overflow != uint64_t(0))
    atomicOr(WRITE_AT(Words, slot_address(record.overflow) + record.overflow_offset, 0), 1u);
}

void end_run() {
  if (run_length == 0u) return;
  uint count = run_length;
  if (join_lanes != 0u) {
    bool joined = run_bin == subgroupBroadcastFirst(run_bin);
    uint total = subgroupAdd(joined ? count : 0u);
    uint leader = subgroupBallotFindLSB(subgroupBallot(joined));
    if (joined) {
      if (gl_SubgroupInvocationID != leader) return;
      count = total;
    }
  }
  add_to_output(run_bin, count);
}

void count_in_output(uint bin) {
  if (bin != run_bin) {
    end_run();
    run_bin = bin;
    run_length = 0u;
  }
  ++run_length;
}

void count_values(uvec4 bits, bvec4 there) {
  uvec4 bin = bins_of(bits);
  if (in_shared) {
    uint copy = gl_LocalInvocationID.x & (copies - 1u);
    UNROLL for (uint j = 0u; j < 4u; ++j)
      if (there[j] && bin[j] < bins) atomicAdd(counters[bin[j] * copies + copy], 1u);
  } else {
    for (uint j = 0u; j < 4u; ++j)
      if (there[j] && bin[j] < bins) count_in_output(bin[j]);
  }
}

uvec4 value_bits(uvec4 bits) {
#ifdef VARIANT_float32
  if (column_has(values, column_calibrate))
    UNROLL for (uint j = 0u; j < 4u; ++j) bits[j] = floatBitsToUint(calibrated(values, bits[j]));
#endif
  return bits;
}

// Full tiles of neighbouring rows. Loads run a turn ahead of counting.
void count_quads() {
  uvec4 bits = uvec4(0u), loaded = uvec4(0u);
  bvec4 there = bvec4(true), loaded_there = bvec4(true);
  uint turns = rows_per_thread / 4u;
  for (uint turn = 0u; turn <= turns; ++turn) {
    if (turn < turns) {
      uint quad = gl_LocalInvocationID.x + turn * gl_WorkGroupSize.x;
      loaded = load_quad(values, quad);
      if (may_miss(values)) loaded_there = are_observed(values, loaded, quad);
      if (column_has(mask, column_present)) {
        bvec4 selected = notEqual(load_quad(mask, quad), uvec4(0u));
        loaded_there = may_miss(values) ? bvec4(uvec4(loaded_there) & uvec4(selected)) : selected;
      }
    }
    if (turn > 0u) count_values(value_bits(bits), there);
    bits = loaded;
    there = loaded_there;
  }
}

void count_rows() {
  for (uint start = 0u; start < rows_per_thread; start += 4u) {
    uvec4 bits;
    bvec4 there;
    for (uint j = 0u; j < 4u; ++j) {
      uint i = gl_LocalInvocationID.x + (start + j) * gl_WorkGroupSize.x;
      bits[j] = 0u;
      there[j] = i < tile_rows;
      if (!there[j]) continue;
      uint place = locate(i);
      bits[j] = load_row(values, i, place);
      if (may_miss(values)) there[j] = is_observed(values, bits[j], i, place);
      if (column_has(mask, column_present)) there[j] = there[j] && load_row(mask, i, place) != 0u;
    }
    count_values(value_bits(bits), there);
  }
}

void clear_shared() {
  if (in_shared)
    for (uint i = gl_LocalInvocationID.x; i < bins * copies; i += gl_WorkGroupSize.x) counters[i] = 0u;
  if (key_words > 1u)
    for (uint i = gl_LocalInvocationID.x; i <= bins; i += gl_WorkGroupSize.x) shared_keys[i] = READ_AT(Keys, keys_address, i);
  barrier();
}

void add_shared_to_output() {
  barrier();
  for (uint bin = gl_LocalInvocationID.x; bin < bins; bin += gl_WorkGroupSize.x) {
    uint count = 0u;
    // Lanes begin at different copies, which lie in different banks.
    for (uint k = 0u; k < copies; ++k) count += counters[bin * copies + ((k + gl_LocalInvocationID.x) & (copies - 1u))];
    if (count != 0u) add_to_output(bin, count);
  }
}

void main() {
  binning = READ_OF(Binning, record.binning);
  if (binning.mode == histogram_nothing) return;
  bins = record.bins;
  keys_address = record.binning + uint64_t(binning_bytes);
  counts_address = slot_address(record.counts) + record.counts_offset;
  if (in_shared || key_words > 1u) clear_shared();
  uint tiles = tile_count();
  for (uint tile = workgroup_index(); tile < tiles; tile += workgroup_count()) {
    if (!open_tile(tile)) break;
    if (wide_access != 0u && tile_wide)
      count_quads();
    else
      count_rows();
  }
  if (in_shared)
    add_shared_to_output();
  else
    end_run();
}
