#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>

namespace tessera {

/// How float sums are formed.
enum class Determinism : std::uint8_t {
  reproducible,  ///< exactly, rounded once: the same bits for any partition, order and device
  fast,          ///< plain float32 sums inside an invocation; the last bits may differ between devices and partitions
};

/// One value over all rows.
///
/// | operation | result                         | output rows |
/// | --------- | ------------------------------ | ----------- |
/// | sum       | sum of the rows                | 1           |
/// | minimum   | smallest                       | 1           |
/// | maximum   | largest                        | 1           |
/// | extent    | smallest and largest           | 2           |
///
/// Input: uint32, sint32, float32, narrower integers, or float64 (rounded to float32), at any stride; chunk borders are
/// independent of the mask's. The output has the input's (widened) format. A sum may also go to uint64 or sint64
/// (exact), float32 or float64 (the exact sum, correctly rounded), or `Format::sum_state` (mergeable; see SumState). A
/// 32-bit integer sum wraps. Float sums are exact whatever the order (see `Determinism`). Of all rows, a NaN or
/// infinity makes the sum one, as IEEE addition would; with a mask or missing data only finite values count. Minimum,
/// maximum and extent always leave out what is not finite; -0 < +0. Without a row to count, the result is 0. Missing
/// rows are no part of the population. A calibrated source is aggregated in float32. Two dispatches whatever the
/// partition; scratch of at most 512 partials of 184 bytes (more beyond 2e9 rows). Errors: `format_mismatch`,
/// `length_mismatch`, `layout_mismatch` (output not one packed chunk), `alias`, `foreign_graph`. Source of the exact
/// sum: Kulisch's superaccumulator, and Demmel, Ahrens and Nguyen for reproducibility.
struct Reduction {
  enum class Operation : std::uint8_t { sum, minimum, maximum, extent };

  std::string id = {};
  Source input;
  std::optional<Source> mask = {};
  Target output;
  Operation operation;
  Determinism determinism = Determinism::reproducible;
};

TESSERA_EXPORT Request to_request(const Reduction& operation);

}  // namespace tessera
