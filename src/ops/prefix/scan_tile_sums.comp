// Multi-pass scan, first pass: the total of each tile; one workgroup a tile.
// variants: turns runs
#version 460
#include "addressed.glsl"
#include "ops/prefix/scan_record.h"
#include "ops/prefix/scan_rows.glsl"

void main() {
  uint tile = workgroup_index();
  if (!open_tile(tile)) return;
  Total own = scan_tile_rows();
  if (gl_SubgroupInvocationID == 0u) subgroup_totals[gl_SubgroupID] = pack_total(own);
  barrier();
  if (gl_SubgroupID != 0u) return;
  Total total = scan_subgroups();
  if (subgroupElect()) WRITE_AT(Longs, record.sums[0], tile) = pack_total(total);
}
