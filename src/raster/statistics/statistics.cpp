#include <tessera/raster/statistics.hpp>

#include <array>

#include "ops/aggregation/aggregate.hpp"
#include "raster/operations.hpp"

namespace tessera::raster {
namespace detail {
namespace {

using namespace tessera::detail;

constexpr std::array<std::string_view, 2> value_names{"calibrated", "raw"};

constexpr PortDescription result_port(std::string_view name, FormatSet formats, std::uint64_t rows,
                                      std::string_view text) {
  return {.name = name,
          .direction = PortDirection::output,
          .presence = Presence::optional,
          .formats = formats,
          .length = LengthRule::fixed,
          .rows = rows,
          .layout = PortLayout::atomic_packed,
          .alias = AliasRule::separate,
          .text = text};
}

constexpr FormatSet float_results = formats(Format::float32, Format::float64);

constexpr std::array ports{
    PortDescription{.name = "input",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::any,
                    .layout = PortLayout::strided,
                    .missing = MissingRule::excluded,
                    .text = "The band."},
    result_port("count", formats(Format::uint32, Format::uint64), 1, "Valid pixels."),
    result_port("sum", float_results | formats(Format::uint64, Format::sint64, Format::sum_state), 1, "Their sum."),
    result_port("sum_of_squares", float_results | formats(Format::sum_state), 1, "The sum of their squares."),
    result_port("mean", float_results, 1, "The sum divided by the count."),
    result_port("extent", scalar_formats, 2, "Smallest and largest value."),
};

constexpr std::array options{
    OptionDescription{.name = "values",
                      .kind = OptionKind::enumeration,
                      .initial = "calibrated",
                      .enumerators = value_names,
                      .text = "Whether scale and offset are applied."},
};

constexpr OperationDescription statistics_description{
    .name = "statistics",
    .family = "statistics",
    .summary = "Count, exact sums, mean and extent of a band's valid pixels.",
    .ports = ports,
    .options = options,
    .empty_rule = "Every result is 0.",
    .determinism = DeterminismPromise::same_bits,
};

class StatisticsImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return statistics_description; }

  void validate(const OperationContext& context) const override {
    const Format values = value_format(context);
    if (const VectorView* extent = context.optional_output("extent"); extent != nullptr && extent->format() != values)
      context.reject(ErrorCode::format_mismatch, "extent", "has the format of the values",
                     std::string(name_of(values)));
    if (const VectorView* sum = context.optional_output("sum")) {
      const bool wrong_integer = (sum->format() == Format::uint64 && values != Format::uint32) ||
                                 (sum->format() == Format::sint64 && values != Format::sint32);
      if (wrong_integer)
        context.reject(ErrorCode::format_mismatch, "sum", "is an integer of the values' signedness, or a float",
                       std::string(name_of(sum->format())) + " for " + std::string(name_of(values)));
    }
    if (plan_of(context).outputs.empty()) context.reject(ErrorCode::missing_operand, "output", "has at least one");
  }

  void record(const OperationContext& context) const override {
    record_aggregate(context, context.input("input"), nullptr, plan_of(context));
  }

 private:
  static bool calibrates(const OperationContext& context) {
    const Input& input = context.input("input");
    return context.choice("values") == 0 && input.calibration && *input.calibration != Calibration{};
  }
  static Format value_format(const OperationContext& context) {
    return calibrates(context) ? Format::float32 : compute_format(context.input("input").format());
  }
  static AggregatePlan plan_of(const OperationContext& context) {
    AggregatePlan plan;
    plan.quantities = aggregate_only_finite;
    if (calibrates(context)) plan.domain = ValueDomain::calibrated;
    const auto add = [&](std::string_view port, std::uint32_t kind, std::uint32_t quantity) {
      const VectorView* view = context.optional_output(port);
      if (view == nullptr) return;
      plan.outputs.push_back({*view, kind});
      plan.quantities |= quantity;
    };
    add("count", result_count, 0);
    add("sum", result_sum, aggregate_sum);
    add("sum_of_squares", result_squares, aggregate_sum | aggregate_squares);
    add("mean", result_mean, aggregate_sum);
    add("extent", result_extent, aggregate_extent);
    return plan;
  }
};

}  // namespace

const OperationImplementation& statistics_operation() {
  static const StatisticsImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Statistics& operation) {
  register_operations();
  Request request{.operation = "statistics", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("input", operation.input);
  request.output("count", operation.count)
      .output("sum", operation.sum)
      .output("sum_of_squares", operation.sum_of_squares);
  request.output("mean", operation.mean).output("extent", operation.extent);
  request.option("values", std::string(detail::value_names.at(static_cast<std::size_t>(operation.values))));
  return request;
}

}  // namespace tessera::raster
