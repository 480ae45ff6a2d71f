#include "graph/recording.hpp"

#include <string>

namespace tessera::detail {
namespace {

struct StageMasks {
  VkPipelineStageFlags2 stage;
  VkAccessFlags2 read;
  VkAccessFlags2 write;
};

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
  }
  return {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT};
}

template <class Member>
VkFlags64 collect(std::uint32_t stages, Member member) {
  VkFlags64 flags = 0;
  for (const Stage stage : {Stage::compute, Stage::indirect, Stage::transfer}) {
    if ((stages & bit_of(stage)) != 0) flags |= masks_of(stage).*member;
  }
  return flags;
}

}  // namespace

void NodeRecorder::node(std::uint32_t node) {
  const Program& program = *graph_.program;
  const std::uint32_t index = program.parts.nodes[node].dispatch;
  const GraphDispatch& dispatch = program.parts.dispatches[index];
  const VkPipeline pipeline = program.pipelines[index];
  if (pipeline != bound_) {
    functions_.vkCmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    bound_ = pipeline;
  }
  const std::uint64_t record = graph_.arena.state()->address + program.record_offsets[index];
  functions_.vkCmdPushConstants(commands_, program.device.state()->pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                sizeof(record), &record);
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

void NodeRecorder::barrier(const ScheduleBarrier& barrier) {
  record_barrier(
      functions_, commands_, collect(barrier.source_stages, &StageMasks::stage),
      collect(barrier.source_writes, &StageMasks::write), collect(barrier.destination_stages, &StageMasks::stage),
      collect(barrier.destination_reads, &StageMasks::read) | collect(barrier.destination_writes, &StageMasks::write));
}

std::vector<Segment> cut_segments(const Program& program) {
  std::vector<Segment> segments;
  for (std::uint32_t index = 0; index < program.schedule.commands.size(); ++index) {
    const ScheduleCommand& command = program.schedule.commands[index];
    const bool is_node = command.kind == ScheduleCommand::Kind::node;
    std::uint32_t host_scope = no_index;
    std::uint32_t custom = no_index;
    if (is_node) {
      host_scope = program.parts.nodes[command.index].host_scope;
      custom = program.parts.nodes[command.index].custom;
    }
    const bool fits = !segments.empty() && custom == no_index && segments.back().custom == no_index &&
                      segments.back().host_scope == host_scope;
    if (!fits) segments.push_back({.first_command = index, .host_scope = host_scope, .custom = custom, .commands = {}});
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
    if (segment.custom != no_index) continue;
    segment.commands =
        std::make_shared<SecondaryCommands>(program.device.state(), "graph segment " + std::to_string(index));
    NodeRecorder recorder(graph, segment.commands->begin());
    for (std::uint32_t place = segment.first_command; place < segment.last_command; ++place) {
      const ScheduleCommand& command = program.schedule.commands[place];
      if (command.kind == ScheduleCommand::Kind::node) {
        recorder.node(command.index);
      } else {
        recorder.barrier(program.schedule.barriers[command.index]);
      }
    }
    segment.commands->end();
  }
}

}  // namespace tessera::detail
