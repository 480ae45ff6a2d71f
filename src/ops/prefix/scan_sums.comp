// Multi-pass scan, between the passes over rows: each workgroup replaces a block of totals by what comes before each of
// them in the block, and hands the block's total to the next level.
#version 460
#include "addressed.glsl"
#include "ops/prefix/scan_record.h"
#include "ops/prefix/scan_rows.glsl"

layout(constant_id = 13) const uint level = 0u;
layout(constant_id = 14) const uint last_level = 0u;

uint total_count() {
  uint count = tile_count();
  for (uint k = 0u; k < level; ++k) count = (count - 1u) / tile_capacity + 1u;
  return count;
}

void main() {
  uint count = total_count();
  uint block = workgroup_index();
  if (block > (count - 1u) / tile_capacity) return;
  Longs sums = Longs(record.sums[level]);
  uint first = block * tile_capacity + (gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID) * rows_per_thread;
  uint rows = min(rows_per_thread, count - min(first, count));
  Total own = Total(0u, 0u);
  for (uint k = 0u; k < rows; ++k) own = joined(own, unpack_total(READ_IN(Longs, sums, first + k)));
  Total running = Total(0u, 0u);
  Total before = scan_lanes(own, running);
  if (gl_SubgroupInvocationID == 0u) subgroup_totals[gl_SubgroupID] = pack_total(running);
  barrier();
  if (gl_SubgroupID == 0u) {
    Total total = scan_subgroups();
    if (level < last_level && subgroupElect()) WRITE_AT(Longs, record.sums[level + 1u], block) = pack_total(total);
  }
  barrier();
  before = joined(unpack_total(subgroup_totals[gl_SubgroupID]), before);
  for (uint k = 0u; k < rows; ++k) {
    Total next = unpack_total(READ_IN(Longs, sums, first + k));
    WRITE_IN(Longs, sums, first + k) = pack_total(before);
    before = joined(before, next);
  }
}
