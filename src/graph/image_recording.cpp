#include <array>
#include <vector>

#include <tessera/interop/vulkan.hpp>

#include "graph/compiled_images.hpp"
#include "graph/image_values.hpp"
#include "graph/recording.hpp"

// Commands on images: barriers with layouts, copies and clears, rendering.
namespace tessera::detail {
namespace {

struct Scope {
  VkPipelineStageFlags2 stages = 0;
  VkAccessFlags2 access = 0;
};

struct ImageStage {
  Stage stage;
  VkPipelineStageFlags2 stages;
  VkAccessFlags2 read;
  VkAccessFlags2 write;
};

constexpr VkAccessFlags2 image_reads = VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT;

constexpr std::array image_stages = {
    ImageStage{Stage::compute, VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, image_reads,
               VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT},
    ImageStage{Stage::transfer, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_READ_BIT,
               VK_ACCESS_2_TRANSFER_WRITE_BIT},
    ImageStage{Stage::vertex, VK_PIPELINE_STAGE_2_VERTEX_SHADER_BIT, image_reads, VK_ACCESS_2_NONE},
    ImageStage{Stage::fragment, VK_PIPELINE_STAGE_2_FRAGMENT_SHADER_BIT, image_reads, VK_ACCESS_2_NONE},
    ImageStage{Stage::color, VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT, VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT,
               VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT},
};

Scope scope_of(std::uint32_t stages, std::uint32_t reads, std::uint32_t writes) {
  Scope scope;
  for (const ImageStage& each : image_stages) {
    if ((stages & bit_of(each.stage)) != 0) scope.stages |= each.stages;
    if ((reads & bit_of(each.stage)) != 0) scope.access |= each.read;
    if ((writes & bit_of(each.stage)) != 0) scope.access |= each.write;
  }
  return scope;
}

VkImageMemoryBarrier2 vulkan_barrier(const ImageBarrier& barrier, VkImage image) {
  const ScheduleBarrier& masks = barrier.masks;
  Scope source = scope_of(masks.source_stages, 0, masks.source_writes);
  Scope target = scope_of(masks.destination_stages, masks.destination_reads, masks.destination_writes);
  if (masks == full_barrier) {  // not stage by stage: the queue may lack some
    source = {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT};
    target = {VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT};
  }
  VkImageMemoryBarrier2 result{};
  result.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  result.srcStageMask = source.stages;
  result.srcAccessMask = source.access;
  result.dstStageMask = target.stages;
  result.dstAccessMask = target.access;
  result.oldLayout = vulkan_layout(barrier.before);
  result.newLayout = vulkan_layout(barrier.after);
  result.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  result.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  result.image = image;
  result.subresourceRange = whole_image;
  return result;
}

/// The Vulkan buffer behind a resource, and where the resource begins in it.
struct BufferPlace {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
};

BufferPlace buffer_of(const CompiledGraph::State& graph, std::span<const ImportBinding> imports,
                      std::uint32_t resource) {
  const std::uint32_t import = graph.program->parts.resources[resource].import;
  if (import != no_index) {
    const ImportBinding& binding = imports[import];
    if (binding.buffer != nullptr) return {binding.buffer->state()->buffer, binding.buffer->state()->offset};
    // A count word, bound as a vector of its own or with the vector that it counts.
    const Buffer& buffer = binding.count != nullptr ? binding.count->buffer : binding.chunks->front().buffer;
    const std::uint64_t offset =
        binding.count != nullptr ? binding.count->byte_offset : binding.chunks->front().byte_offset;
    return {buffer.state()->buffer, buffer.state()->offset + offset};
  }
  const BufferState& scratch = *graph.scratch.state();
  return {scratch.buffer, scratch.offset + graph.program->schedule.placement[resource].value()};
}

VkOffset3D offset_of(std::uint32_t x, std::uint32_t y) {
  return {static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), 0};
}

VkBufferImageCopy buffer_copy(const ImageTransfer& transfer, VkDeviceSize buffer_offset) {
  VkBufferImageCopy copy{};
  copy.bufferOffset = buffer_offset + transfer.buffer_offset;
  copy.bufferRowLength = transfer.row_texels;
  copy.imageSubresource = whole_layer;
  copy.imageOffset = offset_of(transfer.region.x, transfer.region.y);
  copy.imageExtent = {transfer.region.width, transfer.region.height, 1};
  return copy;
}

VkAttachmentLoadOp vulkan_load(LoadOperation load) {
  switch (load) {
    case LoadOperation::load:
      return VK_ATTACHMENT_LOAD_OP_LOAD;
    case LoadOperation::clear:
      return VK_ATTACHMENT_LOAD_OP_CLEAR;
    case LoadOperation::discard:
      break;
  }
  return VK_ATTACHMENT_LOAD_OP_DONT_CARE;
}

/// Ends rendering also when the application's function throws.
class Rendering {
 public:
  Rendering(const DeviceFunctions& functions, VkCommandBuffer commands, const VkRenderingInfo& info)
      : functions_(functions), commands_(commands) {
    functions.vkCmdBeginRendering(commands, &info);
  }
  Rendering(const Rendering&) = delete;
  Rendering& operator=(const Rendering&) = delete;
  ~Rendering() { functions_.vkCmdEndRendering(commands_); }

 private:
  const DeviceFunctions& functions_;
  VkCommandBuffer commands_;
};

}  // namespace

