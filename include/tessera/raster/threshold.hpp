#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>
#include <tessera/raster/band.hpp>
#include <tessera/raster/pixel.hpp>

namespace tessera::raster {

/// Selects the pixels of a band whose calibrated value is above or below a threshold, or inside a range.
///
/// `output` is uint32 (1 selected, 0 not selected or missing) or float32 (1, 0, and a quiet NaN, 0x7fc00000, where the
/// pixel is missing: missing stays missing); its format chooses. Values and thresholds are compared in float32, so
/// integers beyond 2^24 are rounded first; both zeros are equal. A threshold is known now (rounded to float32), or
/// lives on the device and is read at every execution: one float32 row, two for a range. One that is not finite there,
/// or a reversed range, selects nothing. Bands of 8-, 16- and 32-bit integers, float32 and float64 (rounded to
/// float32). The same bits for any partition. Without pixels nothing is written. One dispatch; no scratch. Errors:
/// `invalid_argument` (a threshold that is not finite in float32, a reversed range, one number for a range or two for
/// anything else), `length_mismatch` (also a threshold on the device of another number of rows), `format_mismatch`,
/// `layout_mismatch`, `alias`, `foreign_graph`.
struct Threshold {
  enum class Operation : std::uint8_t { above, below, range };
  /// Whether values equal to a threshold are selected.
  enum class Bounds : std::uint8_t { inclusive, exclusive };

  std::string id = {};
  Operation operation = Operation::above;
  Bounds bounds = Bounds::inclusive;
  Source band;
  Target output;
  // The first has no default: a forgotten threshold does not compile.
  std::variant<Source, double, std::array<double, 2>> threshold;
};

TESSERA_EXPORT Request to_request(const Threshold& operation);

/// The threshold that separates a histogram into two classes of largest variance between them, by Otsu's method.
///
/// `histogram` has 1 to 65,536 equal-width bins, uint32 or uint64, over `domain`: two numbers known now, or two float32
/// rows on the device. A bin's index is its class value. Of the borders between bins, the one of largest
/// N_lower * N_upper * (mean_lower - mean_upper)^2 wins, the lowest among equals; products are compared exactly, as
/// integers. `output`, one float32 row, is that border as `Histogram` places it: low + (high - low) * border / bins,
/// rounded once, so that the upper class is what `Threshold` selects with `above`. One bin, or all counts in one bin,
/// gives low. A total of 0, one of 2^48 or more, and a domain on the device that is not finite or reversed give 0. The
/// same bits on every device. One dispatch of one workgroup; no scratch. Errors: `length_mismatch` (no bin),
/// `limit_exceeded` (more than 65,536), `invalid_argument` (a domain that is not an ordered pair of numbers finite in
/// float32), `format_mismatch`, `layout_mismatch`, `alias`, `foreign_graph`. Source: N. Otsu, "A threshold selection
/// method from gray-level histograms" (IEEE Transactions on Systems, Man, and Cybernetics 9, 1979).
struct OtsuThreshold {
  static constexpr std::uint64_t largest_bin_count = 65536;

  std::string id = {};
  Source histogram;
  // The first has no default: a forgotten domain does not compile.
  std::variant<Source, std::array<double, 2>> domain;
  Target output;
};

TESSERA_EXPORT Request to_request(const OtsuThreshold& operation);

}  // namespace tessera::raster
