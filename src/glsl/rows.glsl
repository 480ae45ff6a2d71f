// Row-aligned columns over any partition: one tile of rows at a time, found through spans.
//
// Before including: COLUMNS, and a record type with `RowsRecord rows; ColumnRecord columns[COLUMNS];` first, reachable as
// `record`. A kernel opens a tile, then loads and stores rows by their 32-bit offset in it:
//
//   if (!open_tile(tile)) return;
//   uint place = locate(i);                    // which span holds the row (nothing to do but in row mode)
//   uint bits = load_row(column, i, place);    // widened to 32 bits
//
// With ROWS_OF_WORDS every column is of a 4-byte format and narrower ones cost no code. With ROWS_OF_ANY_TILE a tile has as many rows as the
// record says, and one of which rows are missing at its end stays wide: the kernel knows which of its quads are whole.
//
// Specialisation constants: 0 workgroup size, 1 rows per thread, 2 row mode, 3 wide access, 4 ... one per column.
// In span mode a tile lies inside one span, which a table names; where all rows are one span, nothing is looked up. In row mode (short
// spans) a tile is a fixed run of rows, the spans it touches are kept in shared memory, and each row is looked up there.
#ifndef TESSERA_ROWS_GLSL
#define TESSERA_ROWS_GLSL

#include "float_bits.glsl"

layout(constant_id = 1) const uint rows_per_thread = 16u;
layout(constant_id = 2) const uint row_mode = 0u;
layout(constant_id = 3) const uint wide_access = 1u;
layout(constant_id = 4) const uint column_flags_0 = 0u;
layout(constant_id = 5) const uint column_flags_1 = 0u;
layout(constant_id = 6) const uint column_flags_2 = 0u;
layout(constant_id = 7) const uint column_flags_3 = 0u;
layout(constant_id = 8) const uint column_flags_4 = 0u;
layout(constant_id = 9) const uint column_flags_5 = 0u;
layout(constant_id = 10) const uint column_flags_6 = 0u;
layout(constant_id = 11) const uint column_flags_7 = 0u;

// How neighbouring rows are read and written four at a time: as 16-byte vectors, which GPUs like best, or as 64-bit integers. A CPU's
// kernel walks its lanes for every scalar of an access, so that the widest scalar is the cheapest way to memory.
const uint access_by_longs = 2u;

#ifdef ROWS_OF_ANY_TILE
#define tile_capacity record.rows.tile_rows
#else
const uint tile_capacity = gl_WorkGroupSize.x * rows_per_thread;
#endif

// tessera::Format
const uint format_uint32 = 0u, format_sint32 = 1u, format_float32 = 2u, format_uint8 = 5u, format_sint8 = 6u,
           format_uint16 = 7u, format_sint16 = 8u, format_uint64 = 9u, format_sint64 = 10u, format_float64 = 11u;

// A switch over constants: the column is one at every call once loops over columns are unrolled.
uint column_flags(uint column) {
  switch (column) {
    case 0u: return column_flags_0;
    case 1u: return column_flags_1;
    case 2u: return column_flags_2;
    case 3u: return column_flags_3;
    case 4u: return column_flags_4;
    case 5u: return column_flags_5;
    case 6u: return column_flags_6;
    default: return column_flags_7;
  }
}
uint column_format(uint column) { return column_flags(column) & column_format_mask; }
bool column_has(uint column, uint flag) { return (column_flags(column) & flag) != 0u; }
bool column_is_float(uint column) {
  return column_format(column) == format_float32 || column_format(column) == format_float64;
}
#ifdef ROWS_OF_WORDS
uint column_row_bytes(uint column) { return 4u; }
#else
uint column_row_bytes(uint column) {
  uint format = column_format(column);
  if (format == format_uint8 || format == format_sint8) return 1u;
  if (format == format_uint16 || format == format_sint16) return 2u;
  return format == format_uint64 || format == format_sint64 || format == format_float64 ? 8u : 4u;
}
#endif
// Whether rows of a column may be missing.
bool may_miss(uint column) {
  return (column_flags(column) & (column_compare | column_finite | column_validity)) != 0u;
}

const uint shared_spans = 96u;
const uint group_rows = 32u, shared_groups = 256u;
shared uint span_start[shared_spans + 1u];
shared uint group_span[shared_groups];  // the span of every 32nd row
shared uint64_t span_base[COLUMNS][shared_spans];

