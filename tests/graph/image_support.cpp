#include "image_support.hpp"

#include <utility>

#include <vulkan/vulkan.h>

#include <tessera/interop/vulkan.hpp>

#include "device/embedded_kernels.hpp"

namespace tessera::test {
namespace {

struct PaintRecord {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  float number = 0;
  std::uint32_t reserved = 0;
};

detail::Dispatch image_dispatch(detail::NodeSink& sink, const std::string& module, const GraphImage& shape,
                                float number) {
  const std::uint32_t texels = shape.width() * shape.height();
  detail::Dispatch dispatch{.name = "texels", .module = module, .constants = {64}};
  dispatch.arguments =
      detail::ArgumentRecord(PaintRecord{.width = shape.width(), .height = shape.height(), .number = number});
  dispatch.groups = detail::fold_workgroups((texels + 63) / 64, sink.device().limits(), module);
  dispatch.workload = {.invocations = texels, .read_bytes = 0, .write_bytes = texels * size_of(shape.format())};
  return dispatch;
}

struct PushConstants {
  std::uint64_t corners = 0;
  std::uint64_t tint = 0;
};

constexpr VkShaderStageFlags both_stages = VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT;

void require(VkResult result) { ASSERT_EQ(result, VK_SUCCESS); }

VkShaderModule make_module(VkDevice device, const char* name) {
  const detail::EmbeddedModule* const module = detail::find_module(name);
  VkShaderModuleCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  info.codeSize = module->words.size_bytes();
  info.pCode = module->words.data();
  VkShaderModule made = VK_NULL_HANDLE;
  require(vkCreateShaderModule(device, &info, nullptr, &made));
  return made;
}

}  // namespace

ImageUsage every_usage(const Device& device) {
  const ImageUsage most = ImageUsage::sampled | ImageUsage::storage | ImageUsage::copy_source | ImageUsage::copy_target;
  return device.limits().color_attachments > 0 ? most | ImageUsage::attachment : most;
}

TestOperation paint(const GraphImage& target, float base, std::string id) {
  const auto lower = [target, base](detail::NodeSink& sink) {
    detail::Dispatch dispatch = image_dispatch(sink, "paint_image", target, base);
    dispatch.image_uses = {{.image = target, .access = ImageAccess::storage_write, .binding = 0}};
    sink.dispatch(std::move(dispatch));
  };
  return {.name = "paint", .lower = lower, .id = std::move(id)};
}

TestOperation spread(const GraphImage& source, const GraphImage& target, float summand, std::string id) {
  const auto lower = [source, target, summand](detail::NodeSink& sink) {
    detail::Dispatch dispatch = image_dispatch(sink, "spread_image", target, summand);
    dispatch.image_uses = {{.image = source, .access = ImageAccess::sampled, .binding = 8},
                           {.image = target, .access = ImageAccess::storage_write, .binding = 0}};
    sink.dispatch(std::move(dispatch));
  };
  return {.name = "spread", .lower = lower, .id = std::move(id)};
}

struct TrianglePipeline::Handles {
  VkDevice device = VK_NULL_HANDLE;
  VkSampler sampler = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkPipeline pipeline = VK_NULL_HANDLE;

  void make_layout() {
    VkSamplerCreateInfo sampler_info{};
    sampler_info.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO;
    require(vkCreateSampler(device, &sampler_info, nullptr, &sampler));
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                               VK_SHADER_STAGE_FRAGMENT_BIT, &sampler};
    VkDescriptorSetLayoutCreateInfo set_info{};
    set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO;
    set_info.bindingCount = 1;
    set_info.pBindings = &binding;
    require(vkCreateDescriptorSetLayout(device, &set_info, nullptr, &set_layout));
    const VkPushConstantRange range{both_stages, 0, sizeof(PushConstants)};
    VkPipelineLayoutCreateInfo layout_info{};
    layout_info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
    layout_info.setLayoutCount = 1;
    layout_info.pSetLayouts = &set_layout;
    layout_info.pushConstantRangeCount = 1;
    layout_info.pPushConstantRanges = &range;
    require(vkCreatePipelineLayout(device, &layout_info, nullptr, &layout));
  }

