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

}  // namespace tessera::raster
