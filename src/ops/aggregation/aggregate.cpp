#include "ops/aggregation/aggregate.hpp"

#include <algorithm>
#include <string>

namespace tessera::detail {
namespace {

// Enough persistent workgroups to fill a large GPU in one wave, few enough to merge quickly; one invocation takes at
// most 32,768 turns and one workgroup at most 2^22 rows, so that its digits can't overflow.
std::uint32_t persistent_groups(const OperationContext& context, const RowTuning& tuning) {
  const bool cpu = context.sink().device().info().type == DeviceType::cpu;
  const std::uint64_t default_groups = cpu ? 128 : 512;
  const std::uint64_t rows_in_turns = std::uint64_t{16384} * tuning.workgroup_size;
  const std::uint64_t rows_per_group = std::min<std::uint64_t>(rows_in_turns, std::uint64_t{1} << 22);
  return static_cast<std::uint32_t>(std::max(default_groups, context.rows() / rows_per_group + 1));
}

// Persistent workgroups open few, long tiles where rows allow it.
RowTuning aggregate_tuning(const Device& device) {
  if (device.info().type == DeviceType::cpu) return default_row_tuning(device);
  return {.workgroup_size = 256, .rows_per_thread = 16, .rows_per_thread_in_long_spans = 64};
}

std::string module_of(const Input& input, const AggregatePlan& plan) {
  const bool calibrated = plan.domain == ValueDomain::calibrated;
  return "aggregate." + std::string(calibrated ? "float32" : variant_of(input.format()));
}

Format value_format(const Input& input, const AggregatePlan& plan) {
  return plan.domain == ValueDomain::calibrated ? Format::float32 : compute_format(input.format());
}

Dispatch finish_dispatch(const OperationContext& context, const Input& input, const AggregatePlan& plan,
                         AggregateFinishRecord record) {
  Dispatch dispatch;
  dispatch.name = "finish";
  dispatch.module = "aggregate_finish";
  const std::uint32_t workgroup_size = std::min(1024U, context.sink().device().limits().largest_workgroup_size);
  dispatch.constants = {workgroup_size};
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
    dispatch.arguments.relocate(offsetof(AggregateFinishRecord, results) + i * sizeof(AggregateResult),
                                context.sink().table(view));
    dispatch.view_uses.push_back({view, Access::write});
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
  const RowTuning tuning = aggregate_tuning(sink.device());
  const std::uint32_t largest_groups = persistent_groups(context, tuning);
  ColumnList columns;
  columns.input(&input, plan.domain).plain(mask);
  const RowDomain domain(context, columns, tuning, {RowPass{.largest_groups = largest_groups}});

  const std::uint32_t words = (plan.quantities & aggregate_squares) != 0 ? partial_words_with_squares : partial_words;
  const std::uint64_t partial_bytes = std::uint64_t{4} * words * domain.groups(0);
  const GraphBuffer partials = sink.transient(partial_bytes, "partials");

  Dispatch aggregate = domain.dispatch("aggregate", module_of(input, plan), 0, {plan.quantities, largest_groups});
  aggregate.arguments = domain.arguments(AggregateRecord{});
  aggregate.arguments.relocate_transient(offsetof(AggregateRecord, partials), partials);
  aggregate.buffer_uses.push_back({partials, 0, partial_bytes, Access::write});
  aggregate.workload.write_bytes += partial_bytes;
  sink.dispatch(std::move(aggregate));

  AggregateFinishRecord record{};
  record.partial_groups = domain.groups(0);
  record.largest_groups = largest_groups;
  Dispatch finish = finish_dispatch(context, input, plan, record);
  finish.arguments.relocate_transient(offsetof(AggregateFinishRecord, partials), partials);
  finish.buffer_uses.push_back({partials, 0, partial_bytes, Access::read});
  domain.use_latched(finish, offsetof(AggregateFinishRecord, latched));
  finish.workload.read_bytes += partial_bytes;
  sink.dispatch(std::move(finish));
}

}  // namespace tessera::detail
