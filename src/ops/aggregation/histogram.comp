// Counts values into bins. Workgroups take turns at tiles. Few bins are counted in shared memory, in several copies so
// that lanes rarely meet in one bank or counter, and are added to the output once; many bins in the output itself.
// variants: uint32 sint32 float32
#version 460
#include "addressed.glsl"
#include "ops/aggregation/histogram_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { HistogramRecord at; };
#define record Record(push.record).at
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

int edge_key(uint index) { return key_words > 1u ? shared_keys[index] : Keys(keys_address).at[index]; }

// Four values at a time, without branches between them, so that their latencies overlap.

// The last bins whose lower edge is not above each key.
uvec4 searched_bins(ivec4 keys) {
  uvec4 low = uvec4(0u);
  for (uint count = bins; count > 1u;) {
    uint half_count = count >> 1;
    [[unroll]] for (uint j = 0u; j < 4u; ++j) low[j] += edge_key(low[j] + half_count) <= keys[j] ? half_count : 0u;
    count -= half_count;
  }
  return low;
}

#ifdef VARIANT_float32
uvec4 guessed_bins(ivec4 keys, uvec4 bits, uvec4 distances) {
  vec4 places = (uintBitsToFloat(bits) - binning.low) * binning.inverse;
  uvec4 bin = uvec4(places);
  uvec4 borders = min(uvec4(places + 0.5), uvec4(bins));
  bvec4 unsure = lessThan(abs(places - vec4(borders)), vec4(binning.margin));
  if (any(unsure)) {
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      if (unsure[j]) bin[j] = keys[j] >= edge_key(borders[j]) ? borders[j] : borders[j] - 1u;
  }
  return bin;
}
#else
uvec4 guessed_bins(ivec4 keys, uvec4 bits, uvec4 distances) {
  uvec4 borders = uvec4(vec4(distances) * binning.inverse + 0.5);
  uvec4 bin;
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    bool above = uint64_t(distances[j]) * uint64_t(bins) >= uint64_t(borders[j]) * uint64_t(binning.key_range);
    bin[j] = above ? borders[j] : borders[j] - 1u;
  }
  return bin;
}
uvec4 divided_bins(uvec4 distances) {
  uvec4 bin;
  for (uint j = 0u; j < 4u; ++j)
    bin[j] = uint(uint64_t(distances[j]) * uint64_t(bins) / uint64_t(max(binning.key_range, 1u)));
  return bin;
}
#endif

// `no_bin` for values that are not accepted.
uvec4 bins_of(uvec4 bits, bvec4 there) {
  ivec4 keys;
  uvec4 distances;
  [[unroll]] for (uint j = 0u; j < 4u; ++j) {
    keys[j] = key_of(bits[j]);
    distances[j] = uint(keys[j]) - uint(binning.low_key);
    there[j] = there[j] && distances[j] <= binning.key_range;
    // Any accepted value will do where none is counted.
    if (!there[j]) {
      keys[j] = binning.low_key;
      distances[j] = 0u;
      bits[j] = floatBitsToUint(binning.low);
    }
  }
  uint mode = binning_mode == histogram_resident ? binning.mode : binning_mode;
  uvec4 bin;
  if (mode == histogram_search)
    bin = searched_bins(keys);
#ifndef VARIANT_float32
  else if (mode == histogram_divide)
    bin = divided_bins(distances);
#endif
  else
    bin = guessed_bins(keys, bits, distances);
  return mix(uvec4(no_bin), min(bin, uvec4(bins - 1u)), there);
}

void add_to_output(uint bin, uint count) {
  Words words = Words(counts_address);
  uint index = long_counts != 0u ? 2u * bin : bin;
  if (counts_carry == 0u) {
    atomicAdd(words.at[index], count);
    return;
  }
  uint before = atomicAdd(words.at[index], count);
  if (before + count >= before) return;
  if (long_counts != 0u)
    atomicAdd(words.at[index + 1u], 1u);
  else if (record.overflow != uint64_t(0))
    atomicOr(Words(slot_address(record.overflow) + record.overflow_offset).at[0], 1u);
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
  if (bin == no_bin) return;
  if (bin != run_bin) {
    end_run();
    run_bin = bin;
    run_length = 0u;
  }
  ++run_length;
}

