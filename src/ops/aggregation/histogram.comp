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

// The last bin whose lower edge is not above the key.
uint searched_bin(int key) {
  uint low = 0u;
  for (uint count = bins; count > 1u;) {
    uint half_count = count >> 1;
    bool right = edge_key(low + half_count) <= key;
    low += right ? half_count : 0u;
    count = right ? count - half_count : half_count;
  }
  return low;
}

#ifdef VARIANT_float32
uint guessed_bin(int key, uint bits, uint distance) {
  float place = (uintBitsToFloat(bits) - binning.low) * binning.inverse;
  uint bin = uint(place);
  uint border = min(uint(place + 0.5), bins);
  if (abs(place - float(border)) < binning.margin) bin = key >= edge_key(border) ? border : border - 1u;
  return bin;
}
#else
uint guessed_bin(int key, uint bits, uint distance) {
  uint border = uint(float(distance) * binning.inverse + 0.5);
  bool above = uint64_t(distance) * uint64_t(bins) >= uint64_t(border) * uint64_t(binning.key_range);
  return above ? border : border - 1u;
}
uint divided_bin(uint distance) {
  return uint(uint64_t(distance) * uint64_t(bins) / uint64_t(binning.key_range));
}
#endif

uint bin_of(uint bits) {
  int key = key_of(bits);
  uint distance = uint(key) - uint(binning.low_key);
  if (distance > binning.key_range) return no_bin;
  uint mode = binning_mode == histogram_resident ? binning.mode : binning_mode;
  uint bin;
  if (mode == histogram_search)
    bin = searched_bin(key);
#ifndef VARIANT_float32
  else if (mode == histogram_divide)
    bin = divided_bin(distance);
#endif
  else
    bin = guessed_bin(key, bits, distance);
  return min(bin, bins - 1u);
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

void count_value(uint bits, bool there) {
  if (!there) return;
  uint bin = bin_of(bits);
  if (bin == no_bin) return;
  if (in_shared) {
    atomicAdd(counters[bin * copies + (gl_LocalInvocationID.x & (copies - 1u))], 1u);
    return;
  }
  if (bin != run_bin) {
    end_run();
    run_bin = bin;
    run_length = 0u;
  }
  ++run_length;
}

bool may_miss(uint column) {
  return (column_flags(column) & (column_compare | column_finite | column_validity)) != 0u;
}

uint value_bits(uint bits) {
#ifdef VARIANT_float32
  if (column_has(values, column_calibrate)) return floatBitsToUint(calibrated(values, bits));
#endif
  return bits;
}

// Loads of a batch are under way together; on CPU devices that gains nothing.
const uint batch = 4u;
const uint row_batch = wide_access != 0u ? batch : 1u;

void count_quads() {
  uint quads = rows_per_thread / 4u;
  for (uint start = 0u; start < quads; start += batch) {
    uvec4 bits[batch];
    bvec4 there[batch];
    for (uint k = 0u; k < batch; ++k) {
      uint quad = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      bits[k] = load_quad(values, quad);
      there[k] = bvec4(true);
      if (may_miss(values)) there[k] = are_observed(values, bits[k], quad);
      if (column_has(mask, column_present)) {
        uvec4 words = load_quad(mask, quad);
        [[unroll]] for (uint j = 0u; j < 4u; ++j) there[k][j] = there[k][j] && words[j] != 0u;
      }
    }
    for (uint k = 0u; k < batch; ++k)
      for (uint j = 0u; j < 4u; ++j) count_value(value_bits(bits[k][j]), there[k][j]);
  }
}

void count_rows() {
  for (uint start = 0u; start < rows_per_thread; start += row_batch) {
    uint bits[batch];
    bool there[batch];
    for (uint k = 0u; k < row_batch; ++k) {
      uint i = gl_LocalInvocationID.x + (start + k) * gl_WorkGroupSize.x;
      there[k] = i < tile_rows;
      if (!there[k]) continue;
      uint place = locate(i);
      bits[k] = load_row(values, i, place);
      if (may_miss(values)) there[k] = is_observed(values, bits[k], i, place);
      if (column_has(mask, column_present)) there[k] = there[k] && load_row(mask, i, place) != 0u;
    }
    for (uint k = 0u; k < row_batch; ++k) count_value(value_bits(bits[k]), there[k]);
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
