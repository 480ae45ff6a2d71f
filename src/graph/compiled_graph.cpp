#include <tessera/graph/graph.hpp>

#include <algorithm>
#include <utility>

#include "graph/encoding_state.hpp"
#include "graph/inspect.hpp"
#include "graph/reject.hpp"
#include "graph/steps.hpp"

namespace tessera {

/// A cursor over the steps of one execution.
struct Execution::State {
  std::shared_ptr<CompiledGraph::State> graph;
  std::vector<ExecutionStep> steps;
  std::vector<std::uint32_t> first_commands;  ///< per step, and the end: where its commands begin in the schedule
  std::size_t next = 0;
  std::vector<std::uint8_t> host_conditions;  ///< as the first step found them
};

namespace detail {
namespace {

/// Where the commands of each step begin. Barriers go with the node behind them.
std::vector<std::uint32_t> first_commands_of(const Program& program, const std::vector<ExecutionStep>& steps) {
  std::vector<std::uint32_t> first_commands;
  std::uint64_t nodes = 0;
  std::uint32_t after_node = 0;
  std::size_t step = 0;
  for (std::uint32_t place = 0; place < program.schedule.commands.size(); ++place) {
    if (program.schedule.commands[place].kind != ScheduleCommand::Kind::node) continue;
    if (step < steps.size() && steps[step].first_node == nodes) {
      first_commands.push_back(after_node);
      ++step;
    }
    ++nodes;
    after_node = place + 1;
  }
  first_commands.push_back(static_cast<std::uint32_t>(program.schedule.commands.size()));
  return first_commands;
}

InspectedResource::Kind inspected_kind(const GraphResource& resource, const std::vector<GraphImport>& imports) {
  using Kind = InspectedResource::Kind;
  if (resource.kind == ResourceKind::transient) return Kind::transient;
  if (resource.kind == ResourceKind::transient_image) return Kind::transient_image;
  const bool bound = imports[resource.import].has_default();
  if (resource.kind == ResourceKind::imported_image) return bound ? Kind::imported_image : Kind::declared_image;
  if (resource.kind == ResourceKind::imported_vector) return bound ? Kind::imported_vector : Kind::declared_vector;
  return bound ? Kind::imported_buffer : Kind::declared_buffer;
}

InspectedNode inspected_node(const GraphParts& parts, const GraphNode& node) {
  InspectedNode inspected;
  inspected.id = node.id;
  inspected.gated = node.gated;
  for (std::uint32_t scope = node.host_scope; scope != no_index; scope = parts.host_scopes[scope].parent) {
    inspected.host_conditions.push_back(parts.host_scopes[scope].id);
  }
  std::reverse(inspected.host_conditions.begin(), inspected.host_conditions.end());
  inspected.uses = parts.uses_of(node);
  inspected.workload = parts.workload_of(node);
  if (node.dispatch == no_index) {
    inspected.kind = node.custom != no_index   ? InspectedNode::Kind::custom
                     : node.render != no_index ? InspectedNode::Kind::render
                                               : InspectedNode::Kind::image_transfer;
    return inspected;
  }
  const GraphDispatch& entry = parts.dispatches[node.dispatch];
  inspected.module = entry.dispatch.module;
  inspected.constants = entry.dispatch.constants;
  inspected.groups = entry.dispatch.groups;
  if (entry.indirect) {
    inspected.indirect = {.resource = entry.indirect->resource, .byte_offset = entry.indirect->byte_offset};
  }
  inspected.note = entry.dispatch.note;
  return inspected;
}

GraphInspection inspect(const Program& program) {
  const GraphParts& parts = program.parts;
  GraphInspection inspection{.device = program.device.info().name,
                             .resources = {},
                             .nodes = {},
                             .schedule = program.schedule,
                             .statistics = program.statistics};
  for (const GraphResource& resource : parts.resources) {
    InspectedResource inspected{
        .id = resource.id, .kind = inspected_kind(resource, parts.imports), .bytes = resource.bytes, .format = {}};
    if (inspected.is_vector()) {
      const ChunkList& shape = *parts.imports[resource.import].shape;
      inspected.format = name_of(shape.format);
      inspected.rows = shape.first_row.back();
      inspected.chunks = shape.chunks.size();
    }
    if (resource.is_image()) {
      const ImageDescription& image = parts.images[resource.image];
      inspected.bytes = image.bytes();
      inspected.format = name_of(image.format);
      inspected.width = image.width;
      inspected.height = image.height;
      inspected.usage = names_of(image.usage);
    }
    inspection.resources.push_back(std::move(inspected));
  }
  for (const GraphNode& node : parts.nodes) inspection.nodes.push_back(inspected_node(parts, node));
  return inspection;
}

}  // namespace
}  // namespace detail

Encoding CompiledGraph::encode(Encoder& encoder, std::span<const Rebinding> rebindings, const EncodeOptions& options) {
  return detail::encode(state_, encoder,
                        {.rebindings = rebindings,
                         .options = options,
                         .first_command = 0,
                         .last_command = static_cast<std::uint32_t>(state_->program->schedule.commands.size())});
}

Execution CompiledGraph::execute_in_steps(const WorkBudget& budget) {
  const detail::Program& program = *state_->program;
  std::vector<detail::Workload> costs;
  costs.reserve(program.schedule.order.size());
  for (const std::uint32_t node : program.schedule.order) {
    costs.push_back(program.parts.workload_of(program.parts.nodes[node]));
  }
  auto execution = std::make_shared<Execution::State>();
  execution->graph = state_;
  execution->steps = detail::plan_steps(costs, budget);
  execution->first_commands = detail::first_commands_of(program, execution->steps);
  return Execution(std::move(execution));
}

CompiledGraph CompiledGraph::clone() const { return CompiledGraph(std::make_shared<State>(state_->program)); }

const GraphStatistics& CompiledGraph::statistics() const noexcept { return state_->program->statistics; }
const Device& CompiledGraph::device() const noexcept { return state_->program->device; }

std::string CompiledGraph::inspect_json() const { return detail::inspection_json(detail::inspect(*state_->program)); }
std::string CompiledGraph::inspect_dot() const { return detail::inspection_dot(detail::inspect(*state_->program)); }

std::string CompiledGraph::chrome_trace(const Encoding& encoding) const {
  const Encoding::State& recorded = encoding.state();
  if (recorded.program != state_->program) {
    detail::reject(ErrorCode::foreign_graph, "chrome_trace", "encoding", "the encoding is of this graph");
  }
  if (!recorded.timestamps) {
    detail::reject(ErrorCode::invalid_argument, "chrome_trace", "encoding",
                   "the encoding was made with Timing::per_node");
  }
  std::vector<detail::NodeTime> times;
  const std::vector<detail::NodeSpan> spans = detail::node_spans(recorded);
  for (std::size_t index = 0; index < spans.size(); ++index) {
    times.push_back({.begin_nanoseconds = spans[index].begin,
                     .nanoseconds = spans[index].nanoseconds,
                     .outcome = recorded.reports[index].outcome});
  }
  return detail::inspection_chrome_trace(detail::inspect(*state_->program), times);
}

std::span<const ExecutionStep> Execution::steps() const noexcept { return state_->steps; }
std::uint64_t Execution::steps_done() const noexcept { return state_->next; }
bool Execution::done() const noexcept { return state_->next == state_->steps.size(); }

Encoding Execution::encode_next(Encoder& encoder, std::span<const Rebinding> rebindings, const EncodeOptions& options) {
  if (done()) {
    detail::reject(ErrorCode::execution_order, "execution", "encode_next", "steps are left",
                   detail::values_of("steps", state_->steps.size()));
  }
  Encoding encoding = detail::encode(state_->graph, encoder,
                                     {.rebindings = rebindings,
                                      .options = options,
                                      .first_command = state_->first_commands[state_->next],
                                      .last_command = state_->first_commands[state_->next + 1],
                                      .decided = state_->next == 0 ? nullptr : &state_->host_conditions});
  state_->host_conditions = encoding.state().host_conditions;
  ++state_->next;
  return encoding;
}

}  // namespace tessera
