#include <algorithm>

#include "graph/compiled_images.hpp"
#include "graph/encoding_state.hpp"
#include "graph/reject.hpp"

namespace tessera {

std::uint64_t Encoding::executed_nodes() const noexcept { return state_->executed; }
std::uint64_t Encoding::skipped_nodes() const noexcept { return state_->skipped; }
std::uint64_t Encoding::barriers() const noexcept { return state_->barriers; }
std::span<const NodeReport> Encoding::nodes() const noexcept { return state_->reports; }

std::vector<double> Encoding::node_nanoseconds() const {
  std::vector<double> times;
  for (const detail::NodeSpan& span : detail::node_spans(*state_)) times.push_back(span.nanoseconds);
  return times;
}

namespace detail {

std::vector<NodeSpan> node_spans(const Encoding::State& encoding) {
  std::vector<NodeSpan> spans;
  if (!encoding.timestamps) return spans;
  std::uint32_t queries = 0;
  for (const std::uint32_t query : encoding.first_query) queries += query == no_index ? 0 : 2;
  std::vector<std::uint64_t> ticks = encoding.timestamps->ticks(0, queries);
  if (ticks.size() != queries) {
    Device device = encoding.program->device;
    device.wait_idle();
    ticks = encoding.timestamps->ticks(0, queries);
  }
  if (ticks.size() != queries) {
    reject(ErrorCode::execution_order, "encoding", "node_nanoseconds",
           "the encoder is submitted before times are read");
  }
  spans.reserve(encoding.first_query.size());
  double skipped_at = 0;  // a node that did not run has the time of the one before
  for (const std::uint32_t query : encoding.first_query) {
    if (query == no_index) {
      spans.push_back({.begin = skipped_at, .nanoseconds = 0});
      continue;
    }
    const NodeSpan span{.begin = encoding.timestamps->nanoseconds(ticks[0], ticks[query]),
                        .nanoseconds = encoding.timestamps->nanoseconds(ticks[query], ticks[query + 1])};
    skipped_at = span.begin + span.nanoseconds;
    spans.push_back(span);
  }
  return spans;
}

std::vector<RecordedCommand> recorded_commands(const Encoding::State& encoding) {
  const Program& program = *encoding.program;
  std::vector<RecordedCommand> commands;
  commands.push_back({.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = full_barrier});
  constexpr std::uint32_t transfer = bit_of(Stage::transfer);
  constexpr std::uint32_t compute = bit_of(Stage::compute);
  const RecordedCommand update{.kind = RecordedCommand::Kind::binding_update, .node = 0, .barrier = {}};
  const auto add_barrier = [&](const ScheduleBarrier& barrier) {
    commands.push_back({.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = barrier});
  };
  if (encoding.updates_bindings) {
    commands.push_back(update);
    add_barrier({.source_stages = transfer,
                 .source_writes = transfer,
                 .destination_stages = compute,
                 .destination_reads = compute,
                 .destination_writes = 0});
  }
  const auto add_image_barriers = [&](std::vector<ImageBarrier> images) {
    if (images.empty()) return;
    commands.push_back({.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = {}, .images = std::move(images)});
  };
  add_image_barriers(images_resumed_at(program, encoding.first_command));
  for (std::uint32_t place = encoding.first_command; place < encoding.last_command; ++place) {
    const ScheduleCommand& command = program.schedule.commands[place];
    if (command.kind == ScheduleCommand::Kind::barrier) {
      commands.push_back(
          {.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = program.schedule.barriers[command.index]});
      if (!program.schedule.image_barriers.empty()) {
        commands.back().images = program.schedule.image_barriers[command.index];
      }
      continue;
    }
    const std::uint32_t scope = program.parts.nodes[command.index].host_scope;
    if (scope != no_index && encoding.host_conditions[scope] == 0) continue;
    const bool custom = program.parts.nodes[command.index].custom != no_index;
    if (custom) commands.push_back({.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = full_barrier});
    commands.push_back({.kind = RecordedCommand::Kind::node, .node = command.index, .barrier = {}});
    if (custom) commands.push_back({.kind = RecordedCommand::Kind::barrier, .node = 0, .barrier = full_barrier});
  }
  add_image_barriers(images_paused_at(program, encoding.last_command));
  if (encoding.restores_bindings) {
    add_barrier({.source_stages = compute | transfer,
                 .source_writes = transfer,
                 .destination_stages = transfer,
                 .destination_reads = 0,
                 .destination_writes = transfer});
    commands.push_back(update);
  }
  return commands;
}

}  // namespace detail
}  // namespace tessera
