#include <array>

#include <tessera/ops/aggregation.hpp>

#include "ops/aggregation/aggregate.hpp"
#include "ops/operations.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::array<std::string_view, 4> operation_names{"sum", "minimum", "maximum", "extent"};
constexpr std::array<std::string_view, 2> determinism_names{"reproducible", "fast"};

constexpr std::array ports{
    PortDescription{.name = "input",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::any,
                    .layout = PortLayout::strided,
                    .missing = MissingRule::excluded,
                    .text = "Values to aggregate."},
    PortDescription{.name = "mask",
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::equal,
                    .text = "Rows with a mask of 0 are left out."},
    PortDescription{
        .name = "output",
        .direction = PortDirection::output,
        .formats = scalar_formats | formats(Format::uint64, Format::sint64, Format::float64, Format::sum_state),
        .length = LengthRule::described,
        .layout = PortLayout::atomic_packed,
        .alias = AliasRule::separate,
        .text = "One row, or two for the extent: smallest, largest."},
};

constexpr std::array options{
    OptionDescription{.name = "operation",
                      .kind = OptionKind::enumeration,
                      .enumerators = operation_names,
                      .text = "What is aggregated."},
    OptionDescription{.name = "determinism",
                      .kind = OptionKind::enumeration,
                      .initial = "reproducible",
                      .enumerators = determinism_names,
                      .text = "Exact float sums with the same bits everywhere, or the plain ones."},
};

constexpr OperationDescription reduction_description{
    .name = "reduction",
    .family = "aggregation",
    .summary = "Sum, minimum, maximum or extent of all rows.",
    .ports = ports,
    .options = options,
    .empty_rule = "The result is 0.",
    .determinism = DeterminismPromise::same_bits,
};

enum Operation : std::uint32_t { sum, minimum, maximum, extent };

bool integer_sum_format(Format compute, Format output) {
  if (output == Format::sum_state || output == Format::float64 || output == Format::float32) return true;
  return compute == Format::uint32 ? output == Format::uint32 || output == Format::uint64
                                   : output == Format::sint32 || output == Format::sint64;
}

bool float_sum_format(Format output) {
  return output == Format::float32 || output == Format::float64 || output == Format::sum_state;
}

class ReductionImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return reduction_description; }

  void validate(const OperationContext& context) const override {
    const std::uint32_t operation = context.choice("operation");
    const VectorView& output = context.output("output");
    const std::uint64_t rows = operation == extent ? 2 : 1;
    if (output.length() != rows)
      context.reject(ErrorCode::length_mismatch, "output", "has one row, or two for the extent",
                     std::to_string(output.length()) + " rows");
    const Format compute = result_format(context);
    const bool good = operation != sum             ? output.format() == compute
                      : compute == Format::float32 ? float_sum_format(output.format())
                                                   : integer_sum_format(compute, output.format());
    if (!good)
      context.reject(ErrorCode::format_mismatch, "output",
                     operation == sum ? "can hold a sum of the input's format" : "has the input's format",
                     std::string(name_of(output.format())) + " for " + std::string(name_of(compute)));
  }

  void record(const OperationContext& context) const override {
    constexpr std::array kinds{result_sum, result_minimum, result_maximum, result_extent};
    const std::uint32_t operation = context.choice("operation");
    const Input& input = context.input("input");
    const Input* mask = context.optional_input("mask");
    AggregatePlan plan;
    plan.quantities = operation == sum ? aggregate_sum : aggregate_extent;
    // The sum of all rows carries NaN and infinities; the sum of a selection is one of numbers.
    if (mask != nullptr || input.observations) plan.quantities |= aggregate_only_finite;
    const bool float_values = result_format(context) == Format::float32;
    if (float_values && context.choice("determinism") == 1) plan.quantities |= aggregate_fast;
    if (input.calibration && *input.calibration != Calibration{}) plan.domain = ValueDomain::calibrated;
    plan.outputs = {{context.output("output"), kinds.at(operation)}};
    record_aggregate(context, input, mask, plan);
  }

 private:
  static Format result_format(const OperationContext& context) {
    const Input& input = context.input("input");
    if (input.calibration && *input.calibration != Calibration{}) return Format::float32;
    return compute_format(input.format());
  }
};

}  // namespace

const OperationImplementation& reduction_operation() {
  static const ReductionImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Reduction& operation) {
  Request request{.operation = "reduction", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("input", operation.input).input("mask", operation.mask).output("output", operation.output);
  request.option("operation", std::string(detail::operation_names.at(static_cast<std::size_t>(operation.operation))));
  request.option("determinism",
                 std::string(detail::determinism_names.at(static_cast<std::size_t>(operation.determinism))));
  return request;
}

}  // namespace tessera
