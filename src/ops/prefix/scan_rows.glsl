// Prefix sums inside one tile, shared by the scan kernels: rows are scanned by each subgroup, subgroups by the first
// one.
//
// Each subgroup takes neighbouring rows of the tile. Its lanes take turns, four rows each where they can, so that
// accesses join; with VARIANT_runs each lane takes a run of neighbouring rows, which suits CPUs.
#ifndef TESSERA_SCAN_ROWS_GLSL
#define TESSERA_SCAN_ROWS_GLSL

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { ScanRecord at; };
#define record Record(push.arguments).at
#define COLUMNS 4
#include "rows.glsl"

layout(constant_id = 12) const uint inclusive_mode = 0u;

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

#ifdef VARIANT_runs

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

Total scan_tile_rows() {
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

void store_tile_rows(uint carry) {
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

#else

const uint quads_per_thread = rows_per_thread / 4u;
uint thread_quad(uint k) {
  return (gl_SubgroupID * quads_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

// One bit for each row of this invocation: first where a segment starts; once scanned where what comes before the
// subgroup is still to be added.
uint row_bits;
uint quad_bits(uint k) { return (row_bits >> (4u * k)) & 15u; }

// Four neighbouring rows, with what the subgroup's earlier rows add. Replaces their bits.
uvec4 scan_quad(uint k, uvec4 values, inout Total running) {
  uint starts = quad_bits(k), open_bits = 0u;
  Total own = Total(0u, 0u);
  UNROLL for (uint j = 0u; j < 4u; ++j) own = joined(own, Total(values[j], (starts >> j) & 1u));
  Total before = scan_lanes(own, running);
  uvec4 results;
  UNROLL for (uint j = 0u; j < 4u; ++j) {
    bool start = ((starts >> j) & 1u) != 0u;
    uint exclusive = start ? 0u : before.sum;
    if (!start && before.starts == 0u) open_bits |= 1u << j;
    before = joined(before, Total(values[j], start ? 1u : 0u));
    results[j] = inclusive_mode != 0u ? exclusive + values[j] : exclusive;
  }
  row_bits = row_bits & ~(15u << (4u * k)) | (open_bits << (4u * k));
  return results;
}

uvec4 with_carry(uint k, uvec4 results, uint carry) {
  if (!segmented()) return results + carry;
  uint bits = quad_bits(k);
  return results + carry * uvec4(bits & 1u, (bits >> 1) & 1u, (bits >> 2) & 1u, bits >> 3);
}

// Where columns can be accessed by quads they stay in registers.
uvec4 kept[quads_per_thread];

Total scan_kept_quads() {
  row_bits = 0u;
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) kept[k] = load_quad(source, thread_quad(k));
  if (may_miss(source)) {
    UNROLL for (uint k = 0u; k < quads_per_thread; ++k)
      kept[k] *= uvec4(are_observed(source, kept[k], thread_quad(k)));
  }
  if (segmented()) {
    UNROLL for (uint k = 0u; k < quads_per_thread; ++k) {
      uvec4 starts = uvec4(notEqual(load_quad(segment_flags, thread_quad(k)), uvec4(0u)));
      row_bits |= (starts.x | (starts.y << 1) | (starts.z << 2) | (starts.w << 3)) << (4u * k);
    }
  }
  Total running = Total(0u, 0u);
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) kept[k] = scan_quad(k, kept[k], running);
  return running;
}

void store_kept_quads(uint carry) {
  UNROLL for (uint k = 0u; k < quads_per_thread; ++k) store_quad(target, thread_quad(k), with_carry(k, kept[k], carry));
}

// Elsewhere neighbouring lanes take neighbouring rows, which are read again once what comes before them is known:
// keeping them would cost the registers or shared memory that other tiles need. Loads of a batch finish before its
// stores.
const uint batch = 4u;

uint turn_row(uint k) {
  return (gl_SubgroupID * rows_per_thread + k) * gl_SubgroupSize + gl_SubgroupInvocationID;
}

void load_turns(uint first, out Total rows[batch], out uint places[batch]) {
  UNROLL for (uint k = 0u; k < batch; ++k) {
    uint i = turn_row(first + k);
    rows[k] = Total(0u, 0u);
    places[k] = 0u;
    if (i < tile_rows) {
      places[k] = locate(i);
      rows[k] = Total(load_value(i, places[k]), uint(load_start(i, places[k])));
    }
  }
}

Total scan_turns() {
  Total running = Total(0u, 0u);
  Total rows[batch];
  uint places[batch];
  [[dont_unroll]] for (uint first = 0u; first < rows_per_thread; first += batch) {
    load_turns(first, rows, places);
    UNROLL for (uint k = 0u; k < batch; ++k) {
      if (segmented())
        scan_lanes(rows[k], running);
      else
        running.sum += rows[k].sum;
    }
  }
  if (!segmented()) running.sum = subgroupAdd(running.sum);
  return running;
}

void store_turns(uint carry) {
  Total running = Total(carry, 0u);
  Total rows[batch];
  uint places[batch];
  [[dont_unroll]] for (uint first = 0u; first < rows_per_thread; first += batch) {
    load_turns(first, rows, places);
    UNROLL for (uint k = 0u; k < batch; ++k) {
      Total before = scan_lanes(rows[k], running);
      uint exclusive = rows[k].starts != 0u ? 0u : before.sum;
      uint i = turn_row(first + k);
      if (i < tile_rows) store_row(target, i, places[k], inclusive_mode != 0u ? exclusive + rows[k].sum : exclusive);
    }
  }
}

// Loads the current tile's rows and scans them inside each subgroup; returns the subgroup's total.
Total scan_tile_rows() {
  if (wide_access != 0u && row_mode == 0u && tile_wide) return scan_kept_quads();
  return scan_turns();
}

// `carry`: the sum before the subgroup, which its rows before the first start take up.
void store_tile_rows(uint carry) {
  if (wide_access != 0u && row_mode == 0u && tile_wide)
    store_kept_quads(carry);
  else
    store_turns(carry);
}

#endif

shared uint64_t subgroup_totals[gl_WorkGroupSize.x];

// Replaces each subgroup's total by what comes before it in the workgroup; returns the workgroup's total. Called by one
// subgroup.
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
