// How images come and go.

#include <array>
#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "device/encoder_state.hpp"
#include "device/image_state.hpp"
#include "device/memory.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

constexpr std::string_view operation_name = "create_image";

constexpr std::array usage_flags = {
    std::pair(ImageUsage::sampled, VK_IMAGE_USAGE_SAMPLED_BIT),
    std::pair(ImageUsage::storage, VK_IMAGE_USAGE_STORAGE_BIT),
    std::pair(ImageUsage::attachment, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT),
    std::pair(ImageUsage::copy_source, VK_IMAGE_USAGE_TRANSFER_SRC_BIT),
    std::pair(ImageUsage::copy_target, VK_IMAGE_USAGE_TRANSFER_DST_BIT),
};

[[noreturn]] void reject(ErrorCode code, std::string_view operation, std::string_view operand, std::string_view rule,
                         std::string values) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = std::string(operand),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

void require_allocation(const DeviceState& device, std::uint64_t bytes, std::string_view operation,
                        std::string_view operand) {
  const std::uint64_t largest = device.limits().largest_buffer_bytes;
  if (bytes <= largest) return;
  reject(ErrorCode::limit_exceeded, operation, operand, "the image is larger than the device's largest allocation",
         quantity("bytes", bytes) + ", " + quantity("largest", largest));
}

/// An image with memory of its own.
struct OwnedImage final : ImageState {
  OwnedImage() = default;
  OwnedImage(const OwnedImage&) = delete;
  OwnedImage& operator=(const OwnedImage&) = delete;
  ~OwnedImage() {
    const DeviceFunctions& functions = device->functions();
    if (view != VK_NULL_HANDLE) functions.vkDestroyImageView(device->device(), view, nullptr);
    if (image != VK_NULL_HANDLE) functions.vkDestroyImage(device->device(), image, nullptr);
    if (block.bytes != 0) device->memory().release_image_block(block);
  }

  ImageBlock block;
};

vk::ImageCreateInfo create_info(const ImageDescription& description) {
  vk::ImageCreateInfo info;
  info.imageType = vk::ImageType::e2D;
  info.format = static_cast<vk::Format>(vulkan_format(description.format));
  info.extent = vk::Extent3D(description.width, description.height, 1);
  info.mipLevels = 1;
  info.arrayLayers = 1;
  info.usage = static_cast<vk::ImageUsageFlags>(vulkan_usage(description.usage));
  return info;
}

std::shared_ptr<OwnedImage> make_image(std::shared_ptr<DeviceState> device, const ImageDescription& description) {
  auto made = std::make_shared<OwnedImage>();
  made->device = std::move(device);
  made->description = description;
  VulkanDevice& vulkan = made->device->vulkan();
  MemoryAllocator& memory = made->device->memory();
  const vk::ImageCreateInfo info = create_info(description);
  translated(operation_name, [&] {
    const auto requirements = vulkan.device().getImageMemoryRequirements(vk::DeviceImageMemoryRequirements(&info));
    require_allocation(*made->device, requirements.memoryRequirements.size, operation_name, {});
    made->block = memory.create_image_block(requirements.memoryRequirements);
    vulkan.count_allocation(operation_name);
    vk::raii::Image image(vulkan.device(), info);
    image.bindMemory(*made->block.memory, 0);
    made->image = static_cast<VkImage>(image.release());
  });
  made->view = create_image_view(*made->device, made->image, description);
  return made;
}

/// Takes a new image to the layout in which all rest.
void settle(const std::shared_ptr<OwnedImage>& image) {
  VkImageMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER_2;
  barrier.dstStageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  barrier.dstAccessMask = VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT;
  barrier.oldLayout = VK_IMAGE_LAYOUT_UNDEFINED;
  barrier.newLayout = resting_layout;
  barrier.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image->image;
  barrier.subresourceRange = whole_image;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.imageMemoryBarrierCount = 1;
  dependency.pImageMemoryBarriers = &barrier;
  EncoderState encoder(image->device, operation_name);
  image->device->functions().vkCmdPipelineBarrier2(encoder.commands(), &dependency);
  encoder.retain(image);
  encoder.mark_external_work();
  image->device->submit(encoder, {});
}

}  // namespace

VkFormat vulkan_format(ImageFormat format) noexcept {
  constexpr std::array formats = {VK_FORMAT_R32_SFLOAT,        VK_FORMAT_R32_UINT,
                                  VK_FORMAT_R32_SINT,          VK_FORMAT_R32G32B32A32_SFLOAT,
                                  VK_FORMAT_R32G32B32A32_UINT, VK_FORMAT_R32G32B32A32_SINT};
  return formats[static_cast<std::size_t>(format)];
}

VkImageUsageFlags vulkan_usage(ImageUsage usage) noexcept {
  VkImageUsageFlags flags = 0;
  for (const auto& [flag, bit] : usage_flags) {
    if (contains(usage, flag)) flags |= bit;
  }
  return flags;
}