void count_values(uvec4 bits, bvec4 there) {
  uvec4 bin = bins_of(bits, there);
  if (in_shared) {
    uint copy = gl_LocalInvocationID.x & (copies - 1u);
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      if (bin[j] != no_bin) atomicAdd(counters[bin[j] * copies + copy], 1u);
  } else {
    for (uint j = 0u; j < 4u; ++j) count_in_output(bin[j]);
  }
}

uvec4 value_bits(uvec4 bits) {
#ifdef VARIANT_float32
  if (column_has(values, column_calibrate))
    [[unroll]] for (uint j = 0u; j < 4u; ++j) bits[j] = floatBitsToUint(calibrated(values, bits[j]));
#endif
  return bits;
}

// Rows at one place of each quarter of the workgroup's width, or four neighbouring rows while the tile is wide.
void load_values(uint turn, out uvec4 bits, out bvec4 there) {
  there = bvec4(true);
  if (wide_access != 0u && tile_wide) {
    uint quad = gl_LocalInvocationID.x + turn * gl_WorkGroupSize.x;
    bits = load_quad(values, quad);
    if (may_miss(values)) there = are_observed(values, bits, quad);
    if (column_has(mask, column_present))
      there = bvec4(uvec4(there) & uvec4(notEqual(load_quad(mask, quad), uvec4(0u))));
    return;
  }
  uvec4 rows;
  bvec4 observed;
  for (uint j = 0u; j < 4u; ++j) {
    uint i = gl_LocalInvocationID.x + (4u * turn + j) * gl_WorkGroupSize.x;
    rows[j] = 0u;
    observed[j] = i < tile_rows;
    if (!observed[j]) continue;
    uint place = locate(i);
    rows[j] = load_row(values, i, place);
    if (may_miss(values)) observed[j] = is_observed(values, rows[j], i, place);
    if (column_has(mask, column_present)) observed[j] = observed[j] && load_row(mask, i, place) != 0u;
  }
  bits = rows;
  there = observed;
}

// Loads run two turns ahead of counting.
void count_tile() {
  uvec4 bits = uvec4(0u), later_bits = uvec4(0u);
  bvec4 there = bvec4(false), later_there = bvec4(false);
  uint turns = rows_per_thread / 4u;
  for (uint turn = 0u; turn < turns + 2u; ++turn) {
    uvec4 loaded_bits = uvec4(0u);
    bvec4 loaded_there = bvec4(false);
    if (turn < turns) load_values(turn, loaded_bits, loaded_there);
    if (turn >= 2u) count_values(value_bits(bits), there);
    bits = later_bits;
    there = later_there;
    later_bits = loaded_bits;
    later_there = loaded_there;
  }
}

void clear_shared() {
  if (in_shared)
    for (uint i = gl_LocalInvocationID.x; i < bins * copies; i += gl_WorkGroupSize.x) counters[i] = 0u;
  if (key_words > 1u)
    for (uint i = gl_LocalInvocationID.x; i <= bins; i += gl_WorkGroupSize.x) shared_keys[i] = Keys(keys_address).at[i];
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
  binning = Binning(record.binning).at;
  if (binning.mode == histogram_nothing) return;
  bins = record.bins;
  keys_address = record.binning + uint64_t(32);
  counts_address = slot_address(record.counts) + record.counts_offset;
  if (in_shared || key_words > 1u) clear_shared();
  uint tiles = tile_count();
  for (uint tile = workgroup_index(); tile < tiles; tile += workgroup_count()) {
    if (!open_tile(tile)) break;
    count_tile();
  }
  if (in_shared)
    add_shared_to_output();
  else
    end_run();
}
