#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>

namespace tessera {

/// Counts of values in bins of equal width, or between edges.
///
/// Input: uint32, sint32, float32, narrower integers, or float64 (rounded to float32), at any stride; chunk borders are
/// independent of the mask's. The population is the rows whose mask is not 0 (where there is a mask) and that are not
/// missing. `output` has one row per bin: uint32 (counts wrap modulo 2^32) or uint64, one packed chunk. Every execution
/// clears it first, without rows too.
///
/// Equal width (`Domain`, `ResidentDomain`, `AutomaticDomain`): B bins over [low, high], both ends accepted; other
/// values are ignored, and so are NaN and infinities. `high` belongs to the last bin. When low equals high, values
/// equal to it go to bin 0; when low > high or a bound is not finite, nothing is counted.
/// - Integers: bin floor((v - low) * B / (high - low)), exact over the whole range of the format.
/// - Floats: bin k holds edge k <= v < edge k + 1, where edge k is the float32 nearest to low + k * (high - low) / B.
/// The
///   same on every device; no division decides a bin.
/// Edges (`Edges`, `ResidentEdges`): bin k holds edge k <= v < edge k + 1, the last one its upper edge too. Compared
/// exactly.
///
/// Counts are the same on every device and for every partition. Two dispatches whatever the partition (three with
/// resident edges, two more for the automatic domain); scratch: a few words, and one per edge where bins are made on
/// the device. Errors: `invalid_argument` (literal bounds that are not finite, not representable, reversed, or edges
/// that do not increase), `length_mismatch` (no bin, edges that are not one more than the bins, another domain than two
/// rows, mask), `format_mismatch`, `layout_mismatch`, `missing_operand`, `surplus_operand` (a domain output without the
/// automatic domain, an overflow word beside uint64 counts), `alias`, `foreign_graph`. Plain data: not thread-safe to
/// change.
struct Histogram {
  /// Equal-width bins over a domain known now. Integers have integral bounds inside the (widened) format's range;
  /// floats are rounded to float32.
  struct Domain {
    double low = 0;
    double high = 0;
  };
  /// Equal-width bins over a domain on the device, read at every execution: two packed rows, low and high, of the
  /// input's (widened) format; float32 for calibrated values.
  struct ResidentDomain {
    Source rows;
  };
  /// Equal-width bins over the extent of the input's finite rows that are not missing, whatever the mask says; [0, 0]
  /// without such a row.
  struct AutomaticDomain {};
  /// Strictly increasing edges known now, one more than the bins. Floats are rounded to float32 first.
  struct Edges {
    std::vector<double> values;
  };
  /// Edges on the device, read at every execution: packed rows, one more than the bins. Where they are not finite or do
  /// not strictly increase, nothing is counted.
  struct ResidentEdges {
    Source rows;
  };
  // The first has no default: a forgotten choice does not compile.
  using Binning = std::variant<ResidentDomain, Domain, AutomaticDomain, Edges, ResidentEdges>;

  /// Which values of a calibrated source are counted: as stored, or calibrated in float32. The same for others.
  enum class Values : std::uint8_t { raw, calibrated };

  std::string id = {};
  Source input;
  std::optional<Source> mask = {};
  Target output;
  Binning binning;
  /// Receives the automatic domain: two rows.
  std::optional<Target> domain_output = {};
  /// One uint32 word: 1 when a uint32 count of this execution wrapped, else 0.
  std::optional<Target> overflow = {};
  Values values = Values::raw;
};

TESSERA_EXPORT Request to_request(const Histogram& operation);

}  // namespace tessera
