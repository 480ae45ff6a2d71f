// Prefix sums inside one tile, shared by the scan kernels: rows are scanned by each subgroup, subgroups by the first one.
//
// Each subgroup takes neighbouring rows of the tile. On GPUs its lanes take turns (rows stay in registers, accesses join). With `lane_runs`
// each lane takes a run of neighbouring rows and reads them twice, which suits CPUs; SCAN_WITHOUT_RUNS leaves that out.
#ifndef TESSERA_SCAN_ROWS_GLSL
#define TESSERA_SCAN_ROWS_GLSL

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ScanRecord at; };
#define record Record(push.record).at
#define COLUMNS 4
#include "rows.glsl"

layout(constant_id = 12) const uint inclusive_mode = 0u;
#ifndef SCAN_WITHOUT_RUNS
layout(constant_id = 13) const uint lane_runs = 0u;
#endif

#ifndef UNROLL
#define UNROLL [[unroll]]
#endif

const uint source = 0u, segment_flags = 2u, target = 3u;

bool segmented() { return column_has(segment_flags, column_present); }

// What a run of rows passes on: the sum since its last start, or of all of it when it has no start.
struct Total {
  uint sum;
  uint starts;  // 1 when a segment starts in it
};

uint64_t pack_total(Total total) { return (uint64_t(total.starts) << 32) | uint64_t(total.sum); }
Total unpack_total(uint64_t word) { return Total(uint(word), uint(word >> 32) & 1u); }
// `left` before `right`.
Total joined(Total left, Total right) {
  return right.starts != 0u ? right : Total(left.sum + right.sum, left.starts);
}

uint last_lane(uint value) { return subgroupBroadcast(value, gl_SubgroupSize - 1u); }
bool any_lane(uvec4 ballot) { return any(notEqual(ballot, uvec4(0u))); }

// What comes before each lane's run: `running`, then the lanes before it. `running` moves on beyond the last lane.
// A segmented sum is a difference of plain prefix sums, exact modulo 2^32.
Total scan_lanes(Total own, inout Total running) {
  uint inclusive = subgroupInclusiveAdd(own.sum);
  uint exclusive = inclusive - own.sum;
  Total before = Total(running.sum + exclusive, running.starts);
  if (!segmented()) {
    running.sum += last_lane(inclusive);
    return before;
  }
  uvec4 starts = subgroupBallot(own.starts != 0u);
  uvec4 passed = starts & gl_SubgroupLtMask;
  bool started = any_lane(passed);
  uint skipped = subgroupShuffle(exclusive, started ? subgroupBallotFindMSB(passed) : 0u);
  if (started) before = Total(exclusive - skipped, 1u);
  running.sum = last_lane(own.starts != 0u ? own.sum : before.sum + own.sum);
  running.starts |= any_lane(starts) ? 1u : 0u;
  return before;
}

// A missing row counts as 0.
uint load_value(uint i, uint place) {
  uint bits = load_row(source, i, place);
  return may_miss(source) && !is_observed(source, bits, i, place) ? 0u : bits;
}
bool load_start(uint i, uint place) { return segmented() && load_row(segment_flags, i, place) != 0u; }

// Rows of this invocation, in quads of neighbours. First raw values, and a bit where a segment starts; once scanned with what its subgroup's
// earlier rows add, and a bit where what comes before the subgroup is still to be added.
const uint quads_per_thread = rows_per_thread / 4u;
uint kept[rows_per_thread];
uint kept_bits;

uint kept_quad(uint k) {
  return (gl_SubgroupID * quads_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_kept_quads() {
  kept_bits = 0u;
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    uvec4 values = load_quad(source, kept_quad(k));
    [[unroll]] for (uint j = 0u; j < 4u; ++j) kept[4u * k + j] = values[j];
  }
  if (may_miss(source)) {
    UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
      uvec4 values = uvec4(kept[4u * k], kept[4u * k + 1u], kept[4u * k + 2u], kept[4u * k + 3u]);
      bvec4 there = are_observed(source, values, kept_quad(k));
      [[unroll]] for (uint j = 0u; j < 4u; ++j) kept[4u * k + j] = there[j] ? values[j] : 0u;
    }
  }
  if (segmented()) {
    UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
      uvec4 starts = uvec4(notEqual(load_quad(segment_flags, kept_quad(k)), uvec4(0u)));
      kept_bits |= (starts.x | (starts.y << 1) | (starts.z << 2) | (starts.w << 3)) << (4u * k);
    }
  }
}

void store_kept_quads() {
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k)
    store_quad(target, kept_quad(k), uvec4(kept[4u * k], kept[4u * k + 1u], kept[4u * k + 2u], kept[4u * k + 3u]));
}

// Where quads can't be accessed at once: rows one by one, by neighbouring lanes, and into quads through memory that a subgroup shares.
shared uint staged[tile_capacity];

