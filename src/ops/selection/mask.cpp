#include <algorithm>
#include <array>

#include <tessera/ops/selection.hpp>

#include "operand/rows.hpp"
#include "ops/operations.hpp"
#include "ops/selection/mask_record.h"

namespace tessera {
namespace detail {
namespace {

constexpr std::array<std::string_view, 5> operation_names{"conjunction", "disjunction", "exclusive_disjunction",
                                                          "difference", "negation"};
constexpr std::uint32_t negation = 4;
constexpr std::size_t inputs_per_pass = largest_column_count - 1;
constexpr std::size_t largest_count_words = std::size(LatchRecord{}.counts);

constexpr std::array ports{
    PortDescription{.name = "inputs",
                    .presence = Presence::repeated,
                    .formats = formats(Format::uint32, Format::uint16, Format::uint8),
                    .length = LengthRule::any,
                    .text = "Masks: a row is true where it is not 0."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::equal,
                    .alias = AliasRule::separate,
                    .text = "0 or 1 for each row."},
};

constexpr std::array options{
    OptionDescription{.name = "operation",
                      .kind = OptionKind::enumeration,
                      .initial = "conjunction",
                      .enumerators = operation_names,
                      .text = "How the inputs of a row are joined."},
};

constexpr OperationDescription mask_description{
    .name = "mask",
    .family = "selection",
    .summary = "Row-wise boolean composition of masks.",
    .ports = ports,
    .options = options,
    .empty_rule = "Nothing is written.",
    .determinism = DeterminismPromise::same_bits,
};

/// Every operand, for its count word: each pass stops where the shortest operand does, whether the pass reads it or
/// not.
std::vector<VectorView> operands_of(const OperationContext& context) {
  std::vector<VectorView> operands{context.output("output")};
  for (const Input& input : context.inputs("inputs")) operands.push_back(input.values);
  return operands;
}

class MaskImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return mask_description; }

  void validate(const OperationContext& context) const override {
    const std::size_t inputs = context.inputs("inputs").size();
    if (context.choice("operation") == negation && inputs != 1)
      context.reject(ErrorCode::surplus_operand, "inputs", "is one mask in a negation", std::to_string(inputs));
    ColumnList columns;
    for (const VectorView& operand : operands_of(context)) columns.limited_by(operand);
    if (columns.counts().size() > largest_count_words)
      context.reject(ErrorCode::limit_exceeded, "inputs",
                     "have at most 8 different count words together with the output",
                     std::to_string(columns.counts().size()));
  }

  void record(const OperationContext& context) const override {
    if (context.rows() == 0) return;
    const std::vector<Input> inputs = context.inputs("inputs");
    for (std::size_t first = 0; first < inputs.size(); first += inputs_per_pass)
      add_pass(context, inputs, first, std::min(first + inputs_per_pass, inputs.size()));
  }

 private:
  static void add_pass(const OperationContext& context, const std::vector<Input>& inputs, std::size_t first,
                       std::size_t end) {
    const bool continued = first > 0;
    ColumnList columns;
    for (std::size_t i = 0; i < inputs_per_pass; ++i) columns.plain(first + i < end ? &inputs[first + i] : nullptr);
    columns.output(&context.output("output"), continued ? Access::read_write : Access::write);
    for (const VectorView& operand : operands_of(context)) columns.limited_by(operand);
    const RowDomain domain(context, columns, default_row_tuning(context.sink().device()), {RowPass{}});
    Dispatch dispatch = domain.dispatch("rows", "mask", 0, {context.choice("operation"), continued ? 1U : 0U});
    dispatch.arguments = domain.arguments(MaskRecord{});
    context.sink().dispatch(std::move(dispatch));
  }
};

}  // namespace

const OperationImplementation& mask_operation() {
  static const MaskImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Mask& operation) {
  Request request{.operation = "mask", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("inputs", operation.inputs);
  request.output("output", operation.output);
  request.option("operation", std::string(detail::operation_names.at(static_cast<std::size_t>(operation.operation))));
  return request;
}

}  // namespace tessera