  void make_pipeline() {
    const VkShaderModule vertex = make_module(device, "triangle");
    const VkShaderModule fragment = make_module(device, "tint");
    std::array<VkPipelineShaderStageCreateInfo, 2> stages{};
    for (auto& stage : stages) {
      stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
      stage.pName = "main";
    }
    stages[0].stage = VK_SHADER_STAGE_VERTEX_BIT;
    stages[0].module = vertex;
    stages[1].stage = VK_SHADER_STAGE_FRAGMENT_BIT;
    stages[1].module = fragment;
    VkPipelineVertexInputStateCreateInfo input{};
    input.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO;
    VkPipelineInputAssemblyStateCreateInfo assembly{};
    assembly.sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO;
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkPipelineViewportStateCreateInfo viewport{};
    viewport.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO;
    viewport.viewportCount = 1;
    viewport.scissorCount = 1;
    VkPipelineRasterizationStateCreateInfo raster{};
    raster.sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO;
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples{};
    samples.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO;
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState attachment{};
    attachment.colorWriteMask =
        VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT | VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT;
    VkPipelineColorBlendStateCreateInfo blend{};
    blend.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO;
    blend.attachmentCount = 1;
    blend.pAttachments = &attachment;
    constexpr std::array dynamic_states = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    VkPipelineDynamicStateCreateInfo dynamic{};
    dynamic.sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO;
    dynamic.dynamicStateCount = dynamic_states.size();
    dynamic.pDynamicStates = dynamic_states.data();
    const VkFormat format = interop::vulkan_format(ImageFormat::rgba32_float);
    VkPipelineRenderingCreateInfo rendering{};
    rendering.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO;
    rendering.colorAttachmentCount = 1;
    rendering.pColorAttachmentFormats = &format;
    VkGraphicsPipelineCreateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO;
    info.pNext = &rendering;
    info.stageCount = stages.size();
    info.pStages = stages.data();
    info.pVertexInputState = &input;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &viewport;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.pDynamicState = &dynamic;
    info.layout = layout;
    require(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline));
    vkDestroyShaderModule(device, vertex, nullptr);
    vkDestroyShaderModule(device, fragment, nullptr);
  }
};

TrianglePipeline::TrianglePipeline(const Device& device) : handles_(std::make_unique<Handles>()) {
  handles_->device = interop::handles(device).device;
  handles_->make_layout();
  handles_->make_pipeline();
}

TrianglePipeline::~TrianglePipeline() {
  vkDestroyPipeline(handles_->device, handles_->pipeline, nullptr);
  vkDestroyPipelineLayout(handles_->device, handles_->layout, nullptr);
  vkDestroyDescriptorSetLayout(handles_->device, handles_->set_layout, nullptr);
  vkDestroySampler(handles_->device, handles_->sampler, nullptr);
}

namespace {

/// A descriptor set for one draw, which goes with its pool when the pass has been executed.
VkDescriptorSet make_set(const TrianglePipeline::Handles& handles, const Image& source, VkImageLayout layout,
                         RenderPass& pass) {
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
  VkDescriptorPoolCreateInfo pool_info{};
  pool_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  pool_info.maxSets = 1;
  pool_info.poolSizeCount = 1;
  pool_info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  EXPECT_EQ(vkCreateDescriptorPool(handles.device, &pool_info, nullptr, &pool), VK_SUCCESS);
  pass.retain(std::shared_ptr<const void>(
      nullptr, [device = handles.device, pool](const void*) { vkDestroyDescriptorPool(device, pool, nullptr); }));
  VkDescriptorSetAllocateInfo set_info{};
  set_info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  set_info.descriptorPool = pool;
  set_info.descriptorSetCount = 1;
  set_info.pSetLayouts = &handles.set_layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  EXPECT_EQ(vkAllocateDescriptorSets(handles.device, &set_info, &set), VK_SUCCESS);
  const VkDescriptorImageInfo image{VK_NULL_HANDLE, interop::handles(source).view, layout};
  VkWriteDescriptorSet write{};
  write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER;
  write.pImageInfo = &image;
  vkUpdateDescriptorSets(handles.device, 1, &write, 0, nullptr);
  return set;
}

}  // namespace

RenderNode draw_triangle(std::shared_ptr<const TrianglePipeline> pipeline, const TriangleScene& scene) {
  const auto record = [pipeline = std::move(pipeline), scene](RenderPass& pass, const NodeContext& context) {
    EXPECT_EQ(pass.width(), scene.target.width());
    EXPECT_EQ(pass.height(), scene.target.height());
    const TrianglePipeline::Handles& handles = pipeline->handles();
    const VkCommandBuffer commands = interop::command_buffer(pass);
    const auto address = [&](const DataView& view) {
      const Chunk chunk = context.chunks(VectorView(view)).front();
      return chunk.buffer.address() + chunk.byte_offset;
    };
    const PushConstants constants{.corners = address(scene.corners), .tint = address(scene.tint)};
    const VkDescriptorSet set =
        make_set(handles, context.image(scene.source), interop::vulkan_layout(context.layout(scene.source)), pass);
    pass.retain(pipeline);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, handles.pipeline);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, handles.layout, 0, 1, &set, 0, nullptr);
    vkCmdPushConstants(commands, handles.layout, both_stages, 0, sizeof(constants), &constants);
    vkCmdDraw(commands, 3, 1, 0, 0);
  };
  return {.id = scene.id,
          .attachments = {{.image = scene.target,
                           .load = scene.load,
                           .clear = ImageValue(std::array<float, 4>{-1, -2, -3, -4})}},
          .reads = {{.view = scene.corners, .stage = RenderStage::vertex},
                    {.view = scene.tint, .stage = RenderStage::fragment}},
          .images = {{.image = scene.source}},
          .record = record};
}

}  // namespace tessera::test
