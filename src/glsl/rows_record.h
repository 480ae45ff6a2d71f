// Records that kernels and host share: how the rows of an operation are cut into tiles and found in chunks.
// 8-byte fields first; sizes are checked below and by a test that sends a record through a kernel.
#ifndef TESSERA_GLSL_ROWS_RECORD_H
#define TESSERA_GLSL_ROWS_RECORD_H

#ifdef __cplusplus
#include <cstdint>
namespace tessera::detail {
using uint = std::uint32_t;
using std::uint64_t;
#define TESSERA_CONSTANT(type, name, value) inline constexpr type name = value
#else
#define TESSERA_CONSTANT(type, name, value) const type name = value
#endif

// Bits of a column's specialisation constant.
TESSERA_CONSTANT(uint, column_format_mask, 0xffu);   // tessera::Format
TESSERA_CONSTANT(uint, column_packed, 0x100u);       // stride equals the row's size
TESSERA_CONSTANT(uint, column_strides, 0x200u);      // chunks differ in stride
TESSERA_CONSTANT(uint, column_compare, 0x400u);      // compare with the raw sentinel
TESSERA_CONSTANT(uint, column_finite, 0x800u);       // floats that are not finite are missing
TESSERA_CONSTANT(uint, column_calibrate, 0x1000u);   // raw * scale + offset
TESSERA_CONSTANT(uint, column_validity, 0x2000u);    // the next column holds this one's validity
TESSERA_CONSTANT(uint, column_present, 0x4000u);     // without it the column is not there
TESSERA_CONSTANT(uint, column_entries, 0x8000u);     // `slot` is the chunk addresses themselves
TESSERA_CONSTANT(uint, column_one_span, 0x10000u);   // on every column: all rows are one span
TESSERA_CONSTANT(uint, column_bits, 0x20000u);       // a bit a row, from the least significant of a byte up

// One view as a kernel reaches it.
struct ColumnRecord {
  uint64_t slot;       // in the binding block: address of the table of chunk addresses
  uint64_t strides;    // one uint per chunk, with column_strides
  uint64_t no_data;    // raw sentinel bits
  uint stride;         // bytes between rows
  float scale;
  float offset;
  uint first_chunk;    // of the first row
  uint64_t first_row;  // in that chunk
};

// What the latch of an operation writes when row counts live on the device.
struct LatchedRows {
  uint64_t rows;
  uint tiles;
  uint reserved;
};

// The rows of an operation: spans in which every column stays inside one chunk.
struct RowsRecord {
  uint64_t tile_span;    // one uint per tile: its span; across spans its first span, and one more for the end
  uint64_t first_tile;   // one uint per span, for tiles in spans
  uint64_t first_row;    // one uint64 per span and the total
  uint64_t placements;   // per column, per span: chunk and row in it, as two uints
  uint64_t latched;      // LatchedRows, or 0: the counts below hold
  uint64_t rows;
  uint spans;
  uint tiles;
  uint tile_rows;
  uint reserved;
};

// Arguments of the kernel that latches row counts.
struct LatchRecord {
  uint64_t counts[8];      // slots of one-chunk tables: uint32 words
  uint64_t condition;      // slot of the enclosing condition's word, or 0
  uint64_t latched;        // LatchedRows
  uint64_t indirect;       // three words per dispatch
  uint64_t first_tile;
  uint64_t first_row;
  uint64_t rows;           // capacity
  uint spans;
  uint count_words;
  uint tile_rows;
  uint row_mode;
  uint dispatches;
  uint largest_group_count;
  uint tiles_per_group[4];   // per dispatch
  uint largest_groups[4];    // per dispatch; beyond it workgroups take several turns
};

#ifdef __cplusplus
static_assert(sizeof(ColumnRecord) == 48 && sizeof(LatchedRows) == 16 && sizeof(RowsRecord) == 64);
static_assert(sizeof(LatchRecord) == 168);
}  // namespace tessera::detail
#endif
#undef TESSERA_CONSTANT
#endif
