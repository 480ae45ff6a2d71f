#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tessera/graph/image_nodes.hpp>

#include "graph/compiled_state.hpp"

// Images of a compiled graph: which Vulkan objects commands name, and how layouts go on from step to step.
namespace tessera::detail {

/// What the scheduler must know of a graph's resources.
std::vector<ScheduleResource> schedule_resources(const GraphParts& parts);
/// Descriptions of the images that transients share, each with the usages of all of them.
std::vector<ImageDescription> physical_images(const GraphParts& parts, const Schedule& schedule);
void summarize_images(const GraphParts& parts, const Schedule& schedule, GraphStatistics& statistics);

/// Makes the images of transients, and descriptor sets for the default bindings.
void make_images(CompiledGraph::State& graph);

/// The image behind a resource.
const Image& image_of(const CompiledGraph::State& graph, std::span<const ImportBinding> imports,
                      std::uint32_t resource);

/// Descriptor sets of one encoding. `sets` has one entry per dispatch.
struct ReboundImages {
  std::shared_ptr<ImageDescriptors> descriptors;  ///< null where nothing changed
  std::vector<VkDescriptorSet> sets;
};
ReboundImages rebind_image_sets(const CompiledGraph::State& graph, const CheckedBindings& bindings);

/// Imports whose memory the commands of a segment name: rebinding needs other commands. Ascending.
std::vector<std::uint32_t> fixed_imports(const Program& program, const Segment& segment);

/// Between two steps imported images are at rest. What takes them back to the layouts that commands from `command` on
/// expect, and what takes them to rest behind the commands before it.
std::vector<ImageBarrier> images_resumed_at(const Program& program, std::uint32_t command);
std::vector<ImageBarrier> images_paused_at(const Program& program, std::uint32_t command);

/// Begins rendering, calls the node's function and ends rendering, also when the function throws.
void record_render(const RenderNode& node, Encoder& encoder, const NodeContext& context);

}  // namespace tessera::detail
