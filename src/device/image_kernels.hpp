#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <vulkan/vulkan.h>

#include <tessera/export.hpp>

namespace tessera::detail {

class VulkanDevice;
struct DeviceState;
struct ImageState;

/// Bindings of the descriptor set that kernels on images share. A kernel declares those it uses:
/// `layout(set = 0, binding = 0, r32f) uniform image2D` and `layout(set = 0, binding = 8) uniform sampler2D`.
inline constexpr std::uint32_t most_storage_images = 8;  ///< bindings 0, 1, ...
inline constexpr std::uint32_t most_sampled_images = 8;  ///< bindings 8, 9, ...; nearest texel, clamped to the edge
inline constexpr std::uint32_t first_sampled_binding = most_storage_images;

/// The pipeline layout of kernels on images: the push constants of every kernel, and one descriptor set.
/// Thread-safe: constant after construction.
class TESSERA_EXPORT ImageKernelLayout {
 public:
  /// Throws `out_of_memory`.
  explicit ImageKernelLayout(VulkanDevice& device);
  ImageKernelLayout(const ImageKernelLayout&) = delete;
  ImageKernelLayout& operator=(const ImageKernelLayout&) = delete;
  ~ImageKernelLayout();

  VkPipelineLayout pipeline_layout() const noexcept;
  VkDescriptorSetLayout set_layout() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// An image at a binding of the set.
struct ImageDescriptor {
  std::uint32_t binding = 0;
  const ImageState* image = nullptr;
  VkImageLayout layout = VK_IMAGE_LAYOUT_GENERAL;
};

/// Descriptor sets for kernels on images, all freed together. Hold it by shared pointer and let encoders retain it.
/// Not thread-safe while sets are made.
class TESSERA_EXPORT ImageDescriptors {
 public:
  /// Room for `sets` sets. Throws `out_of_memory`.
  ImageDescriptors(std::shared_ptr<DeviceState> device, std::uint32_t sets);
  ImageDescriptors(const ImageDescriptors&) = delete;
  ImageDescriptors& operator=(const ImageDescriptors&) = delete;
  ~ImageDescriptors();

  VkDescriptorSet make(std::span<const ImageDescriptor> images);

 private:
  std::shared_ptr<DeviceState> device_;
  VkDescriptorPool pool_ = VK_NULL_HANDLE;
};

}  // namespace tessera::detail
