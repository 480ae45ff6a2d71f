#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>

namespace tessera {

/// Prefix sums of unsigned integers modulo 2^32, over one logical array whatever its chunks are.
///
/// Exclusive: `output[i]` is the sum of the rows before row `i` in its segment; inclusive: with row `i`. Without
/// `segment_flags` all rows are one segment. With them a segment starts at row 0 and at every row whose flag is not 0;
/// segments cross chunk borders. Formats: `input` and `segment_flags` uint32, uint16 or uint8, `output` uint32; all
/// packed, their chunk borders independent. Lengths: `segment_flags` and `output` hold at least the rows of `input`;
/// spare rows are neither read nor written. Any operand may carry a count word. Missing data: a missing row of `input`
/// counts as 0; its flag still counts. A calibrated `input` is rejected. In place: `output` may be exactly the rows of
/// `input`; it overlaps nothing else. Without rows nothing is written. The same bits on every device and partition.
/// Cost: rows are read once (twice in partial or unaligned tiles) and written once, by two dispatches with one word of
/// scratch per tile; in place, on CPU-type devices and on devices without 64-bit atomics they are read twice or more,
/// by three dispatches (four beyond about 5 million rows, five beyond 20,000 million); few rows take one dispatch and
/// no scratch. Errors: `missing_operand`, `surplus_operand`, `format_mismatch`, `layout_mismatch` (not packed),
/// `capacity_too_small`, `alias`, `foreign_graph`, `unsupported_operation` (calibration), `limit_exceeded`.
struct Scan {
  enum class Mode : std::uint8_t { exclusive, inclusive };

  std::string id = {};
  Mode mode = Mode::exclusive;
  Source input;
  std::optional<Source> segment_flags = {};
  Target output;
};

TESSERA_EXPORT Request to_request(const Scan& operation);

}  // namespace tessera