VkImageLayout vulkan_layout(ImageLayout layout) noexcept {
  switch (layout) {
    case ImageLayout::undefined:
      return VK_IMAGE_LAYOUT_UNDEFINED;
    case ImageLayout::general:
      return VK_IMAGE_LAYOUT_GENERAL;
    case ImageLayout::shader_read:
      return VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL;
    case ImageLayout::attachment:
      return VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    case ImageLayout::copy_source:
      return VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    case ImageLayout::copy_target:
      return VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  }
  return VK_IMAGE_LAYOUT_GENERAL;
}

void NodeRecorder::record_image_barriers(const VkMemoryBarrier2& memory, std::span<const ImageBarrier> images) {
  std::vector<VkImageMemoryBarrier2> barriers;
  barriers.reserve(images.size());
  for (const ImageBarrier& each : images) {
    barriers.push_back(vulkan_barrier(each, image_of(graph_, memory_.imports, each.resource).state()->image));
  }
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = memory.srcStageMask != 0 ? 1 : 0;
  dependency.pMemoryBarriers = &memory;
  dependency.imageMemoryBarrierCount = static_cast<std::uint32_t>(barriers.size());
  dependency.pImageMemoryBarriers = barriers.data();
  functions_.vkCmdPipelineBarrier2(commands_, &dependency);
}

void NodeRecorder::transfer(const ImageTransfer& transfer) {
  const auto image = [&](std::uint32_t resource) { return image_of(graph_, memory_.imports, resource).state()->image; };
  constexpr VkImageLayout source_layout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  constexpr VkImageLayout target_layout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL;
  switch (transfer.kind) {
    case ImageTransfer::Kind::buffer_to_image: {
      const BufferPlace buffer = buffer_of(graph_, memory_.imports, transfer.source);
      const VkBufferImageCopy copy = buffer_copy(transfer, buffer.offset);
      functions_.vkCmdCopyBufferToImage(commands_, buffer.buffer, image(transfer.target), target_layout, 1, &copy);
      break;
    }
    case ImageTransfer::Kind::image_to_buffer: {
      const BufferPlace buffer = buffer_of(graph_, memory_.imports, transfer.target);
      const VkBufferImageCopy copy = buffer_copy(transfer, buffer.offset);
      functions_.vkCmdCopyImageToBuffer(commands_, image(transfer.source), source_layout, buffer.buffer, 1, &copy);
      break;
    }
    case ImageTransfer::Kind::image_to_image: {
      VkImageCopy copy{};
      copy.srcSubresource = whole_layer;
      copy.srcOffset = offset_of(transfer.region.x, transfer.region.y);
      copy.dstSubresource = whole_layer;
      copy.dstOffset = offset_of(transfer.target_x, transfer.target_y);
      copy.extent = {transfer.region.width, transfer.region.height, 1};
      functions_.vkCmdCopyImage(commands_, image(transfer.source), source_layout, image(transfer.target), target_layout,
                                1, &copy);
      break;
    }
    case ImageTransfer::Kind::clear: {
      const VkClearColorValue color = vulkan_color(transfer.value);
      functions_.vkCmdClearColorImage(commands_, image(transfer.target), target_layout, &color, 1, &whole_image);
      break;
    }
  }
}

void record_render(const RenderNode& node, Encoder& encoder, const NodeContext& context) {
  std::vector<VkRenderingAttachmentInfo> attachments;
  for (const RenderAttachment& attachment : node.attachments) {
    VkRenderingAttachmentInfo info{};
    info.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO;
    info.imageView = context.image(attachment.image).state()->view;
    info.imageLayout = vulkan_layout(context.layout(attachment.image));
    info.loadOp = vulkan_load(attachment.load);
    info.storeOp =
        attachment.store == StoreOperation::store ? VK_ATTACHMENT_STORE_OP_STORE : VK_ATTACHMENT_STORE_OP_DONT_CARE;
    info.clearValue.color = vulkan_color(attachment.clear.value_or(ImageValue{}));
    attachments.push_back(info);
  }
  const GraphImage& first = node.attachments.front().image;
  const VkRect2D area{{0, 0}, {first.width(), first.height()}};
  VkRenderingInfo info{};
  info.sType = VK_STRUCTURE_TYPE_RENDERING_INFO;
  info.renderArea = area;
  info.layerCount = 1;
  info.colorAttachmentCount = static_cast<std::uint32_t>(attachments.size());
  info.pColorAttachments = attachments.data();

  EncoderState& state = encoder.state();
  const DeviceFunctions& functions = state.device()->functions();
  const VkCommandBuffer commands = state.commands();
  const Rendering rendering(functions, commands, info);
  const VkViewport viewport{0, 0, static_cast<float>(first.width()), static_cast<float>(first.height()), 0, 1};
  functions.vkCmdSetViewport(commands, 0, 1, &viewport);
  functions.vkCmdSetScissor(commands, 0, 1, &area);
  RenderPass pass(encoder, first.width(), first.height(), commands);
  node.record(pass, context);
}

}  // namespace tessera::detail

namespace tessera::interop {

VkCommandBuffer command_buffer(const RenderPass& pass) { return static_cast<VkCommandBuffer>(pass.native()); }

VkImageLayout vulkan_layout(ImageLayout layout) noexcept { return detail::vulkan_layout(layout); }

}  // namespace tessera::interop
