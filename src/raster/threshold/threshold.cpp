#include <array>
#include <cmath>

#include <tessera/raster/threshold.hpp>

#include "operand/rows.hpp"
#include "raster/operations.hpp"
#include "raster/threshold/threshold_record.h"

namespace tessera::raster {
namespace detail {
namespace {

using tessera::detail::Access;
using tessera::detail::ColumnList;
using tessera::detail::Dispatch;
using tessera::detail::Input;
using tessera::detail::OperationContext;
using tessera::detail::OperationImplementation;
using tessera::detail::RowDomain;
using tessera::detail::RowPass;
using tessera::detail::ValueDomain;

constexpr std::array<std::string_view, 3> operation_names{"above", "below", "range"};
constexpr std::array<std::string_view, 2> bounds_names{"inclusive", "exclusive"};

constexpr std::array ports{
    PortDescription{.name = "band",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::any,
                    .layout = PortLayout::strided,
                    .missing = MissingRule::excluded,
                    .text = "The band."},
    PortDescription{.name = "threshold",
                    .presence = Presence::optional,
                    .formats = formats(Format::float32),
                    .length = LengthRule::described,
                    .layout = PortLayout::atomic_packed,
                    .text = "The threshold on the device: one row, two for a range."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::uint32, Format::float32),
                    .length = LengthRule::equal,
                    .alias = AliasRule::separate,
                    .text = "1 where the pixel is selected, else 0; missing pixels are 0 as uint32, NaN as float32."},
};

constexpr std::array options{
    OptionDescription{.name = "operation",
                      .kind = OptionKind::enumeration,
                      .initial = "above",
                      .enumerators = operation_names,
                      .text = "Which values are selected."},
    OptionDescription{.name = "bounds",
                      .kind = OptionKind::enumeration,
                      .initial = "inclusive",
                      .enumerators = bounds_names,
                      .text = "Whether values equal to a threshold are selected."},
    OptionDescription{.name = "threshold",
                      .kind = OptionKind::numbers,
                      .text = "The threshold where it is known now: one number, two for a range."},
};

constexpr OperationDescription threshold_description{
    .name = "threshold",
    .family = "threshold",
    .summary = "Pixels whose calibrated value is above or below a threshold, or inside a range.",
    .ports = ports,
    .options = options,
    .empty_rule = "Nothing is written.",
    .determinism = DeterminismPromise::same_bits,
};

class ThresholdImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return threshold_description; }

  void validate(const OperationContext& context) const override {
    const Input* resident = context.optional_input("threshold");
    const std::vector<double>* literal = context.numbers("threshold");
    context.require_numbers_or_rows("threshold");
    const std::uint64_t expected = is_range(context) ? 2 : 1;
    if (resident != nullptr && resident->length() != expected)
      context.reject(ErrorCode::length_mismatch, "threshold", "has one row, two for a range",
                     std::to_string(resident->length()) + " rows");
    if (literal != nullptr) check_literal(context, *literal, expected);
  }

  void record(const OperationContext& context) const override {
    if (context.rows() == 0) return;
    ColumnList columns;
    columns.input(&context.input("band"), ValueDomain::calibrated).output(&context.output("output"));
    const RowDomain domain(context, columns, tessera::detail::default_row_tuning(context.sink().device()), {RowPass{}});
    ThresholdRecord record{};
    if (const std::vector<double>* literal = context.numbers("threshold")) {
      record.lower = static_cast<float>(literal->front());
      record.upper = static_cast<float>(literal->back());
    }
    const Input* resident = context.optional_input("threshold");
    if (resident != nullptr) record.thresholds_offset = resident->values.first_row() * 4;
    Dispatch dispatch =
        domain.dispatch("pixels", "threshold", 0, {context.choice("operation"), context.choice("bounds")});
    dispatch.arguments = domain.arguments(record);
    if (resident != nullptr)
      context.sink().bind(dispatch, offsetof(ThresholdRecord, thresholds), resident->values, Access::read);
    context.sink().dispatch(std::move(dispatch));
  }

 private:
  static bool is_range(const OperationContext& context) {
    return static_cast<Threshold::Operation>(context.choice("operation")) == Threshold::Operation::range;
  }
  static void check_literal(const OperationContext& context, const std::vector<double>& literal, std::size_t expected) {
    if (literal.size() != expected)
      context.reject(ErrorCode::invalid_argument, "threshold", "is one number, two for a range",
                     std::to_string(literal.size()) + " numbers");
    for (const double number : literal)
      if (!std::isfinite(static_cast<float>(number)))
        context.reject(ErrorCode::invalid_argument, "threshold", "is finite in float32", std::to_string(number));
    if (literal.front() > literal.back())
      context.reject(ErrorCode::invalid_argument, "threshold", "is an ordered range",
                     std::to_string(literal.front()) + ", " + std::to_string(literal.back()));
  }
};

}  // namespace

const OperationImplementation& threshold_operation() {
  static const ThresholdImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Threshold& operation) {
  register_operations();
  Request request{.operation = "threshold", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("band", operation.band);
  request.output("output", operation.output);
  request.option("operation", std::string(detail::operation_names.at(static_cast<std::size_t>(operation.operation))));
  request.option("bounds", std::string(detail::bounds_names.at(static_cast<std::size_t>(operation.bounds))));
  if (const auto* source = std::get_if<Source>(&operation.threshold)) request.input("threshold", *source);
  if (const auto* number = std::get_if<double>(&operation.threshold))
    request.option("threshold", std::vector<double>{*number});
  if (const auto* pair = std::get_if<std::array<double, 2>>(&operation.threshold))
    request.option("threshold", std::vector<double>(pair->begin(), pair->end()));
  return request;
}

}  // namespace tessera::raster
