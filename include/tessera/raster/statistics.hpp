#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>
#include <tessera/operand/sum_state.hpp>
#include <tessera/raster/band.hpp>
#include <tessera/raster/pixel.hpp>

namespace tessera::raster {

/// Which values of a band an operation works on.
enum class BandValues : std::uint8_t {
  calibrated,  ///< float32(raw) * scale + offset, in float32
  raw,         ///< as stored
};

/// Count, sum, mean and extent of a band's valid pixels, without work on the host.
///
/// Over the valid pixels (see `Band`): `count`, `sum` (exact, then rounded once to the output's format),
/// `sum_of_squares` (exact), `mean` (the exact sum divided by the count, correctly rounded) and `extent` (smallest,
/// largest). Raw integers are summed as integers. Any subset of the outputs may be asked for, at least one.
/// `Format::sum_state` outputs merge across tiles and ranks and give the deviation (`StatisticsSummary`). Without a
/// valid pixel every result is 0. Bands of 8-, 16- and 32-bit integers, float32 and float64 (rounded to float32). The
/// same bits for any partition, tile order and device. Two dispatches; scratch of at most 512 partials. Errors:
/// `missing_operand` (no output), `format_mismatch`, `length_mismatch`, `layout_mismatch`, `alias`, `foreign_graph`.
/// Source: population moments from exact sums; see SumState for the summation.
struct Statistics {
  std::string id = {};
  Source input;
  BandValues values = BandValues::calibrated;
  std::optional<Target> count = {};           ///< uint32 or uint64, 1 row
  std::optional<Target> sum = {};             ///< float32, float64, uint64 or sint64 (raw integers) or sum_state, 1 row
  std::optional<Target> sum_of_squares = {};  ///< float32, float64 or sum_state, 1 row
  std::optional<Target> mean = {};            ///< float32 or float64, 1 row
  std::optional<Target> extent = {};          ///< the values' compute format, 2 rows
};

TESSERA_EXPORT Request to_request(const Statistics& operation);

/// How many pixels of a band are missing, and why: every pixel counts once, by the first reason that holds.
///
/// `output` is five uint32 in the order of `Reason`. A NaN sample is nodata where the band's nodata is NaN, otherwise
/// it is not finite; integers are always finite. Samples are looked at as stored, float64 and 64-bit integers in all
/// their bits; scale and offset play no part. `quality` is a second validity of the same pixels, a word or a byte
/// each: a pixel counts there when nothing else is wrong with it. Counts are modulo 2^32. Bands of 8- to 64-bit
/// integers, float32 and float64, at any stride. Without pixels every count is 0. The same counts for any partition and
/// device. Two dispatches, the band is read once; no scratch. Errors: `format_mismatch`, `length_mismatch` (output,
/// quality), `layout_mismatch`, `alias`, `foreign_graph`.
struct MissingCounts {
  enum class Reason : std::uint8_t {
    none,        ///< a valid pixel
    validity,    ///< the band's validity is 0: a mask or an alpha band
    no_data,     ///< the stored sample equals the nodata value
    not_finite,  ///< a NaN or an infinity
    quality,     ///< the quality validity is 0
  };
  /// Rows of the output.
  static constexpr std::uint64_t rows = 5;

  std::string id = {};
  Source band;
  std::optional<Validity> quality = {};
  Target output;
};

TESSERA_EXPORT Request to_request(const MissingCounts& operation);

}  // namespace tessera::raster