uint64_t tile_first_row;          // logical
uint tile_rows;                   // rows of this tile that exist
bool tile_wide;                   // the columns allow 16-byte access, and the tile is full
uint tile_spans;                  // row mode: spans it touches
uint tile_first_span;
bool tile_spans_shared;           // row mode: they lie in shared memory, not only in the tables
uint64_t column_base[COLUMNS];    // span mode: address of the tile's first row
uint column_stride[COLUMNS];
// The record's fields that rows need, read once a tile: stores may alias for the compiler, and CPUs read them once a lane.
uint64_t column_no_data[COLUMNS];
float column_scale[COLUMNS];
float column_offset[COLUMNS];

uint tile_count() {
  return record.rows.latched != uint64_t(0) ? READ_AT(Words, record.rows.latched, 2) : record.rows.tiles;
}
uint64_t row_count() { return record.rows.latched != uint64_t(0) ? READ_AT(Longs, record.rows.latched, 0) : record.rows.rows; }

uint stride_of(uint column, uint chunk) {
  if (column_has(column, column_packed)) return column_row_bytes(column);
  if (column_has(column, column_strides)) return READ_AT(Words, record.columns[column].strides, chunk);
  return record.columns[column].stride;
}

uint64_t chunk_address(uint column, uint chunk) {
  uint64_t slot = record.columns[column].slot;
  return READ_AT(Longs, column_has(column, column_entries) ? slot : READ_AT(Longs, slot, 0), chunk);
}

// Where rows of a chunk are counted from: its address, or that of its first bit. A column of bits is addressed in bits throughout.
uint64_t chunk_origin(uint column, uint chunk) {
  uint64_t address = chunk_address(column, chunk);
  return column_has(column, column_bits) ? address << 3 : address;
}

bool in_one_span() {
  return ((column_flags_0 | column_flags_1 | column_flags_2 | column_flags_3 | column_flags_4 | column_flags_5 | column_flags_6 |
           column_flags_7) & column_one_span) != 0u;
}

// Address of the row `row` places after the start of a span; `row` may be negative modulo 2^64.
uint64_t span_address(uint column, uint span, uint64_t row) {
  uvec2 place = READ_AT(WordPairs, record.rows.placements, column * record.rows.spans + span);
  return chunk_origin(column, place.x) + (uint64_t(place.y) + row) * uint64_t(stride_of(column, place.x));
}

bool aligned_for_quads(uint column) {
  if (column_has(column, column_bits)) return true;
  uint mask = column_row_bytes(column) == 4u ? 15u : column_row_bytes(column) * 4u - 1u;
  return (uint(column_base[column]) & mask) == 0u;
}

void open_one_span_tile(uint tile) {
  tile_first_row = uint64_t(tile) * uint64_t(tile_capacity);
  tile_rows = uint(min(uint64_t(tile_capacity), record.rows.rows - tile_first_row));
  tile_wide = wide_access != 0u;
  UNROLL for (uint column = 0u; column < COLUMNS; ++column) {
    if (!column_has(column, column_present)) continue;
    column_stride[column] = stride_of(column, record.columns[column].first_chunk);
    column_base[column] = chunk_origin(column, record.columns[column].first_chunk) +
                          (record.columns[column].first_row + tile_first_row) * uint64_t(column_stride[column]);
    tile_wide = tile_wide && column_has(column, column_packed) && column_row_bytes(column) != 8u &&
                aligned_for_quads(column);
  }
}

void open_span_tile(uint tile) {
  if (in_one_span()) {
    open_one_span_tile(tile);
    return;
  }
  uint span = READ_AT(Words, record.rows.tile_span, tile);
  uint64_t span_first = READ_AT(Longs, record.rows.first_row, span);
  uint span_rows = uint(READ_AT(Longs, record.rows.first_row, span + 1u) - span_first);
  uint row = (tile - READ_AT(Words, record.rows.first_tile, span)) * tile_capacity;
  tile_first_row = span_first + uint64_t(row);
  tile_rows = min(tile_capacity, span_rows - row);
  tile_wide = wide_access != 0u;
  UNROLL for (uint column = 0u; column < COLUMNS; ++column) {
    if (!column_has(column, column_present)) continue;
    column_base[column] = span_address(column, span, uint64_t(row));
    column_stride[column] = column_has(column, column_strides)
        ? stride_of(column, READ_AT(WordPairs, record.rows.placements, column * record.rows.spans + span).x)
        : stride_of(column, 0u);
    tile_wide = tile_wide && column_has(column, column_packed) && column_row_bytes(column) != 8u &&
                aligned_for_quads(column);
  }
}

