// Single-pass scan: each workgroup takes the next tile in line, publishes its total, looks back over earlier tiles for
// what comes before it, and writes its rows.
//
// A status word carries state, start bit and sum together, so no order between words is needed: relaxed atomics write
// it, and a coherent volatile reference reads it. No memory barrier and no ordered atomic stands where not every
// subgroup passes. Nobody promises that another workgroup makes progress: polling is bounded, then the waiting subgroup
// reduces the missing tile itself.
#version 460
#include "addressed.glsl"
#extension GL_EXT_shader_atomic_int64 : require
#include "ops/prefix/scan_record.h"
#include "ops/prefix/scan_rows.glsl"

layout(constant_id = 13) const uint poll_limit = 64u;

layout(buffer_reference, scalar, buffer_reference_align = 8) coherent volatile buffer Status {
  uint next_tile;
  uint unused;
  uint64_t tile[];
};
#ifdef TESSERA_CHECKED_ACCESS
layout(buffer_reference, scalar, buffer_reference_align = 8) coherent volatile buffer StatusWords { uint64_t at[]; };
#define StatusWords_bytes 8u
#define TILE_STATUS(index) WRITE_IN(StatusWords, status, (index) + 1u)
#define NEXT_TILE WRITE_IN(Words, status, 0)
#else
#define TILE_STATUS(index) status.tile[index]
#define NEXT_TILE status.next_tile
#endif

// `aggregate`: the tile's own total. `complete`: the sum that a following tile adds, whatever comes before.
const uint state_missing = 0u, state_aggregate = 1u, state_complete = 2u;
uint64_t pack_status(uint state, Total total) { return (uint64_t(state) << 62) | pack_total(total); }
uint state_of(uint64_t word) { return uint(word >> 62); }

shared uint shared_tile;
shared uint shared_carry;

// The total of a tile that is not this workgroup's; called by one whole subgroup.
Total reduce_tile(uint tile) {
  open_tile_in_subgroup(tile);
  Total running = Total(0u, 0u);
  [[dont_unroll]] for (uint first = 0u; first < tile_rows; first += gl_SubgroupSize) {
    uint i = first + gl_SubgroupInvocationID;
    Total own = Total(0u, 0u);
    if (i < tile_rows) {
      uint place = locate(i);
      own = Total(load_value(i, place), load_start(i, place) ? 1u : 0u);
    }
    if (segmented())
      scan_lanes(own, running);
    else
      running.sum += own.sum;
  }
  if (!segmented()) running.sum = subgroupAdd(running.sum);
  return running;
}

// The same, with this workgroup's tile current again afterwards.
Total reduce_missing_tile(uint tile) {
  uint64_t first_row = tile_first_row;
  uint64_t bases[COLUMNS] = column_base;
  uint strides[COLUMNS] = column_stride;
  uint rows = tile_rows, spans = tile_spans, first_span = tile_first_span;
  bool wide = tile_wide, spans_shared = tile_spans_shared;
  Total total = reduce_tile(tile);
  tile_first_row = first_row;
  column_base = bases;
  column_stride = strides;
  tile_rows = rows;
  tile_spans = spans;
  tile_first_span = first_span;
  tile_wide = wide;
  tile_spans_shared = spans_shared;
  return total;
}

// The sum that this tile's head takes over from the tiles before; called by one whole subgroup.
uint look_back(uint tile) {
  Status status = Status(record.status);
  uint sum = 0u, polls = 0u, distance = 1u + gl_SubgroupInvocationID;
  while (true) {
    uint64_t word = distance <= tile ? TILE_STATUS(tile - distance) : pack_status(state_complete, Total(0u, 0u));
    uvec4 complete = subgroupBallot(state_of(word) == state_complete);
    uint nearest = any_lane(complete) ? subgroupBallotFindLSB(complete) : gl_SubgroupSize;
    uvec4 missing = subgroupBallot(state_of(word) == state_missing && gl_SubgroupInvocationID < nearest);
    if (any_lane(missing)) {
      if (polls++ >= poll_limit) {
        uint late = tile - subgroupBroadcast(distance, subgroupBallotFindLSB(missing));
        Total total = reduce_missing_tile(late);
        uint64_t found = pack_status(total.starts != 0u ? state_complete : state_aggregate, total);
        if (subgroupElect()) atomicCompSwap(TILE_STATUS(late), uint64_t(0), found);
        polls = 0u;
      }
      continue;
    }
    sum += subgroupAdd(gl_SubgroupInvocationID <= nearest ? uint(word) : 0u);
    if (nearest < gl_SubgroupSize) return sum;
    distance += gl_SubgroupSize;
  }
}

void main() {
  Status status = Status(record.status);
  if (gl_LocalInvocationID.x == 0u) shared_tile = atomicAdd(NEXT_TILE, 1u);
  barrier();
  uint tile = shared_tile;
  if (!open_tile(tile)) return;
  Total own = scan_tile_rows();
  if (gl_SubgroupInvocationID == 0u) subgroup_totals[gl_SubgroupID] = pack_total(own);
  barrier();
  if (gl_SubgroupID == 0u) {
    Total total = scan_subgroups();
    bool complete = tile == 0u || total.starts != 0u;
    if (subgroupElect()) atomicExchange(TILE_STATUS(tile), pack_status(complete ? state_complete : state_aggregate, total));
    uint earlier = look_back(tile);
    if (subgroupElect()) {
      if (!complete) atomicExchange(TILE_STATUS(tile), pack_status(state_complete, Total(earlier + total.sum, 0u)));
      shared_carry = earlier;
    }
  }
  barrier();
  Total before = unpack_total(subgroup_totals[gl_SubgroupID]);
  store_tile_rows(before.starts != 0u ? before.sum : shared_carry + before.sum);
}
