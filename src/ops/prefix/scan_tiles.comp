// Multi-pass scan, last pass: scans each tile from the sum of what comes before it; one workgroup a tile. Without
// levels there is one tile.
// variants: turns runs
#version 460
#include "addressed.glsl"
#include "ops/prefix/scan_record.h"
#include "ops/prefix/scan_rows.glsl"

layout(constant_id = 13) const uint levels = 0u;
layout(constant_id = 14) const uint block_totals = 4096u;

uint carry_of(uint tile) {
  Total before = Total(0u, 0u);
  for (uint level = 0u; level < levels; ++level) {
    before = joined(unpack_total(READ_AT(Longs, record.sums[level], tile)), before);
    tile /= block_totals;
  }
  return before.sum;
}

void main() {
  uint tile = workgroup_index();
  if (!open_tile(tile)) return;
  Total own = scan_tile_rows();
  if (gl_SubgroupInvocationID == 0u) subgroup_totals[gl_SubgroupID] = pack_total(own);
  barrier();
  if (gl_SubgroupID == 0u) scan_subgroups();
  barrier();
  Total before = unpack_total(subgroup_totals[gl_SubgroupID]);
  store_tile_rows(before.starts != 0u ? before.sum : carry_of(tile) + before.sum);
}
