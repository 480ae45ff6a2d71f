#include "ops/aggregation/aggregate.hpp"

#include <algorithm>
#include <string>

namespace tessera::detail {
namespace {

bool runs_in_lanes(const Device& device) { return device.info().type == DeviceType::cpu; }

Format value_format(const Input& input, const AggregatePlan& plan) {
  return plan.domain == ValueDomain::calibrated ? Format::float32 : compute_format(input.format());
}

bool sums_floats_exactly(const Input& input, const AggregatePlan& plan) {
  return value_format(input, plan) == Format::float32 && (plan.quantities & aggregate_sum) != 0 &&
         (plan.quantities & aggregate_fast) == 0;
}

// Enough persistent workgroups to fill a GPU in one wave, or two where exact float sums keep invocations busy; few
// enough to merge quickly. One invocation takes at most 32,768 turns and one workgroup at most 2^22 rows, so that its
// digits can't overflow. In lanes a turn may take ten rounds, and an invocation takes at most 2,048 turns of 16 rows.
std::uint32_t persistent_groups(const OperationContext& context, const Input& input, const AggregatePlan& plan,
                                const TileShape& tile) {
  const Device& device = context.sink().device();
  const bool lanes = runs_in_lanes(device);
  constexpr std::uint32_t usual_compute_units = 128;
  const std::uint32_t units = device.info().compute_units != 0 ? device.info().compute_units : usual_compute_units;
  const std::uint64_t default_groups = lanes ? 64 : std::uint64_t{sums_floats_exactly(input, plan) ? 8U : 4U} * units;
  const std::uint64_t rows_in_turns = std::uint64_t{lanes ? 32768U : 16384U} * tile.workgroup_size;
  const std::uint64_t rows_per_group = std::min<std::uint64_t>(rows_in_turns, std::uint64_t{1} << 22);
  return static_cast<std::uint32_t>(std::max(default_groups, context.rows() / rows_per_group + 1));
}

// Persistent workgroups open few, long tiles where rows allow it.
RowTuning aggregate_tuning(const Device& device) {
  if (runs_in_lanes(device)) return default_row_tuning(device);
  return {.tile = {.workgroup_size = 256, .rows_per_thread = 16},
          .long_tile = TileShape{.workgroup_size = 256, .rows_per_thread = 64}};
}

// Partials of one workgroup: of the smallest subgroups that it may be made of.
std::uint32_t partials_of_group(const Device& device, const TileShape& tile) {
  if (!runs_in_lanes(device)) return 1;
  return (tile.workgroup_size - 1) / std::max(device.info().subgroup_size, 1U) + 1;
}

std::string module_of(const Device& device, const Input& input, const AggregatePlan& plan) {
  const bool calibrated = plan.domain == ValueDomain::calibrated;
  return std::string(runs_in_lanes(device) ? "aggregate_lanes." : "aggregate.") +
         std::string(calibrated ? "float32" : variant_of(input.format()));
}

Dispatch finish_dispatch(const OperationContext& context, const Input& input, const AggregatePlan& plan,
                         AggregateFinishRecord record) {
  Dispatch dispatch;
  dispatch.name = "finish";
  dispatch.module = "aggregate_finish";
  const std::uint32_t workgroup_size = std::min(1024U, context.sink().device().limits().largest_workgroup_size);
  std::uint32_t kinds = 0;
  std::uint32_t formats = 0;
  for (const AggregateOutput& output : plan.outputs) {
    kinds |= 1U << output.kind;
    formats |= 1U << static_cast<std::uint32_t>(output.view.format());
  }
  dispatch.constants = {workgroup_size, kinds, formats};
  record.value_format = static_cast<std::uint32_t>(value_format(input, plan));
  record.quantities = plan.quantities;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const VectorView& view = plan.outputs[i].view;
    record.results[i].kind = plan.outputs[i].kind;
    record.results[i].format = static_cast<std::uint32_t>(view.format());
    record.results[i].byte_offset = view.first_row() * size_of(view.format());
  }
  dispatch.arguments = ArgumentRecord(record);
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const VectorView& view = plan.outputs[i].view;
    context.sink().bind(dispatch, offsetof(AggregateFinishRecord, results) + i * sizeof(AggregateResult), view,
                        Access::write);
    dispatch.workload.write_bytes += view.length() * size_of(view.format());
  }
  dispatch.workload.invocations = workgroup_size;
  return dispatch;
}

}  // namespace

void record_aggregate(const OperationContext& context, const Input& input, const Input* mask,
                      const AggregatePlan& plan) {
  NodeSink& sink = context.sink();
  if (context.rows() == 0) {
    sink.dispatch(finish_dispatch(context, input, plan, {}));
    return;
  }
  RowTuning tuning = aggregate_tuning(sink.device());
  const std::uint32_t largest_groups = persistent_groups(context, input, plan, tuning.tile);
  if (!runs_in_lanes(sink.device())) tuning.shares = largest_groups;
  ColumnList columns;
  columns.input(&input, plan.domain).plain(mask);
  const RowDomain domain(context, columns, tuning, {RowPass{.largest_groups = largest_groups}});

  const std::uint32_t group_partials = partials_of_group(sink.device(), tuning.tile);
  const std::uint32_t words = (plan.quantities & aggregate_squares) != 0 ? partial_words_with_squares : partial_words;
  const std::uint64_t partial_bytes = std::uint64_t{4} * words * domain.groups(0) * group_partials;
  const GraphBuffer partials = sink.transient(partial_bytes, "partials");

  std::vector<std::uint32_t> constants{plan.quantities, largest_groups};
  if (runs_in_lanes(sink.device())) constants.push_back(group_partials);
  Dispatch aggregate = domain.dispatch("aggregate", module_of(sink.device(), input, plan), 0, constants);
  aggregate.arguments = domain.arguments(AggregateRecord{});
  aggregate.arguments.relocate_transient(offsetof(AggregateRecord, partials), partials);
  aggregate.buffer_uses.push_back({partials, 0, partial_bytes, Access::write});
  aggregate.workload.write_bytes += partial_bytes;
  sink.dispatch(std::move(aggregate));

  AggregateFinishRecord record{};
  record.partial_groups = domain.groups(0);
  record.partials_per_group = group_partials;
  record.largest_groups = largest_groups;
  Dispatch finish = finish_dispatch(context, input, plan, record);
  finish.arguments.relocate_transient(offsetof(AggregateFinishRecord, partials), partials);
  finish.buffer_uses.push_back({partials, 0, partial_bytes, Access::read});
  domain.use_latched(finish, offsetof(AggregateFinishRecord, latched));
  finish.workload.read_bytes += partial_bytes;
  sink.dispatch(std::move(finish));
}

}  // namespace tessera::detail
