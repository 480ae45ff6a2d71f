#include <algorithm>
#include <array>
#include <cmath>

#include <tessera/raster/threshold.hpp>

#include "raster/operations.hpp"
#include "raster/threshold/otsu_threshold_record.h"

namespace tessera::raster {
namespace detail {
namespace {

using tessera::detail::Access;
using tessera::detail::ArgumentRecord;
using tessera::detail::Dispatch;
using tessera::detail::Input;
using tessera::detail::OperationContext;
using tessera::detail::OperationImplementation;

constexpr std::array ports{
    PortDescription{.name = "histogram",
                    .formats = formats(Format::uint32, Format::uint64),
                    .length = LengthRule::described,
                    .layout = PortLayout::atomic_packed,
                    .text = "Counts of 1 to 65,536 bins of equal width."},
    PortDescription{.name = "domain",
                    .presence = Presence::optional,
                    .formats = formats(Format::float32),
                    .length = LengthRule::fixed,
                    .rows = 2,
                    .layout = PortLayout::atomic_packed,
                    .text = "Lower and upper bound of the bins, on the device."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::float32),
                    .length = LengthRule::fixed,
                    .rows = 1,
                    .layout = PortLayout::atomic_packed,
                    .alias = AliasRule::separate,
                    .text = "The threshold."},
};

constexpr std::array options{
    OptionDescription{
        .name = "domain", .kind = OptionKind::numbers, .text = "Lower and upper bound where they are known now."},
};

constexpr OperationDescription otsu_threshold_description{
    .name = "otsu_threshold",
    .family = "threshold",
    .summary = "The threshold that separates a histogram into two classes, by Otsu's method.",
    .ports = ports,
    .options = options,
    .empty_rule = "A histogram without bins is rejected; without counts the threshold is 0.",
    .determinism = DeterminismPromise::same_bits,
    .resident_lengths = false,
};

class OtsuThresholdImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return otsu_threshold_description; }

  void validate(const OperationContext& context) const override {
    const std::uint64_t bins = context.input("histogram").length();
    if (bins == 0) context.reject(ErrorCode::length_mismatch, "histogram", "has at least one bin");
    if (bins > OtsuThreshold::largest_bin_count)
      context.reject(ErrorCode::limit_exceeded, "histogram", "has at most 65,536 bins", std::to_string(bins));
    const std::vector<double>* literal = context.numbers("domain");
    context.require_numbers_or_rows("domain");
    if (literal == nullptr) return;
    if (literal->size() != 2 || !std::isfinite(static_cast<float>(literal->front())) ||
        !std::isfinite(static_cast<float>(literal->back())) || literal->front() > literal->back())
      context.reject(ErrorCode::invalid_argument, "domain", "is an ordered pair of numbers that are finite in float32");
  }

  void record(const OperationContext& context) const override {
    const VectorView& histogram = context.input("histogram").values;
    const VectorView& output = context.output("output");
    const Input* resident = context.optional_input("domain");
    OtsuThresholdRecord record{};
    record.histogram_offset = histogram.first_row() * size_of(histogram.format());
    record.threshold_offset = output.first_row() * 4;
    if (resident != nullptr) record.domain_offset = resident->values.first_row() * 4;
    if (const std::vector<double>* literal = context.numbers("domain")) {
      record.low = static_cast<float>(literal->front());
      record.high = static_cast<float>(literal->back());
    }
    record.bins = static_cast<std::uint32_t>(histogram.length());

    Dispatch dispatch;
    dispatch.name = "threshold";
    dispatch.module = "otsu_threshold";
    dispatch.constants = {workgroup_size(context), histogram.format() == Format::uint64 ? 1U : 0U};
    dispatch.arguments = ArgumentRecord(record);
    tessera::detail::NodeSink& sink = context.sink();
    sink.bind(dispatch, offsetof(OtsuThresholdRecord, histogram), histogram, Access::read);
    if (resident != nullptr) sink.bind(dispatch, offsetof(OtsuThresholdRecord, domain), resident->values, Access::read);
    sink.bind(dispatch, offsetof(OtsuThresholdRecord, threshold), output, Access::write);
    dispatch.workload = {.invocations = dispatch.constants[0],
                         .read_bytes = histogram.length() * size_of(histogram.format()),
                         .write_bytes = 4};
    sink.dispatch(std::move(dispatch));
  }

 private:
  // One workgroup does it all. No run is longer than 256 bins, so that no invocation takes too many rounds.
  static std::uint32_t workgroup_size(const OperationContext& context) {
    Device& device = context.sink().device();
    return std::min(device.info().type == DeviceType::cpu ? 256U : 512U, device.limits().largest_workgroup_size);
  }
};

}  // namespace

const OperationImplementation& otsu_threshold_operation() {
  static const OtsuThresholdImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const OtsuThreshold& operation) {
  register_operations();
  Request request{.operation = "otsu_threshold", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("histogram", operation.histogram);
  request.output("output", operation.output);
  if (const auto* source = std::get_if<Source>(&operation.domain)) request.input("domain", *source);
  if (const auto* pair = std::get_if<std::array<double, 2>>(&operation.domain))
    request.option("domain", std::vector<double>(pair->begin(), pair->end()));
  return request;
}

}  // namespace tessera::raster
