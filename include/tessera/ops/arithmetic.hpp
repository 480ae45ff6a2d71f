#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>

namespace tessera {

/// Row-wise arithmetic over one to three equally long inputs of one format (uint32, sint32 or float32); chunk borders
/// are independent.
///
/// | operation    | result          | inputs |
/// | ------------ | --------------- | ------ |
/// | copy         | a, bit for bit  | a      |
/// | add          | a + b           | a, b   |
/// | subtract     | a - b           | a, b   |
/// | multiply     | a * b           | a, b   |
/// | multiply_add | a * b + c       | a, b, c|
/// | minimum      | min(a, b)       | a, b   |
/// | maximum      | max(a, b)       | a, b   |
///
/// Integers wrap modulo 2^32. float32 is IEEE single precision; multiply_add rounds twice (never fused), so every
/// device gives the same bits but for denormals that a device flushes. Minimum and maximum of a number and a NaN are
/// the number; -0 < +0. Missing data: a row is missing when any input's row is; `output_validity` receives 1 or 0, and
/// the output a quiet NaN (float32) or 0. Without `output_validity` only float32 operands may carry missing data. In
/// place: the output may be exactly one of the inputs. Without rows nothing is written. One dispatch; no scratch.
/// Errors: `missing_operand` and `surplus_operand` (inputs that the operation needs or forbids), `format_mismatch`,
/// `length_mismatch`, `layout_mismatch` (not packed), `alias`, `foreign_graph`.
struct Elementwise {
  enum class Operation : std::uint8_t { copy, add, subtract, multiply, multiply_add, minimum, maximum };

  std::string id = {};
  Operation operation = Operation::copy;
  Source a;
  std::optional<Source> b = {};
  std::optional<Source> c = {};
  Target output;
  std::optional<Target> output_validity = {};
};

TESSERA_EXPORT Request to_request(const Elementwise& operation);

}  // namespace tessera
