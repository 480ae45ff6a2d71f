#include <array>

#include <tessera/ops/arithmetic.hpp>

#include "operand/rows.hpp"
#include "ops/arithmetic/elementwise_record.h"
#include "ops/operations.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::array<std::string_view, 7> operation_names{"copy",         "add",     "subtract", "multiply",
                                                          "multiply_add", "minimum", "maximum"};
constexpr std::array<std::uint32_t, 7> input_counts{1, 2, 2, 2, 3, 2, 2};

constexpr std::array ports{
    PortDescription{.name = "a",
                    .formats = scalar_formats,
                    .length = LengthRule::any,
                    .missing = MissingRule::output_validity,
                    .text = "First operand."},
    PortDescription{.name = "b",
                    .presence = Presence::optional,
                    .formats = scalar_formats,
                    .same_format_as = "a",
                    .length = LengthRule::equal,
                    .missing = MissingRule::output_validity,
                    .text = "Second operand; not for copy."},
    PortDescription{.name = "c",
                    .presence = Presence::optional,
                    .formats = scalar_formats,
                    .same_format_as = "a",
                    .length = LengthRule::equal,
                    .missing = MissingRule::output_validity,
                    .text = "Addend of multiply_add only."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = scalar_formats,
                    .same_format_as = "a",
                    .length = LengthRule::equal,
                    .alias = AliasRule::exact_in_place,
                    .text = "One result per row."},
    PortDescription{.name = "output_validity",
                    .direction = PortDirection::output,
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::equal,
                    .alias = AliasRule::separate,
                    .text = "1 where every operand's row is there, else 0."},
};

constexpr std::array options{
    OptionDescription{.name = "operation",
                      .kind = OptionKind::enumeration,
                      .initial = "copy",
                      .enumerators = operation_names,
                      .text = "What is computed in every row."},
};

constexpr OperationDescription elementwise_description{
    .name = "elementwise",
    .family = "arithmetic",
    .summary = "Row-wise copy, add, subtract, multiply, multiply-add, minimum and maximum.",
    .ports = ports,
    .options = options,
    .empty_rule = "Nothing is written.",
    .determinism = DeterminismPromise::same_bits,
};

class ElementwiseImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return elementwise_description; }

  void validate(const OperationContext& context) const override {
    const std::uint32_t operation = context.choice("operation");
    const std::uint32_t needed = input_counts.at(operation);
    constexpr std::array<std::string_view, 3> names{"a", "b", "c"};
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const Input* input = context.optional_input(names[i]);
      if (i < needed && input == nullptr)
        context.reject(ErrorCode::missing_operand, names[i], "is required by this operation",
                       std::string(operation_names.at(operation)));
      if (i >= needed && input != nullptr)
        context.reject(ErrorCode::surplus_operand, names[i], "is not an operand of this operation",
                       std::string(operation_names.at(operation)));
      if (input == nullptr || !input->observations || input->format() == Format::float32) continue;
      if (context.optional_output("output_validity") == nullptr)
        context.reject(ErrorCode::missing_operand, "output_validity",
                       "is required where integer operands carry missing data", std::string(names[i]));
      if (input->calibration && *input->calibration != Calibration{})
        context.reject(ErrorCode::unsupported_operation, names[i], "is calibrated only in float32",
                       std::string(name_of(input->format())));
    }
  }

  void record(const OperationContext& context) const override {
    if (context.rows() == 0) return;
    const auto observed = [&](std::string_view name) {
      const Input* input = context.optional_input(name);
      return input != nullptr && input->observations;
    };
    if (observed("a") || observed("b") || observed("c") || context.optional_output("output_validity") != nullptr)
      record_observed(context);
    else
      record_plain(context);
  }

 private:
  static void record_plain(const OperationContext& context) {
    ColumnList columns;
    columns.plain(context.optional_input("a")).plain(context.optional_input("b")).plain(context.optional_input("c"));
    columns.output(&context.output("output"));
    record_rows<ElementwiseRecord>(context, columns, "elementwise.");
  }

  static void record_observed(const OperationContext& context) {
    ColumnList columns;
    for (const std::string_view name : {"a", "b", "c"})
      columns.input(context.optional_input(name), ValueDomain::calibrated);
    columns.output(&context.output("output")).output(context.optional_output("output_validity"));
    record_rows<ElementwiseObservedRecord>(context, columns, "elementwise_observed.");
  }

  template <class Record>
  static void record_rows(const OperationContext& context, const ColumnList& columns, std::string module) {
    const RowDomain domain(context, columns, default_row_tuning(context.sink().device()), {RowPass{}});
    module += variant_of(context.input("a").format());
    Dispatch dispatch = domain.dispatch("rows", std::move(module), 0, {context.choice("operation")});
    dispatch.arguments = domain.arguments(Record{});
    context.sink().dispatch(std::move(dispatch));
  }
};

}  // namespace

const OperationImplementation& elementwise_operation() {
  static const ElementwiseImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Elementwise& operation) {
  Request request{.operation = "elementwise", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("a", operation.a).input("b", operation.b).input("c", operation.c);
  request.output("output", operation.output).output("output_validity", operation.output_validity);
  request.option("operation", std::string(detail::operation_names.at(static_cast<std::size_t>(operation.operation))));
  return request;
}

}  // namespace tessera
