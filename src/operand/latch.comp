// Latches an operation's row count when an operand's length lives on the device: the smallest of its count words and the capacity, or 0
// under a false condition; and writes the workgroup counts that follow from it.
#version 460
#include "addressed.glsl"
#include "glsl/rows_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { LatchRecord at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) writeonly buffer Latched { LatchedRows at; };
#define Latched_bytes 16u

// Tiles that hold the first `rows` rows.
uint tiles_of(uint64_t rows) {
  Record record = Record(push.arguments);
  if (rows == uint64_t(0)) return 0u;
  uint64_t tile_rows = uint64_t(record.at.tile_rows);
  if (record.at.row_mode != 0u) return uint((rows + tile_rows - uint64_t(1)) / tile_rows);
  uint low = 0u;
  for (uint count = record.at.spans; count > 1u;) {
    uint half_count = count >> 1;
    bool right = READ_AT(Longs, record.at.first_row, low + half_count) < rows;
    low += right ? half_count : 0u;
    count = right ? count - half_count : half_count;
  }
  uint64_t rows_in_span = rows - READ_AT(Longs, record.at.first_row, low);
  return READ_AT(Words, record.at.first_tile, low) + uint((rows_in_span + tile_rows - uint64_t(1)) / tile_rows);
}

uvec3 folded(uint count, uint largest) {
  if (count == 0u) return uvec3(0u, 1u, 1u);
  uint x = min(count, largest);
  uint y = min((count - 1u) / x + 1u, largest);
  uint z = ((count - 1u) / x + 1u - 1u) / y + 1u;
  return uvec3(x, y, z);
}

void main() {
  if (gl_LocalInvocationID.x != 0u) return;
  Record record = Record(push.arguments);
  uint64_t rows = record.at.rows;
  for (uint i = 0u; i < record.at.count_words; ++i)
    rows = min(rows, uint64_t(READ_AT(Words, slot_address(record.at.counts[i]), 0)));
  if (record.at.condition != uint64_t(0) && READ_AT(Words, slot_address(record.at.condition), 0) == 0u) rows = uint64_t(0);
  uint tiles = tiles_of(rows);
  WRITE_OF(Latched, record.at.latched).rows = rows;
  WRITE_OF(Latched, record.at.latched).tiles = tiles;
  for (uint i = 0u; i < record.at.dispatches; ++i) {
    uint groups = tiles == 0u ? 0u : min((tiles - 1u) / record.at.tiles_per_group[i] + 1u, record.at.largest_groups[i]);
    uvec3 counts = folded(groups, record.at.largest_group_count);
    for (uint k = 0u; k < 3u; ++k) WRITE_AT(Words, record.at.indirect, 3u * i + k) = counts[k];
  }
}
