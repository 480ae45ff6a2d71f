#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

namespace tessera::detail {

/// A driver's cache data with a checksum in front, so that truncated or altered files are told apart from good ones.
std::vector<std::byte> seal_pipeline_cache(std::span<const std::byte> data);

/// The driver's data inside a sealed cache, or nothing where the seal is broken or the data is another device's.
std::span<const std::byte> open_pipeline_cache(std::span<const std::byte> sealed,
                                               const VkPhysicalDeviceProperties& properties);

}  // namespace tessera::detail
