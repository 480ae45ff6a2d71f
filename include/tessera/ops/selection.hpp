#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>

namespace tessera {

/// Row-wise boolean composition of one or more equally long masks; a row of an input is true where it is not 0.
///
/// | operation             | result                              |
/// | --------------------- | ----------------------------------- |
/// | conjunction           | all inputs are true                 |
/// | disjunction           | any input is true                   |
/// | exclusive_disjunction | an odd number of inputs is true     |
/// | difference            | the first is true and no other one  |
/// | negation              | the only input is false             |
///
/// The output is exactly 0 or 1. One input is legal everywhere: but for negation that makes its rows 0 or 1.
/// Formats: inputs uint32, uint16 or uint8, `output` uint32; all packed, their chunk borders independent. Any operand
/// may carry a count word, at most 8 different ones. Missing data: plain rows only; a validity is itself a mask and can
/// be an input. Inputs may overlap one another; the output overlaps none of them. Without rows nothing is written. The
/// same bits on every device and partition. Cost: one dispatch per seven inputs, from the second on with the output
/// read back; no scratch.
/// Errors: `missing_operand` (no input), `surplus_operand` (negation of several), `format_mismatch`, `length_mismatch`,
/// `layout_mismatch` (not packed), `alias`, `foreign_graph`, `unsupported_operation` (missing data), `limit_exceeded`
/// (count words).
struct Mask {
  enum class Operation : std::uint8_t { conjunction, disjunction, exclusive_disjunction, difference, negation };

  std::string id = {};
  Operation operation = Operation::conjunction;
  std::vector<Source> inputs;
  Target output;
};

TESSERA_EXPORT Request to_request(const Mask& operation);

}  // namespace tessera
