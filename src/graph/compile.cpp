#include <tessera/graph/graph.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "device/internal.hpp"
#include "graph/access_tables.hpp"
#include "graph/arena.hpp"
#include "graph/bindings.hpp"
#include "graph/compiled_images.hpp"
#include "graph/recording.hpp"
#include "graph/reject.hpp"

namespace tessera {
namespace detail {
namespace {

/// Nodes with callbacks name nodes that run before them.
void resolve_dependencies(const GraphParts& parts, std::vector<ScheduleNode>& nodes) {
  std::unordered_map<std::string_view, std::uint32_t> by_id;
  for (std::uint32_t index = 0; index < parts.nodes.size(); ++index) {
    const std::span<const std::string> named = parts.named_dependencies(parts.nodes[index]);
    if (named.empty()) continue;
    if (by_id.empty()) {
      for (std::uint32_t node = 0; node < parts.nodes.size(); ++node) by_id.emplace(parts.nodes[node].id, node);
    }
    for (const std::string& id : named) {
      const auto found = by_id.find(id);
      if (found == by_id.end()) {
        reject(ErrorCode::unknown_id, parts.nodes[index].id, "depends_on", "it names nodes of the graph",
               values_of("id", id));
      }
      nodes[index].depends_on.push_back(found->second);
    }
  }
}

void schedule(Program& program) {
  const GraphParts& parts = program.parts;
  program.schedule_nodes.reserve(parts.nodes.size());
  for (const GraphNode& node : parts.nodes) {
    program.schedule_nodes.push_back({.id = node.id, .uses = parts.uses_of(node), .depends_on = {}});
  }
  resolve_dependencies(parts, program.schedule_nodes);
  program.schedule = make_schedule(program.schedule_nodes, schedule_resources(parts));
  program.physical_images = physical_images(parts, program.schedule);
}

void build_pipelines(Program& program) {
  DeviceState& device = *program.device.state();
  program.pipelines.reserve(program.parts.dispatches.size());
  for (const GraphDispatch& entry : program.parts.dispatches) {
    const SubgroupRule rule =
        entry.dispatch.subgroups == FullSubgroups::required ? SubgroupRule::full : SubgroupRule::any;
    const bool on_images = !entry.dispatch.image_uses.empty();
    if (on_images) program.image_dispatches.push_back(static_cast<std::uint32_t>(program.pipelines.size()));
    const VkPipelineLayout layout = on_images ? device.image_kernels().pipeline_layout() : device.pipeline_layout();
    program.pipelines.push_back(device.compute_pipeline(entry.dispatch.module, entry.dispatch.constants, rule, layout));
  }
}

void summarize(Program& program) {
  const GraphParts& parts = program.parts;
  GraphStatistics& statistics = program.statistics;
  statistics.node_count = parts.nodes.size();
  statistics.barrier_count = program.schedule.barriers.size();
  statistics.import_count = parts.imports.size();
  statistics.logical_transient_count = program.schedule.logical_transient_count;
  statistics.logical_transient_bytes = program.schedule.logical_transient_bytes;
  statistics.physical_transient_bytes = program.schedule.scratch_bytes;
  statistics.argument_bytes = program.arena_bytes;
  for (const GraphImport& import : parts.imports) {
    if (import.has_default()) statistics.imported_bytes += parts.resources[import.resource].bytes;
  }
  for (const auto& table : parts.tables) statistics.table_bytes += table->chunks.size() * 8;
  for (const GraphNode& node : parts.nodes) {
    const Workload workload = parts.workload_of(node);
    if (node.dispatch != no_index) ++statistics.dispatch_count;
    statistics.read_bytes += workload.read_bytes;
    statistics.write_bytes += workload.write_bytes;
    statistics.invocations += workload.invocations;
  }
  if (!parts.images.empty()) summarize_images(parts, program.schedule, statistics);
  statistics.node_order.reserve(parts.nodes.size());
  for (const std::uint32_t node : program.schedule.order) statistics.node_order.push_back(parts.nodes[node].id);
}

void build(Program& program) {
  schedule(program);
  note_usage(program);
  check_default_bindings(program);
  plan_arena(program);
  build_pipelines(program);
  upload_constants(program);
  if (access_is_checked) plan_access_tables(program);
  summarize(program);
}

}  // namespace
}  // namespace detail

CompiledGraph Graph::compile() {
  state_->require_mutable("compile");
  state_->device.state()->require_alive("compile");
  auto program = std::make_shared<detail::Program>(state_->device);
  program->graph = state_->identity;
  program->parts = std::move(static_cast<detail::GraphParts&>(*state_));
  state_->frozen = true;
  try {
    detail::build(*program);
    CompiledGraph compiled(std::make_shared<CompiledGraph::State>(program));
    program->parts.constants.clear();
    if (!state_->keeps_default_bindings) detail::forget_default_bindings(*program, compiled.state());
    return compiled;
  } catch (...) {
    static_cast<detail::GraphParts&>(*state_) = std::move(program->parts);
    state_->frozen = false;
    throw;
  }
}

CompiledGraph::State::State(std::shared_ptr<const detail::Program> source)
    : program(std::move(source)), device_(program->device) {
  const bool has_scratch = std::any_of(program->schedule.placement.begin(), program->schedule.placement.end(),
                                       [](const auto& placement) { return placement.has_value(); });
  if (has_scratch) {
    scratch =
        device_.allocate(program->schedule.scratch_bytes, {.memory = MemoryKind::device, .name = "graph scratch"});
  }
  arena = device_.allocate(program->arena_bytes, {.memory = MemoryKind::device, .name = "graph arguments"});
  if (detail::access_is_checked) {
    access_tables = device_.allocate(program->access_bytes, {.memory = MemoryKind::device, .name = "access tables"});
  }
  pool = std::make_shared<detail::TableVersionPool>(device_);
  defaults_complete = std::all_of(program->defaults.begin(), program->defaults.end(),
                                  [](const detail::ImportBinding& binding) { return binding.bound(); });
  detail::fill_arena(*this);
  if (!program->parts.images.empty()) detail::make_images(*this);
  detail::record_segments(*this);
}

}  // namespace tessera