void place_row_tile(uint tile) {
  tile_first_row = uint64_t(tile) * uint64_t(tile_capacity);
  tile_rows = uint(min(uint64_t(tile_capacity), record.rows.rows - tile_first_row));
  tile_wide = false;
  tile_first_span = READ_AT(Words, record.rows.tile_span, tile);
  uint last_span = min(READ_AT(Words, record.rows.tile_span, tile + 1u), record.rows.spans - 1u);
  tile_spans = last_span - tile_first_span + 1u;
  UNROLL for (uint column = 0u; column < COLUMNS; ++column) column_stride[column] = stride_of(column, 0u);
  tile_spans_shared = false;
}

uint search_shared_spans(uint i) {
  uint low = 0u;
  for (uint count = min(tile_spans, shared_spans); count > 1u;) {
    uint half_count = count >> 1;
    bool right = span_start[low + half_count] <= i;
    low += right ? half_count : 0u;
    count = right ? count - half_count : half_count;
  }
  return low;
}

// For tiles that touch more spans than shared memory holds.
uint search_spans(uint i) {
  uint low = 0u;
  for (uint count = tile_spans; count > 1u;) {
    uint half_count = count >> 1;
    bool right = READ_AT(Longs, record.rows.first_row, tile_first_span + low + half_count) <= tile_first_row + uint64_t(i);
    low += right ? half_count : 0u;
    count = right ? count - half_count : half_count;
  }
  return low;
}

void open_row_tile(uint tile) {
  place_row_tile(tile);
  tile_spans_shared = tile_spans <= shared_spans;
  barrier();  // the last tile's rows are done with the shared spans
  for (uint i = gl_LocalInvocationID.x; i < min(tile_spans, shared_spans); i += gl_WorkGroupSize.x) {
    uint span = tile_first_span + i;
    uint64_t span_first = READ_AT(Longs, record.rows.first_row, span);
    span_start[i] = span_first <= tile_first_row ? 0u : uint(min(span_first - tile_first_row, uint64_t(tile_capacity)));
    UNROLL for (uint column = 0u; column < COLUMNS; ++column)
      if (column_has(column, column_present))
        span_base[column][i] = span_address(column, span, tile_first_row - span_first);
  }
  if (gl_LocalInvocationID.x == 0u && tile_spans <= shared_spans) span_start[tile_spans] = 0xffffffffu;
  barrier();
  for (uint group = gl_LocalInvocationID.x; group < shared_groups; group += gl_WorkGroupSize.x)
    group_span[group] = search_shared_spans(group * group_rows);
  barrier();
}

void clamp_tile() {
  if (record.rows.latched != uint64_t(0)) {
    uint64_t rows = row_count();
    uint64_t left = rows > tile_first_row ? rows - tile_first_row : uint64_t(0);
    tile_rows = uint(min(uint64_t(tile_rows), left));
  }
#ifndef ROWS_OF_ANY_TILE
  tile_wide = tile_wide && tile_rows == tile_capacity;
#endif
}

void open_columns() {
  UNROLL for (uint column = 0u; column < COLUMNS; ++column) {
    if (column_has(column, column_compare)) column_no_data[column] = record.columns[column].no_data;
    if (!column_has(column, column_calibrate)) continue;
    column_scale[column] = record.columns[column].scale;
    column_offset[column] = record.columns[column].offset;
  }
}

// Makes a tile current; all invocations of the workgroup call it. False beyond the rows that exist.
bool open_tile(uint tile) {
  if (tile >= tile_count()) return false;
  if (row_mode != 0u)
    open_row_tile(tile);
  else
    open_span_tile(tile);
  clamp_tile();
  open_columns();
  return true;
}

// The same for one subgroup while the others keep theirs: no barrier, no shared memory. The tile exists.
void open_tile_in_subgroup(uint tile) {
  if (row_mode != 0u)
    place_row_tile(tile);
  else
    open_span_tile(tile);
  clamp_tile();
}

// The span of a row, as an index for the accessors below.
uint locate(uint i) {
  if (row_mode == 0u) return 0u;
  if (tile_spans_shared && tile_capacity <= group_rows * shared_groups) {
    uint span = group_span[i / group_rows];
    while (span_start[span + 1u] <= i) ++span;
    return span;
  }
  return tile_spans_shared ? search_shared_spans(i) : search_spans(i);
}

