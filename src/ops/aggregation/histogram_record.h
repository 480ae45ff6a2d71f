// What the histogram's kernels and host share: records, the order of keys, and how a bin is guessed.
#ifndef TESSERA_HISTOGRAM_RECORD_H
#define TESSERA_HISTOGRAM_RECORD_H
#include "glsl/rows_record.h"

#ifdef __cplusplus
#include <bit>
#include <cmath>
#define HISTOGRAM_FUNCTION inline
#define TESSERA_CONSTANT(type, name, value) inline constexpr type name = value
namespace tessera::detail {
inline float uintBitsToFloat(uint bits) { return std::bit_cast<float>(bits); }
inline uint floatBitsToUint(float value) { return std::bit_cast<uint>(value); }
inline float absolute(float value) { return std::fabs(value); }
#else
#define HISTOGRAM_FUNCTION
#define TESSERA_CONSTANT(type, name, value) const type name = value
float absolute(float value) { return abs(value); }
#endif

// How a value's bin is found.
TESSERA_CONSTANT(uint, histogram_nothing, 0u);   // no value is counted
TESSERA_CONSTANT(uint, histogram_guess, 1u);     // a quick guess, then one comparison with an edge
TESSERA_CONSTANT(uint, histogram_search, 2u);    // binary search among edges
TESSERA_CONSTANT(uint, histogram_resident, 3u);  // as the binning on the device says
TESSERA_CONSTANT(uint, histogram_direct, 4u);    // a bin for every integer: its distance from the lowest

// Where the prologue takes the bins from.
TESSERA_CONSTANT(uint, histogram_source_host, 0u);    // the host has made the binning
TESSERA_CONSTANT(uint, histogram_source_domain, 1u);  // two rows on the device
TESSERA_CONSTANT(uint, histogram_source_edges, 2u);   // bins + 1 rows on the device
TESSERA_CONSTANT(uint, histogram_check_edges, 3u);    // a pass of its own over the edges just taken

// Equal-width bins or edges, ready for counting. In memory `bins` + 1 keys of edges follow where edges are compared.
struct HistogramBinning {
  uint mode;
  int low_key;
  uint key_range;  // a value is accepted when its key is at most this far above `low_key`
  uint width;      // integers: high - low, at least 1
  uint64_t ratio;  // integers: 2^32 * bins / width, rounded down
  float low;       // floats: lower bound
  float inverse;   // bins / (high - low), about
  float certain;   // a guess that is further than this from the middle of its bin is decided by an edge
  uint reserved;
};

TESSERA_CONSTANT(uint, binning_bytes, 40u);

// Columns: input and its validity, mask.
struct HistogramRecord {
  RowsRecord rows;
  ColumnRecord columns[3];
  uint64_t binning;
  uint64_t counts;           // slot, and bytes from there
  uint64_t counts_offset;
  uint64_t overflow;
  uint64_t overflow_offset;
  uint bins;
  uint reserved;
};

// Arguments of the pass before counting.
struct HistogramPrologueRecord {
  uint64_t binning;
  uint64_t source;           // slot of the domain or the edges, and bytes from there
  uint64_t source_offset;
  uint64_t counts;
  uint64_t counts_offset;
  uint64_t overflow;         // 0: none
  uint64_t overflow_offset;
  uint bins;
  uint count_words;
};

// Keys order values of a format as signed integers; both zeros of a float share one.
HISTOGRAM_FUNCTION int float_key(uint bits) {
  uint sign = 0u - (bits >> 31);
  return int((bits ^ (sign & 0x7fffffffu)) - sign);
}
HISTOGRAM_FUNCTION int uint32_key(uint bits) { return int(bits ^ 0x80000000u); }
HISTOGRAM_FUNCTION int sint32_key(uint bits) { return int(bits); }
TESSERA_CONSTANT(int, largest_float_key, 0x7f7fffff);

HISTOGRAM_FUNCTION HistogramBinning empty_binning() {
  HistogramBinning binning;
  binning.mode = histogram_nothing;
  binning.low_key = 0;
  binning.key_range = 0u;
  binning.width = 1u;
  binning.ratio = uint64_t(0);
  binning.low = 0.0f;
  binning.inverse = 0.0f;
  binning.certain = -1.0f;
  binning.reserved = 0u;
  return binning;
}

// Equal-width float bins over [low, high], given as bits.
//
// A value's place is x = (v - low) * bins / (high - low). The guess is t = (v - low) * inverse - 0.5, rounded to an integer.
// With u = 2^-23 (any rounding mode, fused or not, division within 3 u) |t + 0.5 - x| < 9 u bins, and an edge that is
// rounded to float32 moves by at most u / 2 * largest * bins / width: together less than `margin`, also where denormals
// are flushed, as the width is at least 2^-80. So a guess further than `margin` from every border is in the right bin. As
// twice the margin is below 1, the edge at the nearest border decides for any other. Where bins are too narrow for this,
// edges are searched.
HISTOGRAM_FUNCTION HistogramBinning uniform_float_binning(uint low_bits, uint high_bits, uint bins) {
  HistogramBinning binning = empty_binning();
  if ((low_bits & 0x7f800000u) == 0x7f800000u || (high_bits & 0x7f800000u) == 0x7f800000u) return binning;
  int low_key = float_key(low_bits);
  int high_key = float_key(high_bits);
  if (low_key > high_key) return binning;
  binning.mode = histogram_guess;
  binning.low_key = low_key;
  binning.key_range = uint(high_key) - uint(low_key);
  float low = uintBitsToFloat(low_bits);
  float high = uintBitsToFloat(high_bits);
  binning.low = low;
  if (binning.key_range == 0u) return binning;  // nothing is certain: the first edge decides
  float width = high - low;
  float largest = absolute(low) > absolute(high) ? absolute(low) : absolute(high);
  float margin = float(bins) * (largest / width + 10.0f) * (1.0f / 8388608.0f);
  uint width_bits = floatBitsToUint(width);
  bool quick = width_bits >= 0x17800000u && width_bits <= 0x71800000u && margin < 0.375f;  // 2^-80 ... 2^100
  if (!quick) {
    binning.mode = histogram_search;
    return binning;
  }
  binning.inverse = float(bins) / width;
  binning.certain = 0.5f - margin;
  return binning;
}

// Equal-width integer bins: floor((v - low) * bins / (high - low)). As `ratio` is less than 1 too small,
// (v - low) * ratio / 2^32, rounded down, is that bin or the one before; comparing products decides.
HISTOGRAM_FUNCTION HistogramBinning uniform_integer_binning(int low_key, int high_key, uint bins) {
  HistogramBinning binning = empty_binning();
  if (low_key > high_key) return binning;
  binning.key_range = uint(high_key) - uint(low_key);
  // A distance d below the width w is in bin floor(d * (w + 1) / w) = d, and w is in the last.
  binning.mode = binning.key_range == bins - 1u ? histogram_direct : histogram_guess;
  binning.low_key = low_key;
  binning.width = binning.key_range == 0u ? 1u : binning.key_range;
  binning.ratio = (uint64_t(bins) << 32) / uint64_t(binning.width);
  return binning;
}

// Bins between edges, whose keys follow the binning; they increase, as the caller checks.
HISTOGRAM_FUNCTION HistogramBinning edges_binning(int first_key, int last_key) {
  HistogramBinning binning = empty_binning();
  binning.mode = histogram_search;
  binning.low_key = first_key;
  binning.key_range = uint(last_key) - uint(first_key);
  return binning;
}

#ifdef __cplusplus
static_assert(sizeof(HistogramBinning) == binning_bytes && 
              sizeof(HistogramRecord) == sizeof(RowsRecord) + 3 * sizeof(ColumnRecord) + 48);
static_assert(sizeof(HistogramPrologueRecord) == 64);
}  // namespace tessera::detail
#endif
#undef HISTOGRAM_FUNCTION
#undef TESSERA_CONSTANT
#endif
