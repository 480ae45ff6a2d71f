#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <vulkan/vulkan.h>

#include <tessera/device/image.hpp>

#include "device/device_state.hpp"

namespace tessera::detail {

/// A Vulkan image with a view of all of it. Immutable once made; thread-safe to read.
struct ImageState {
  std::shared_ptr<DeviceState> device;
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;  ///< null for an image that is only copied
  ImageDescription description;
  std::string name;
  std::shared_ptr<const void> owner;  ///< of a foreign image: whatever keeps it
};

/// The layout in which every image rests between submissions.
inline constexpr VkImageLayout resting_layout = VK_IMAGE_LAYOUT_GENERAL;

TESSERA_EXPORT VkFormat vulkan_format(ImageFormat format) noexcept;
VkImageUsageFlags vulkan_usage(ImageUsage usage) noexcept;
/// Flags that images know; others are left out.
ImageUsage usage_of(VkImageUsageFlags usage) noexcept;

/// The color of all an image, its only aspect, level and layer.
inline constexpr VkImageSubresourceRange whole_image{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
inline constexpr VkImageSubresourceLayers whole_layer{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};

/// Throws what `Device::create_image` throws for a description that no image of this device can have.
TESSERA_EXPORT void require_image_description(const DeviceState& device, const ImageDescription& description,
                                              std::string_view operation, std::string_view operand);
/// The region, or all of the image. Throws `range_out_of_bounds`.
TESSERA_EXPORT ImageRegion require_region(const ImageDescription& image, const std::optional<ImageRegion>& region,
                                          std::string_view operation, std::string_view operand);
/// A view of all of an image; null where its usage allows none. Throws `out_of_memory`.
VkImageView create_image_view(DeviceState& device, VkImage image, const ImageDescription& description);

}  // namespace tessera::detail
