#include <algorithm>
#include <array>

#include <tessera/raster/statistics.hpp>

#include "operand/rows.hpp"
#include "raster/operations.hpp"
#include "raster/statistics/missing_counts_record.h"

namespace tessera::raster {
namespace detail {
namespace {

using tessera::detail::Access;
using tessera::detail::ArgumentRecord;
using tessera::detail::ColumnList;
using tessera::detail::Dispatch;
using tessera::detail::Input;
using tessera::detail::OperationContext;
using tessera::detail::OperationImplementation;
using tessera::detail::RowDomain;
using tessera::detail::RowPass;
using tessera::detail::RowTuning;
using tessera::detail::TileShape;

constexpr std::array ports{
    PortDescription{.name = "band",
                    .formats = sample_formats | formats(Format::uint64, Format::sint64, Format::float64),
                    .length = LengthRule::any,
                    .layout = PortLayout::strided,
                    .missing = MissingRule::excluded,
                    .text = "The band."},
    PortDescription{.name = "quality",
                    .presence = Presence::optional,
                    .formats = formats(Format::uint32, Format::uint8),
                    .length = LengthRule::equal,
                    .layout = PortLayout::strided,
                    .text = "A second validity: 0 where the pixel's quality is bad."},
    PortDescription{.name = "output",
                    .direction = PortDirection::output,
                    .formats = formats(Format::uint32),
                    .length = LengthRule::fixed,
                    .rows = MissingCounts::rows,
                    .layout = PortLayout::atomic_packed,
                    .alias = AliasRule::separate,
                    .text = "Pixels that are valid, and missing by validity, nodata, not being finite, quality."},
};

constexpr OperationDescription missing_counts_description{
    .name = "missing_counts",
    .family = "statistics",
    .summary = "A band's pixels by the first reason that makes them missing.",
    .ports = ports,
    .empty_rule = "Every count is 0.",
    .determinism = DeterminismPromise::same_bits,
};

// Enough persistent workgroups to fill a large device; an invocation takes at most 16,384 rows, which its loops allow.
std::uint32_t persistent_groups(const OperationContext& context, const TileShape& tile) {
  const bool cpu = context.sink().device().info().type == DeviceType::cpu;
  const std::uint64_t groups = context.rows() / (std::uint64_t{16384} * tile.workgroup_size) + 1;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(groups, cpu ? 128 : 1024));
}

// Small workgroups: hardly anything but loads and comparisons, and each keeps counters in registers.
RowTuning tuning_of(const Device& device) {
  RowTuning tuning = tessera::detail::default_row_tuning(device);
  if (device.info().type == DeviceType::cpu) return tuning;
  tuning.tile = {.workgroup_size = 128, .rows_per_thread = 32};
  tuning.long_tile = TileShape{.workgroup_size = 128, .rows_per_thread = 64};
  tuning.tile_across_spans = tuning.long_tile;
  return tuning;
}

class MissingCountsImplementation final : public OperationImplementation {
 public:
  const OperationDescription& description() const noexcept override { return missing_counts_description; }

  void record(const OperationContext& context) const override {
    Dispatch clear;
    clear.name = "clear";
    clear.module = "missing_counts";
    clear.constants.assign(tessera::detail::first_own_constant, 0);
    clear.constants[0] = 32;
    clear.constants.insert(clear.constants.end(), {1, 0});
    clear.arguments = ArgumentRecord(record_of(context));
    clear.workload = {.invocations = 32, .read_bytes = 0, .write_bytes = 4 * MissingCounts::rows};
    use_output(context, clear, Access::write);
    context.sink().dispatch(std::move(clear));
    if (context.rows() == 0) return;

    const Input& band = context.input("band");
    ColumnList columns;
    columns.input(&band).plain(context.optional_input("quality"));
    const RowTuning tuning = tuning_of(context.sink().device());
    const RowDomain domain(context, columns, tuning,
                           {RowPass{.largest_groups = persistent_groups(context, tuning.tile)}});
    const bool nan_is_no_data = band.no_data && tessera::detail::is_not_a_number(*band.no_data, band.format());
    Dispatch count = domain.dispatch("count", "missing_counts", 0, {0, nan_is_no_data ? 1U : 0U});
    count.arguments = domain.arguments(record_of(context));
    use_output(context, count, Access::read_write);
    context.sink().dispatch(std::move(count));
  }

 private:
  static MissingCountsRecord record_of(const OperationContext& context) {
    MissingCountsRecord record{};
    record.counts_offset = context.output("output").first_row() * 4;
    return record;
  }
  static void use_output(const OperationContext& context, Dispatch& dispatch, Access access) {
    context.sink().bind(dispatch, offsetof(MissingCountsRecord, counts), context.output("output"), access);
  }
};

}  // namespace

const OperationImplementation& missing_counts_operation() {
  static const MissingCountsImplementation implementation;
  return implementation;
}

}  // namespace detail

Request to_request(const MissingCounts& operation) {
  register_operations();
  Request request{.operation = "missing_counts", .id = operation.id, .inputs = {}, .outputs = {}, .options = {}};
  request.input("band", operation.band);
  if (operation.quality) {
    if (operation.quality->kind == ValidityKind::bit)
      throw Error(ErrorCode::format_mismatch, {"missing_counts", "quality", "is a word or a byte per pixel", "bits"});
    request.input("quality", Source(operation.quality->rows));
  }
  request.output("output", operation.output);
  return request;
}

}  // namespace tessera::raster
