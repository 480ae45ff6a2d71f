#include "graph/recording.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "device/testing.hpp"
#include "graph/compiled_images.hpp"

namespace tessera::detail {
namespace {

struct StageMasks {
  VkPipelineStageFlags2 stage;
  VkAccessFlags2 read;
  VkAccessFlags2 write;
};

/// By address, or as the application's own pipelines bind buffers.
constexpr VkAccessFlags2 shader_reads = VK_ACCESS_2_SHADER_STORAGE_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT;

StageMasks masks_of(Stage stage) {
  switch (stage) {
    case Stage::compute:
      return {VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT,
              VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT};
    case Stage::indirect:
      return {VK_PIPELINE_STAGE_2_DRAW_INDIRECT_BIT, VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT, VK_ACCESS_2_NONE};
    case Stage::transfer:
      // A custom node may copy with kernels or with copy commands.
      return {VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT};
    case Stage::vertex:
      return {VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT,
              VK_ACCESS_2_INDEX_READ_BIT | VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | shader_reads, VK_ACCESS_2_NONE};
    case Stage::fragment:
      return {VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, shader_reads, VK_ACCESS_2_NONE};
    case Stage::color:
      return {VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
              VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
  }
  return {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT};
}

template <class Member>
VkFlags64 collect(std::uint32_t stages, Member member) {
  VkFlags64 flags = 0;
  for (std::uint32_t stage = 0; stage < stage_count; ++stage) {
    if ((stages >> stage & 1U) != 0) flags |= masks_of(static_cast<Stage>(stage)).*member;
  }
  return flags;
}

}  // namespace

void NodeRecorder::node(std::uint32_t node) {
  const GraphNode& entry = graph_.program->parts.nodes[node];
  if (entry.dispatch != no_index) {
    dispatch(entry.dispatch);
  } else {
    transfer(graph_.program->parts.transfers[entry.transfer]);
  }
}

void NodeRecorder::dispatch(std::uint32_t index) {
  const Program& program = *graph_.program;
  const GraphDispatch& dispatch = program.parts.dispatches[index];
  const VkPipeline pipeline = program.pipelines[index];
  if (pipeline != bound_) {
    functions_.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    bound_ = pipeline;
  }
  std::array<std::uint64_t, 2> addresses{graph_.arena.state()->address + program.record_offsets[index], 0};
  if (access_is_checked) addresses[1] = graph_.access_tables.state()->address + program.access_offsets[index];
  VkPipelineLayout layout = program.device.state()->pipeline_layout();
  if (!dispatch.dispatch.image_uses.empty()) {
    layout = program.device.state()->image_kernels().pipeline_layout();
    functions_.vkCmdBindDescriptorSets(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1,
                                       &memory_.image_sets[index], 0, nullptr);
  }
  functions_.vkCmdPushConstants(commands_, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, access_is_checked ? 16 : 8,
                                addresses.data());
  if (dispatch.indirect) {
    const BufferState& scratch = *graph_.scratch.state();
    const std::uint64_t placement = program.schedule.placement[dispatch.indirect->resource].value_or(0);
    functions_.vkCmdDispatchIndirect(commands_, scratch.buffer,
                                     scratch.offset + placement + dispatch.indirect->byte_offset);
  } else {
    const auto& groups = dispatch.dispatch.groups;
    functions_.vkCmdDispatch(commands_, groups[0], groups[1], groups[2]);
  }
}

void NodeRecorder::barrier(std::uint32_t index) {
  const Schedule& schedule = graph_.program->schedule;
  const ScheduleBarrier& barrier = schedule.barriers[index];
  VkMemoryBarrier2 memory{};
  memory.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  memory.srcStageMask = collect(barrier.source_stages, &StageMasks::stage);
  memory.srcAccessMask = collect(barrier.source_writes, &StageMasks::write);
  memory.dstStageMask = collect(barrier.destination_stages, &StageMasks::stage);
  memory.dstAccessMask =
      collect(barrier.destination_reads, &StageMasks::read) | collect(barrier.destination_writes, &StageMasks::write);
  if (!schedule.image_barriers.empty() && !schedule.image_barriers[index].empty()) {
    record_image_barriers(memory, schedule.image_barriers[index]);
    return;
  }
  record_barrier(functions_, commands_, memory.srcStageMask, memory.srcAccessMask, memory.dstStageMask,
                 memory.dstAccessMask);
}

std::vector<Segment> cut_segments(const Program& program) {
  std::vector<Segment> segments;
  for (std::uint32_t index = 0; index < program.schedule.commands.size(); ++index) {
    const ScheduleCommand& command = program.schedule.commands[index];
    const bool is_node = command.kind == ScheduleCommand::Kind::node;
    std::uint32_t host_scope = no_index;
    std::uint32_t callback = no_index;
    if (is_node) {
      host_scope = program.parts.nodes[command.index].host_scope;
      if (program.parts.nodes[command.index].has_callback()) callback = command.index;
    }
    const bool fits = !segments.empty() && callback == no_index && segments.back().callback == no_index &&
                      segments.back().host_scope == host_scope;
    if (!fits) {
      segments.push_back({.first_command = index,
                          .host_scope = host_scope,
                          .callback = callback,
                          .fixed_imports = {},
                          .commands = {}});
    }
    Segment& segment = segments.back();
    segment.last_command = index + 1;
    ++(is_node ? segment.nodes : segment.barriers);
  }
  return segments;
}

void record_segments(CompiledGraph::State& graph) {
  const Program& program = *graph.program;
  graph.segments = cut_segments(program);
  for (std::size_t index = 0; index < graph.segments.size(); ++index) {
    Segment& segment = graph.segments[index];
    if (segment.callback != no_index) continue;
    segment.fixed_imports = fixed_imports(program, segment);
    const bool bound = std::all_of(segment.fixed_imports.begin(), segment.fixed_imports.end(),
                                   [&](std::uint32_t import) { return program.defaults[import].bound(); });
    if (!bound) continue;
    segment.commands =
        std::make_shared<SecondaryCommands>(program.device.state(), "graph segment " + std::to_string(index));
    NodeRecorder recorder(graph, segment.commands->begin(), {program.defaults, graph.image_sets});
    for (std::uint32_t place = segment.first_command; place < segment.last_command; ++place) {
      const ScheduleCommand& command = program.schedule.commands[place];
      if (command.kind == ScheduleCommand::Kind::node) {
        recorder.node(command.index);
      } else {
        recorder.barrier(command.index);
      }
    }
    segment.commands->end();
  }
}

std::shared_ptr<const PreparedCommands> prepare_segments(const CompiledGraph::State& graph) {
  std::vector<VkCommandBuffer> parts;
  for (const Segment& segment : graph.segments) parts.push_back(segment.commands->handle());
  return std::make_shared<const PreparedCommands>(graph.program->device.state(), std::move(parts));
}

}  // namespace tessera::detail