ImageUsage usage_of(VkImageUsageFlags usage) noexcept {
  ImageUsage flags = ImageUsage::none;
  for (const auto& [flag, bit] : usage_flags) {
    if ((usage & bit) != 0) flags = flags | flag;
  }
  return flags;
}

void require_image_description(const DeviceState& device, const ImageDescription& description,
                               std::string_view operation, std::string_view operand) {
  const DeviceLimits& limits = device.limits();
  const auto extents = [&] {
    return quantity("width", description.width) + ", " + quantity("height", description.height);
  };
  if (description.width == 0 || description.height == 0) {
    reject(ErrorCode::invalid_argument, operation, operand, "an image has at least one texel", extents());
  }
  if (description.usage == ImageUsage::none) {
    reject(ErrorCode::invalid_argument, operation, operand, "an image has a usage", {});
  }
  const bool attachment = contains(description.usage, ImageUsage::attachment);
  if (attachment && limits.color_attachments == 0) {
    reject(ErrorCode::missing_feature, operation, operand, "the device's queue can't render", {});
  }
  const std::uint32_t largest = attachment ? limits.largest_attachment_extent : limits.largest_image_extent;
  if (description.width > largest || description.height > largest) {
    reject(ErrorCode::limit_exceeded, operation, operand, "the image is larger than the device's largest",
           extents() + ", " + quantity("largest", largest));
  }
  require_allocation(device, description.bytes(), operation, operand);
}

ImageRegion require_region(const ImageDescription& image, const std::optional<ImageRegion>& region,
                           std::string_view operation, std::string_view operand) {
  if (!region) return {.x = 0, .y = 0, .width = image.width, .height = image.height};
  const bool inside = region->width > 0 && region->height > 0 && region->x < image.width && region->y < image.height &&
                      region->width <= image.width - region->x && region->height <= image.height - region->y;
  if (!inside) {
    reject(ErrorCode::range_out_of_bounds, operation, operand, "a region has texels and stays inside its image",
           quantity("x", region->x) + ", " + quantity("y", region->y) + ", " + quantity("width", region->width) + ", " +
               quantity("height", region->height) + ", " + quantity("image width", image.width) + ", " +
               quantity("image height", image.height));
  }
  return *region;
}

VkImageView create_image_view(DeviceState& device, VkImage image, const ImageDescription& description) {
  constexpr ImageUsage viewed = ImageUsage::sampled | ImageUsage::storage | ImageUsage::attachment;
  if ((description.usage & viewed) == ImageUsage::none) return VK_NULL_HANDLE;
  VkImageViewCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO;
  info.image = image;
  info.viewType = VK_IMAGE_VIEW_TYPE_2D;
  info.format = vulkan_format(description.format);
  info.subresourceRange = whole_image;
  VkImageView view = VK_NULL_HANDLE;
  device.vulkan().count_allocation(operation_name);
  device.check(device.functions().vkCreateImageView(device.device(), &info, nullptr, &view), operation_name);
  return view;
}

ImageBlock MemoryAllocator::create_image_block(const vk::MemoryRequirements& requirements) {
  const MemoryType type = choose_type(MemoryPool::device_large, requirements.memoryTypeBits);
  reserve(requirements.size, type.heap);
  ImageBlock block;
  try {
    device_.count_allocation(operation_name);
    block.memory = vk::raii::DeviceMemory(device_.device(), vk::MemoryAllocateInfo(requirements.size, type.index));
  } catch (...) {
    unreserve(requirements.size, type.heap);
    throw;
  }
  block.bytes = requirements.size;
  block.heap = type.heap;
  const std::lock_guard lock(mutex_);
  statistics_.used_bytes += block.bytes;
  ++statistics_.image_count;
  return block;
}

void MemoryAllocator::release_image_block(ImageBlock& block) noexcept {
  block.memory.clear();
  unreserve(block.bytes, block.heap);
  const std::lock_guard lock(mutex_);
  statistics_.used_bytes -= block.bytes;
  --statistics_.image_count;
  block.bytes = 0;
}

std::shared_ptr<ImageState> DeviceState::create_image(const ImageDescription& description, std::string_view name) {
  require_alive(operation_name);
  require_image_description(*this, description, operation_name, name);
  std::shared_ptr<OwnedImage> image;
  allocate_or_reclaim(name, [&] { image = make_image(shared_from_this(), description); });
  image->name = name;
  set_name(VK_OBJECT_TYPE_IMAGE, reinterpret_cast<std::uint64_t>(image->image), name);
  set_name(VK_OBJECT_TYPE_IMAGE_VIEW, reinterpret_cast<std::uint64_t>(image->view), name);
  settle(image);
  return image;
}

}  // namespace tessera::detail