uint staged_row(uint k) {
  return (gl_SubgroupID * rows_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}
void subgroup_staged() {
  subgroupMemoryBarrierShared();
  subgroupBarrier();
}

void load_kept_rows() {
  kept_bits = 0u;
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = staged_row(k);
    staged[i] = i < tile_rows ? load_value(i, locate(i)) : 0u;
  }
  subgroup_staged();
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    [[unroll]] for (uint j = 0u; j < 4u; ++j) kept[4u * k + j] = staged[4u * kept_quad(k) + j];
  }
  subgroup_staged();
  if (!segmented()) return;
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = staged_row(k);
    staged[i] = i < tile_rows && load_start(i, locate(i)) ? 1u : 0u;
  }
  subgroup_staged();
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    [[unroll]] for (uint j = 0u; j < 4u; ++j) kept_bits |= staged[4u * kept_quad(k) + j] << (4u * k + j);
  }
  subgroup_staged();
}

void store_kept_rows() {
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    [[unroll]] for (uint j = 0u; j < 4u; ++j) staged[4u * kept_quad(k) + j] = kept[4u * k + j];
  }
  subgroup_staged();
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = staged_row(k);
    if (i < tile_rows) store_row(target, i, locate(i), staged[i]);
  }
}

Total scan_kept() {
  Total running = Total(0u, 0u);
  uint open_bits = 0u;
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    uint bits = (kept_bits >> (4u * k)) & 15u;
    Total own = Total(0u, 0u);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) own = joined(own, Total(kept[4u * k + j], (bits >> j) & 1u));
    Total before = scan_lanes(own, running);
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
      uint value = kept[4u * k + j];
      bool start = ((bits >> j) & 1u) != 0u;
      uint exclusive = start ? 0u : before.sum;
      if (!start && before.starts == 0u) open_bits |= 1u << (4u * k + j);
      before = joined(before, Total(value, start ? 1u : 0u));
      kept[4u * k + j] = inclusive_mode != 0u ? exclusive + value : exclusive;
    }
  }
  kept_bits = open_bits;
  return running;
}

void add_to_kept(uint carry) {
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
    [[unroll]] for (uint j = 0u; j < 4u; ++j)
      if (!segmented() || ((kept_bits >> (4u * k + j)) & 1u) != 0u) kept[4u * k + j] += carry;
  }
}

#ifndef SCAN_WITHOUT_RUNS
// One lane's run of neighbouring rows.
Total run_before;  // inside the subgroup

uint run_first() { return (gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID) * rows_per_thread; }
uint run_end() { return min(run_first() + rows_per_thread, tile_rows); }

// The span of row `i`, given that of row `i - 1`.
uint next_place(uint place, uint i) {
  if (row_mode == 0u) return 0u;
  if (!tile_spans_shared) return locate(i);
  return place + 1u < tile_spans && span_start[place + 1u] <= i ? place + 1u : place;
}

Total scan_run() {
  Total own = Total(0u, 0u);
  uint place = run_first() < run_end() ? locate(run_first()) : 0u;
  for (uint i = run_first(); i < run_end(); ++i) {
    place = next_place(place, i);
    own = joined(own, Total(load_value(i, place), load_start(i, place) ? 1u : 0u));
  }
  Total running = Total(0u, 0u);
  run_before = scan_lanes(own, running);
  return running;
}

void store_run(uint carry) {
  uint sum = run_before.sum + (run_before.starts != 0u ? 0u : carry);
  uint place = run_first() < run_end() ? locate(run_first()) : 0u;
  for (uint i = run_first(); i < run_end(); ++i) {
    place = next_place(place, i);
    uint value = load_value(i, place);
    if (load_start(i, place)) sum = 0u;
    store_row(target, i, place, inclusive_mode != 0u ? sum + value : sum);
    sum += value;
  }
}

#endif

// Loads the current tile's rows and scans them inside each subgroup; returns the subgroup's total.
Total scan_tile_rows() {
#ifndef SCAN_WITHOUT_RUNS
  if (lane_runs != 0u) return scan_run();
#endif
  if (wide_access != 0u && tile_wide)
    load_kept_quads();
  else
    load_kept_rows();
  return scan_kept();
}

// `carry`: the sum before the subgroup, which its rows before the first start take up.
void store_tile_rows(uint carry) {
#ifndef SCAN_WITHOUT_RUNS
  if (lane_runs != 0u) {
    store_run(carry);
    return;
  }
#endif
  add_to_kept(carry);
  if (wide_access != 0u && tile_wide)
    store_kept_quads();
  else
    store_kept_rows();
}

shared uint64_t subgroup_totals[gl_WorkGroupSize.x];

// Replaces each subgroup's total by what comes before it in the workgroup; returns the workgroup's total. Called by one subgroup.
Total scan_subgroups() {
  Total running = Total(0u, 0u);
  for (uint first = 0u; first < gl_NumSubgroups; first += gl_SubgroupSize) {
    uint subgroup = first + gl_SubgroupInvocationID;
    Total own = subgroup < gl_NumSubgroups ? unpack_total(subgroup_totals[subgroup]) : Total(0u, 0u);
    Total before = scan_lanes(own, running);
    if (subgroup < gl_NumSubgroups) subgroup_totals[subgroup] = pack_total(before);
  }
  return running;
}

#endif
