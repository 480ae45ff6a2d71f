#include <array>
#include <cmath>

#include <tessera/raster/pixel.hpp>

#include "operand/rows.hpp"
#include "raster/operations.hpp"
#include "raster/pixel/ndvi_record.h"

namespace tessera::raster {
namespace detail {
namespace {

using tessera::detail::ColumnList;
using tessera::detail::Dispatch;
using tessera::detail::OperationContext;
using tessera::detail::OperationImplementation;
using tessera::detail::RowDomain;
using tessera::detail::RowPass;
using tessera::detail::RowTuning;
using tessera::detail::TileShape;
using tessera::detail::ValueDomain;

constexpr std::array ports{
    PortDescription{.name = "near_infrared",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::any,
                    .missing = MissingRule::output_validity,
                    .text = "Near-infrared band."},
    PortDescription{.name = "red",
                    .formats = sample_formats | formats(Format::float64),
                    .length = LengthRule::equal,
                    .missing = MissingRule::output_validity,
                    .text = "Red band."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::float32),
                    .length = LengthRule::equal,
                    .alias = AliasRule::separate,
                    .text = "The index; a quiet NaN where it is missing."},
    PortDescription{.name = "output_validity",
                    .direction = PortDirection::output,
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::equal,
                    .alias = AliasRule::separate,
                    .text = "1 where the index exists, else 0."},
};

constexpr std::array options{
    OptionDescription{.name = "epsilon",
                      .kind = OptionKind::number,
                      .initial = "0",
                      .text = "Denominators of at most this magnitude make the pixel missing."},
    OptionDescription{
        .name = "clamp", .kind = OptionKind::numbers, .text = "Lowest and highest value; none by default."},
};

constexpr OperationDescription ndvi_description{
    .name = "ndvi",
    .family = "pixel",
    .summary = "Normalized difference vegetation index of calibrated bands.",
    .ports = ports,
    .options = options,
    .empty_rule = "Nothing is written.",
    .determinism = DeterminismPromise::same_bits_on_device,
};

// Two bands to widen, calibrate and divide: smaller workgroups with more pixels each overlap that with memory better.
RowTuning tuning_of(const Device& device) {
  RowTuning tuning = tessera::detail::default_row_tuning(device);
  if (device.info().type != DeviceType::cpu) tuning.long_tile = TileShape{.workgroup_size = 128, .rows_per_thread = 64};
  return tuning;
}

class NdviImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return ndvi_description; }

  void validate(const OperationContext& context) const override {
    const auto epsilon = static_cast<float>(context.number("epsilon"));
    if (!(std::isfinite(epsilon) && epsilon >= 0.0F))
      context.reject(ErrorCode::invalid_argument, "epsilon", "is finite and not negative", std::to_string(epsilon));
    const std::vector<double>* clamp = context.numbers("clamp");
    if (clamp == nullptr) return;
    if (clamp->size() != 2 || !std::isfinite(static_cast<float>(clamp->front())) ||
        !std::isfinite(static_cast<float>(clamp->back())) || clamp->front() > clamp->back())
      context.reject(ErrorCode::invalid_argument, "clamp", "is an ordered pair of finite numbers");
  }

  void record(const OperationContext& context) const override {
    if (context.rows() == 0) return;
    ColumnList columns;
    columns.input(&context.input("near_infrared"), ValueDomain::calibrated)
        .input(&context.input("red"), ValueDomain::calibrated)
        .output(&context.output("output"))
        .output(context.optional_output("output_validity"));
    NdviRecord record{};
    record.epsilon = static_cast<float>(context.number("epsilon"));
    if (const std::vector<double>* clamp = context.numbers("clamp")) {
      record.clamps = 1;
      record.lowest = static_cast<float>(clamp->front());
      record.highest = static_cast<float>(clamp->back());
    }
    const RowDomain domain(context, columns, tuning_of(context.sink().device()), {RowPass{}});
    Dispatch dispatch = domain.dispatch("pixels", "ndvi", 0);
    dispatch.arguments = domain.arguments(record);
    context.sink().dispatch(std::move(dispatch));
  }
};

}  // namespace

const OperationImplementation& ndvi_operation() {
  static const NdviImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const Ndvi& operation) {
  register_operations();
  Request request{.operation = "ndvi", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("near_infrared", operation.near_infrared).input("red", operation.red);
  request.output("output", operation.output).output("output_validity", operation.output_validity);
  request.option("epsilon", static_cast<double>(operation.epsilon));
  if (operation.clamp) {
    OptionValue clamp(std::in_place_type<std::vector<double>>, operation.clamp->begin(), operation.clamp->end());
    request.option("clamp", std::move(clamp));
  }
  return request;
}

}  // namespace tessera::raster
