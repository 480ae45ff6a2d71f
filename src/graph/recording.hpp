#pragma once

#include <cstdint>

#include "graph/compiled_state.hpp"

// From a schedule's commands to Vulkan's.
namespace tessera::detail {

/// Records commands of the schedule into one command buffer. Not thread-safe.
class NodeRecorder {
 public:
  NodeRecorder(const CompiledGraph::State& graph, VkCommandBuffer commands)
      : graph_(graph), functions_(graph.program->device.state()->functions()), commands_(commands) {}

  /// A dispatch; not a custom node.
  void node(std::uint32_t node);
  void barrier(const ScheduleBarrier& barrier);
  /// What is bound is not known any more: the command buffer was used by others.
  void forget() noexcept { bound_ = VK_NULL_HANDLE; }

 private:
  const CompiledGraph::State& graph_;
  const DeviceFunctions& functions_;
  VkCommandBuffer commands_;
  VkPipeline bound_ = VK_NULL_HANDLE;
};

/// Cuts the schedule's commands where something is decided at encoding. Barriers always lie in segments that always
/// run.
std::vector<Segment> cut_segments(const Program& program);
/// Records the segments of a graph, custom nodes apart, into secondary command buffers.
void record_segments(CompiledGraph::State& graph);

}  // namespace tessera::detail
