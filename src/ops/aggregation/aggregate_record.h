// Records of the kernels behind Reduction and Statistics: `aggregate` leaves one partial per workgroup (`aggregate_lanes`, on CPU-type
// devices, one per subgroup), `aggregate_finish` merges them and writes the results.
#ifndef TESSERA_AGGREGATE_RECORD_H
#define TESSERA_AGGREGATE_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::detail {
#define TESSERA_CONSTANT(type, name, value) inline constexpr type name = value
#else
#define TESSERA_CONSTANT(type, name, value) const type name = value
#endif

// What is aggregated, as bits of a specialisation constant.
TESSERA_CONSTANT(uint, aggregate_sum, 1u);
TESSERA_CONSTANT(uint, aggregate_squares, 2u);
TESSERA_CONSTANT(uint, aggregate_extent, 4u);
TESSERA_CONSTANT(uint, aggregate_only_finite, 8u);  // floats that are not finite are no part of sum and count
TESSERA_CONSTANT(uint, aggregate_fast, 16u);        // plain float sums inside an invocation

// Sums are kept as signed words of 8-bit weight in units of 2^-298, so that millions of additions need no carry.
TESSERA_CONSTANT(uint, digit_count, 80u);

// A partial as words: count (2), smallest and largest in unsigned order, flags, then 20 limbs of the sum and, where asked for, 1 word of flags
// and 20 limbs of the squares.
TESSERA_CONSTANT(uint, partial_count, 0u);
TESSERA_CONSTANT(uint, partial_smallest, 2u);
TESSERA_CONSTANT(uint, partial_largest, 3u);
TESSERA_CONSTANT(uint, partial_sum, 4u);
TESSERA_CONSTANT(uint, partial_squares, 25u);
TESSERA_CONSTANT(uint, partial_words, 25u);
TESSERA_CONSTANT(uint, partial_words_with_squares, 46u);

// Columns: input and its validity; mask.
struct AggregateRecord {
  RowsRecord rows;
  ColumnRecord columns[3];
  uint64_t partials;
};

// What one output receives.
TESSERA_CONSTANT(uint, result_none, 0u);
TESSERA_CONSTANT(uint, result_sum, 1u);
TESSERA_CONSTANT(uint, result_minimum, 2u);
TESSERA_CONSTANT(uint, result_maximum, 3u);
TESSERA_CONSTANT(uint, result_extent, 4u);
TESSERA_CONSTANT(uint, result_count, 5u);
TESSERA_CONSTANT(uint, result_mean, 6u);
TESSERA_CONSTANT(uint, result_deviation, 7u);
TESSERA_CONSTANT(uint, result_squares, 8u);

struct AggregateResult {
  uint64_t slot;
  uint64_t byte_offset;
  uint kind;
  uint format;  // tessera::Format
};

struct AggregateFinishRecord {
  AggregateResult results[6];
  uint64_t partials;
  uint64_t latched;  // LatchedRows, or 0: `partial_groups` holds
  uint partial_groups;
  uint largest_groups;
  uint value_format;  // compute format of the values: order keys and integer sums follow it
  uint quantities;
  uint partials_per_group;
  uint spare;
};

#ifdef __cplusplus
static_assert(sizeof(AggregateResult) == 24 && sizeof(AggregateFinishRecord) == 184);
}  // namespace tessera::detail
#endif
#undef TESSERA_CONSTANT
#endif
