#include <tessera/graph/graph.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "device/internal.hpp"
#include "graph/arena.hpp"
#include "graph/bindings.hpp"
#include "graph/recording.hpp"
#include "graph/reject.hpp"

namespace tessera {
namespace detail {
namespace {

/// Custom nodes name nodes that run before them.
void resolve_dependencies(const GraphParts& parts, std::vector<ScheduleNode>& nodes) {
  std::unordered_map<std::string_view, std::uint32_t> by_id;
  for (std::uint32_t index = 0; index < parts.nodes.size(); ++index) {
    const std::uint32_t custom = parts.nodes[index].custom;
    if (custom == no_index) continue;
    if (by_id.empty()) {
      for (std::uint32_t node = 0; node < parts.nodes.size(); ++node) by_id.emplace(parts.nodes[node].id, node);
    }
    for (const std::string& id : parts.customs[custom].node.depends_on) {
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
    const auto& uses = node.custom != no_index ? parts.customs[node.custom].uses : parts.dispatches[node.dispatch].uses;
    program.schedule_nodes.push_back({.id = node.id, .uses = uses, .depends_on = {}});
  }
  resolve_dependencies(parts, program.schedule_nodes);
  std::vector<ScheduleResource> resources;
  resources.reserve(parts.resources.size());
  for (const GraphResource& resource : parts.resources) {
    resources.push_back(
        {.id = resource.id, .transient = resource.kind == ResourceKind::transient, .bytes = resource.bytes});
  }
  program.schedule = make_schedule(program.schedule_nodes, resources);
}

void build_pipelines(Program& program) {
  DeviceState& device = *program.device.state();
  program.pipelines.reserve(program.parts.dispatches.size());
  for (const GraphDispatch& entry : program.parts.dispatches) {
    const SubgroupRule rule =
        entry.dispatch.subgroups == FullSubgroups::required ? SubgroupRule::full : SubgroupRule::any;
    program.pipelines.push_back(device.compute_pipeline(entry.dispatch.module, entry.dispatch.constants, rule));
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
    if (node.dispatch == no_index) continue;
    const Workload& workload = parts.dispatches[node.dispatch].dispatch.workload;
    ++statistics.dispatch_count;
    statistics.read_bytes += workload.read_bytes;
    statistics.write_bytes += workload.write_bytes;
    statistics.invocations += workload.invocations;
  }
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
  pool = std::make_shared<detail::TableVersionPool>(device_);
  defaults_complete = std::all_of(program->defaults.begin(), program->defaults.end(),
                                  [](const detail::ImportBinding& binding) { return binding.bound(); });
  detail::fill_arena(*this);
  detail::record_segments(*this);
}

}  // namespace tessera
