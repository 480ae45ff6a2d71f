#pragma once

#include <cstdint>
#include <span>

#include "graph/compiled_state.hpp"

// From a schedule's commands to Vulkan's.
namespace tessera::detail {

/// What commands name besides addresses.
struct RecordedMemory {
  std::span<const ImportBinding> imports;
  std::span<const VkDescriptorSet> image_sets;  ///< per dispatch
};

/// Records commands of the schedule into one command buffer. Not thread-safe.
class NodeRecorder {
 public:
  NodeRecorder(const CompiledGraph::State& graph, VkCommandBuffer commands, const RecordedMemory& memory)
      : graph_(graph), functions_(graph.program->device.state()->functions()), commands_(commands), memory_(memory) {}

  /// A dispatch or a transfer; not a node with a callback.
  void node(std::uint32_t node);
  /// A barrier of the schedule, by index.
  void barrier(std::uint32_t index);
  /// Barriers of images alone.
  void image_barriers(std::span<const ImageBarrier> barriers) { record_image_barriers({}, barriers); }
  /// What is bound is not known any more: the command buffer was used by others.
  void forget() noexcept { bound_ = VK_NULL_HANDLE; }

 private:
  void dispatch(std::uint32_t index);
  void transfer(const ImageTransfer& transfer);
  /// With the global barrier beside them, where that has stages.
  void record_image_barriers(const VkMemoryBarrier2& memory, std::span<const ImageBarrier> images);

  const CompiledGraph::State& graph_;
  const DeviceFunctions& functions_;
  VkCommandBuffer commands_;
  RecordedMemory memory_;
  VkPipeline bound_ = VK_NULL_HANDLE;
};

/// Cuts the schedule's commands where something is decided at encoding. Barriers always lie in segments that always
/// run.
std::vector<Segment> cut_segments(const Program& program);
/// Records the segments of a graph, nodes with callbacks apart, into secondary command buffers.
void record_segments(CompiledGraph::State& graph);
/// All segments as one; each has commands.
std::shared_ptr<const PreparedCommands> prepare_segments(const CompiledGraph::State& graph);

}  // namespace tessera::detail