uint64_t row_address(uint column, uint i, uint place) {
  uint64_t base;
  if (row_mode == 0u) {
    base = column_base[column];
  } else if (tile_spans_shared) {
    base = span_base[column][place];
  } else {
    uint span = tile_first_span + place;
    base = span_address(column, span, tile_first_row - READ_AT(Longs, record.rows.first_row, span));
  }
  return base + uint64_t(i) * uint64_t(column_stride[column]);
}

#ifdef TESSERA_CHECKED_ACCESS
// Each column keeps the range that served it last, so that a search comes once a chunk.
KnownRange column_range[COLUMNS];

uint64_t permitted_row(uint column, uint64_t address, uint bytes, uint access) {
  KnownRange known = column_range[column];
  uint64_t place = permitted_in(known, address, bytes, access);
  column_range[column] = known;
  return place;
}
#define ACCESS_ROW(type, column, address, index, access) \
  type(permitted_row(column, (address) + uint64_t(index) * uint64_t(type##_bytes), type##_bytes, access)).at[0]
#define READ_ROW(type, column, address, index) ACCESS_ROW(type, column, address, index, access_read)
#define WRITE_ROW(type, column, address, index) ACCESS_ROW(type, column, address, index, access_write)
#define READ_WORD_AROUND(column, address, bytes) Words(permitted_row(column, address, bytes, access_read) & ~uint64_t(3)).at[0]
#else
#define READ_ROW(type, column, address, index) type(address).at[index]
#define WRITE_ROW(type, column, address, index) type(address).at[index]
#define READ_WORD_AROUND(column, address, bytes) Words((address) & ~uint64_t(3)).at[0]
#endif

uint narrow_sample(uint format, uint word, uint bit) {
  if (format == format_uint8) return bitfieldExtract(word, int(bit), 8);
  if (format == format_sint8) return uint(bitfieldExtract(int(word), int(bit), 8));
  if (format == format_uint16) return bitfieldExtract(word, int(bit), 16);
  return uint(bitfieldExtract(int(word), int(bit), 16));
}

// `count` neighbouring bits, at most four, read with the aligned words around them.
uint load_bits(uint column, uint64_t first, uint count) {
  uint shift = uint(first) & 31u;
  uint bits = READ_WORD_AROUND(column, first >> 3, 1u) >> shift;
  if (count > 1u && shift + count > 32u)
    bits |= READ_WORD_AROUND(column, (first + uint64_t(count - 1u)) >> 3, 1u) << (32u - shift);
  return bitfieldExtract(bits, 0, int(count));
}

// A row of 8 bytes as it is stored.
uint64_t load_long(uint column, uint i, uint place) {
  uint64_t address = row_address(column, i, place);
  return (uint64_t(READ_ROW(Words, column, address, 1)) << 32) | uint64_t(READ_ROW(Words, column, address, 0));
}

// A row's bits widened to 32: narrow integers by value, float64 rounded to float32; 64-bit integers have their low word only. A narrow
// sample is read with the aligned word around it, which its own buffer always holds.
uint load_row(uint column, uint i, uint place) {
  uint64_t address = row_address(column, i, place);
  uint row_bytes = column_row_bytes(column);
  if (row_bytes == 4u) return READ_ROW(Words, column, address, 0);
#ifdef ROWS_OF_WORDS
  return 0u;
#else
  if (column_has(column, column_bits)) return load_bits(column, address, 1u);
  if (row_bytes == 8u) {
    uint low = READ_ROW(Words, column, address, 0);
    if (!column_is_float(column)) return low;
    return float32_from_float64(uvec2(low, READ_ROW(Words, column, address, 1)));
  }
  uint word = READ_WORD_AROUND(column, address, row_bytes);
  return narrow_sample(column_format(column), word, (uint(address) & 3u) * 8u);
#endif
}

void store_row(uint column, uint i, uint place, uint bits) { WRITE_ROW(Words, column, row_address(column, i, place), 0) = bits; }

uvec4 load_words(uint column, uint quad) {
  if (wide_access != access_by_longs) return READ_ROW(WordQuads, column, column_base[column], quad);
  uvec2 low = unpackUint2x32(READ_ROW(Longs, column, column_base[column], 2u * quad));
  uvec2 high = unpackUint2x32(READ_ROW(Longs, column, column_base[column], 2u * quad + 1u));
  return uvec4(low, high);
}

// Four neighbouring rows; only while `tile_wide`.
uvec4 load_quad(uint column, uint quad) {
  uint format = column_format(column);
  uint row_bytes = column_row_bytes(column);
  if (row_bytes == 4u) return load_words(column, quad);
#ifdef ROWS_OF_WORDS
  return uvec4(0u);
#else
  if (column_has(column, column_bits)) {
    uint bits = load_bits(column, column_base[column] + uint64_t(4u * quad), 4u);
    return uvec4(bits, bits >> 1, bits >> 2, bits >> 3) & 1u;
  }
  if (row_bytes == 2u) {
    uvec2 words = wide_access == access_by_longs
                      ? unpackUint2x32(READ_ROW(Longs, column, column_base[column], quad))
                      : READ_ROW(WordPairs, column, column_base[column], quad);
    return uvec4(narrow_sample(format, words.x, 0u), narrow_sample(format, words.x, 16u),
                 narrow_sample(format, words.y, 0u), narrow_sample(format, words.y, 16u));
  }
  uint word = READ_ROW(Words, column, column_base[column], quad);
  return uvec4(narrow_sample(format, word, 0u), narrow_sample(format, word, 8u), narrow_sample(format, word, 16u),
               narrow_sample(format, word, 24u));
#endif
}

void store_quad(uint column, uint quad, uvec4 bits) {
  if (wide_access == access_by_longs) {
    WRITE_ROW(Longs, column, column_base[column], 2u * quad) = packUint2x32(bits.xy);
    WRITE_ROW(Longs, column, column_base[column], 2u * quad + 1u) = packUint2x32(bits.zw);
  } else {
    WRITE_ROW(WordQuads, column, column_base[column], quad) = bits;
  }
}

// Whether the raw sentinel of a column differs from these (widened) bits.
bool differs_from_no_data(uint column, uint bits, uint i, uint place) {
  if (!column_has(column, column_compare)) return true;
  uint64_t sentinel = column_no_data[column];
  if (column_row_bytes(column) == 8u) {
    uint64_t raw = load_long(column, i, place);
    return raw != sentinel && !(column_is_float(column) && ((raw | sentinel) << 1) == uint64_t(0));
  }
  if (bits == uint(sentinel)) return false;
  // Both zeros match either zero.
  return column_format(column) != format_float32 || ((bits | uint(sentinel)) << 1) != 0u;
}

// Whether a row of an observed column is there, by mask, sentinel and finiteness of the raw value.
bool is_observed(uint column, uint bits, uint i, uint place) {
  bool there = differs_from_no_data(column, bits, i, place);
  if (column_has(column, column_finite) && column_is_float(column)) there = there && is_finite_bits(bits);
  if (column_has(column, column_validity)) there = there && load_row(column + 1u, i, place) != 0u;
  return there;
}

bvec4 are_observed(uint column, uvec4 bits, uint quad) {
  bvec4 there = bvec4(true);
  UNROLL for (uint k = 0u; k < 4u; ++k) {
    there[k] = differs_from_no_data(column, bits[k], 0u, 0u);
    if (column_has(column, column_finite) && column_is_float(column)) there[k] = there[k] && is_finite_bits(bits[k]);
  }
  if (column_has(column, column_validity)) {
    uvec4 words = load_quad(column + 1u, quad);
    there = bvec4(there.x && words.x != 0u, there.y && words.y != 0u, there.z && words.z != 0u,
                  there.w && words.w != 0u);
  }
  return there;
}

// Multiply and add apart, so that every device gives the same bits. On its own because glslang traces all that a `precise` value was made
// of, through globals and back, and takes minutes and gigabytes over it in a larger kernel.
float scale_and_move(float raw, float scale, float offset) {
  precise float scaled = raw * scale;
  precise float moved = scaled + offset;
  return moved;
}

// The calibrated value of widened raw bits.
float calibrated(uint column, uint bits) {
  uint format = column_format(column);
  float raw = column_is_float(column) ? uintBitsToFloat(bits)
      : (format == format_sint32 || format == format_sint8 || format == format_sint16) ? float(int(bits)) : float(bits);
  if (!column_has(column, column_calibrate)) return raw;
  return scale_and_move(raw, column_scale[column], column_offset[column]);
}

#endif
