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

bool may_miss() { return (column_flags(source) & (column_compare | column_validity)) != 0u; }
// A missing row counts as 0.
uint load_value(uint i, uint place) {
  uint bits = load_row(source, i, place);
  return may_miss() && !is_observed(source, bits, i, place) ? 0u : bits;
}
bool load_start(uint i, uint place) { return segmented() && load_row(segment_flags, i, place) != 0u; }

// Rows of this invocation once scanned: what its subgroup's earlier rows add is in; a bit says whether what comes before the subgroup is
// still to be added. Before that: raw values, and a bit where a segment starts.
uint kept[rows_per_thread];
uint kept_bits;

uint kept_row(uint k) {
  return (gl_SubgroupID * rows_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_kept_rows() {
  kept_bits = 0u;
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = kept_row(k);
    kept[k] = 0u;
    if (i < tile_rows) {
      uint place = locate(i);
      kept[k] = load_value(i, place);
      if (load_start(i, place)) kept_bits |= 1u << k;
    }
  }
}

Total scan_kept_rows() {
  Total running = Total(0u, 0u);
  uint open_bits = 0u;
  for (uint k = 0u; k < rows_per_thread; ++k) {
    Total own = Total(kept[k], (kept_bits >> k) & 1u);
    Total before = scan_lanes(own, running);
    bool start = own.starts != 0u;
    uint exclusive = start ? 0u : before.sum;
    if (!start && before.starts == 0u) open_bits |= 1u << k;
    kept[k] = inclusive_mode != 0u ? exclusive + own.sum : exclusive;
  }
  kept_bits = open_bits;
  return running;
}

void store_kept_rows(uint carry) {
  for (uint k = 0u; k < rows_per_thread; ++k) {
    uint i = kept_row(k);
    uint added = segmented() && ((kept_bits >> k) & 1u) == 0u ? 0u : carry;
    if (i < tile_rows) store_row(target, i, locate(i), kept[k] + added);
  }
}

// The same with four neighbouring rows a lane.
const uint quads_per_thread = rows_per_thread / 4u;

uint kept_quad(uint k) {
  return (gl_SubgroupID * quads_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_kept_quads() {
  kept_bits = 0u;
  for (uint k = 0u; k < quads_per_thread; ++k) {
    uint quad = kept_quad(k);
    uvec4 values = load_quad(source, quad);
    if (may_miss()) {
      bvec4 there = are_observed(source, values, quad);
      values = uvec4(there) * values;
    }
    if (segmented()) {
      uvec4 starts = uvec4(notEqual(load_quad(segment_flags, quad), uvec4(0u)));
      kept_bits |= (starts.x | (starts.y << 1) | (starts.z << 2) | (starts.w << 3)) << (4u * k);
    }
    [[unroll]] for (uint j = 0u; j < 4u; ++j) kept[4u * k + j] = values[j];
  }
}

Total scan_kept_quads() {
  Total running = Total(0u, 0u);
  uint open_bits = 0u;
  for (uint k = 0u; k < quads_per_thread; ++k) {
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

void store_kept_quads(uint carry) {
  for (uint k = 0u; k < quads_per_thread; ++k) {
    uvec4 results;
    [[unroll]] for (uint j = 0u; j < 4u; ++j) {
      bool open = !segmented() || ((kept_bits >> (4u * k + j)) & 1u) != 0u;
      results[j] = kept[4u * k + j] + (open ? carry : 0u);
    }
    store_quad(target, kept_quad(k), results);
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
  if (wide_access != 0u && tile_wide) {
    load_kept_quads();
    return scan_kept_quads();
  }
  load_kept_rows();
  return scan_kept_rows();
}

// `carry`: the sum before the subgroup, which its rows before the first start take up.
void store_tile_rows(uint carry) {
#ifndef SCAN_WITHOUT_RUNS
  if (lane_runs != 0u) {
    store_run(carry);
    return;
  }
#endif
  if (wide_access != 0u && tile_wide)
    store_kept_quads(carry);
  else
    store_kept_rows(carry);
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
