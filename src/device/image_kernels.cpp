#include "device/image_kernels.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "device/device_state.hpp"
#include "device/image_state.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {

struct ImageKernelLayout::Parts {
  vk::raii::Sampler sampler{nullptr};
  vk::raii::DescriptorSetLayout set_layout{nullptr};
  vk::raii::PipelineLayout layout{nullptr};
};

ImageKernelLayout::ImageKernelLayout(VulkanDevice& device) : parts_(std::make_unique<Parts>()) {
  translated("image kernels", [&] {
    vk::SamplerCreateInfo sampler;
    sampler.magFilter = vk::Filter::eNearest;  // formats of 32 bits a component need not be filterable
    sampler.minFilter = vk::Filter::eNearest;
    sampler.mipmapMode = vk::SamplerMipmapMode::eNearest;
    sampler.addressModeU = vk::SamplerAddressMode::eClampToEdge;
    sampler.addressModeV = vk::SamplerAddressMode::eClampToEdge;
    sampler.addressModeW = vk::SamplerAddressMode::eClampToEdge;
    device.count_allocation("image kernels");
    parts_->sampler = vk::raii::Sampler(device.device(), sampler);

    std::vector<vk::DescriptorSetLayoutBinding> bindings;
    const DeviceLimits limits = device.limits();
    for (std::uint32_t binding = 0; binding < limits.storage_images; ++binding) {
      bindings.emplace_back(binding, vk::DescriptorType::eStorageImage, 1, vk::ShaderStageFlagBits::eCompute);
    }
    for (std::uint32_t index = 0; index < limits.sampled_images; ++index) {
      bindings.emplace_back(first_sampled_binding + index, vk::DescriptorType::eCombinedImageSampler, 1,
                            vk::ShaderStageFlagBits::eCompute, &*parts_->sampler);
    }
    device.count_allocation("image kernels");
    parts_->set_layout =
        vk::raii::DescriptorSetLayout(device.device(), vk::DescriptorSetLayoutCreateInfo({}, bindings));
    const vk::PushConstantRange range(vk::ShaderStageFlagBits::eCompute, 0, push_constant_bytes);
    const vk::DescriptorSetLayout set_layout = *parts_->set_layout;
    device.count_allocation("image kernels");
    parts_->layout = vk::raii::PipelineLayout(device.device(), vk::PipelineLayoutCreateInfo({}, set_layout, range));
  });
}

ImageKernelLayout::~ImageKernelLayout() = default;

VkPipelineLayout ImageKernelLayout::pipeline_layout() const noexcept {
  return static_cast<VkPipelineLayout>(*parts_->layout);
}

VkDescriptorSetLayout ImageKernelLayout::set_layout() const noexcept {
  return static_cast<VkDescriptorSetLayout>(*parts_->set_layout);
}

ImageDescriptors::ImageDescriptors(std::shared_ptr<DeviceState> device, std::uint32_t sets)
    : device_(std::move(device)) {
  const DeviceLimits& limits = device_->limits();
  const std::array<VkDescriptorPoolSize, 2> sizes = {
      {{VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, limits.storage_images * sets},
       {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, limits.sampled_images * sets}}};
  VkDescriptorPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO;
  info.maxSets = sets;
  info.poolSizeCount = static_cast<std::uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  device_->vulkan().count_allocation("image descriptors");
  device_->check(device_->functions().vkCreateDescriptorPool(device_->device(), &info, nullptr, &pool_),
                 "image descriptors");
}

ImageDescriptors::~ImageDescriptors() {
  device_->functions().vkDestroyDescriptorPool(device_->device(), pool_, nullptr);
}

VkDescriptorSet ImageDescriptors::make(std::span<const ImageDescriptor> images) {
  const VkDescriptorSetLayout layout = device_->image_kernels().set_layout();
  VkDescriptorSetAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO;
  info.descriptorPool = pool_;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  device_->check(device_->functions().vkAllocateDescriptorSets(device_->device(), &info, &set), "image descriptors");

  std::vector<VkDescriptorImageInfo> infos(images.size());
  std::vector<VkWriteDescriptorSet> writes(images.size());
  for (std::size_t index = 0; index < images.size(); ++index) {
    const bool sampled = images[index].binding >= first_sampled_binding;
    infos[index] = {VK_NULL_HANDLE, images[index].image->view, images[index].layout};  // the sampler is the layout's
    writes[index].sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    writes[index].dstSet = set;
    writes[index].dstBinding = images[index].binding;
    writes[index].descriptorCount = 1;
    writes[index].descriptorType =
        sampled ? VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE;
    writes[index].pImageInfo = &infos[index];
  }
  device_->functions().vkUpdateDescriptorSets(device_->device(), static_cast<std::uint32_t>(writes.size()),
                                              writes.data(), 0, nullptr);
  return set;
}

}  // namespace tessera::detail
