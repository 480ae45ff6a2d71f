#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "device/device_state.hpp"
#include "device/vulkan.hpp"

namespace tessera::detail {

/// Features as Vulkan's own structures, linked into one chain. Neither copied nor moved: the links are addresses.
struct FeatureChain {
  FeatureChain();
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;
  ~FeatureChain() = default;

  VkPhysicalDeviceFeatures2 core{};
  VkPhysicalDeviceVulkan11Features vulkan11{};
  VkPhysicalDeviceVulkan12Features vulkan12{};
  VkPhysicalDeviceVulkan13Features vulkan13{};
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float{};
};

/// What a physical device (or an application's own device) offers.
struct DeviceOffer {
  std::unique_ptr<FeatureChain> features;
  std::vector<std::string> extensions;
  VkPhysicalDeviceProperties properties{};
  VkPhysicalDeviceVulkan11Properties properties11{};
  bool compute_queue = false;

  bool has_extension(std::string_view name) const noexcept;
};

/// What the physical device could enable.
DeviceOffer offer_of(const vk::raii::PhysicalDevice& physical_device);

/// Replaces the features of `offer` by those of the chain that a device was created with, and its extensions likewise.
/// Understands the combined structures of Vulkan 1.1 to 1.3 and the single ones of the features that matter here.
void restrict_to_enabled(DeviceOffer& offer, const VkPhysicalDeviceFeatures2& enabled,
                         std::span<const char* const> extensions);

/// Names of the required features that are not on offer; empty when the device is usable.
std::vector<std::string> missing_features(const DeviceOffer& offer);

/// Of what is on offer, all that the library uses: the required features and the optional ones that are there.
std::unique_ptr<FeatureChain> features_to_enable(const DeviceOffer& offer);
std::vector<const char*> extensions_to_enable(const DeviceOffer& offer);

/// The optional features once `features_to_enable` and `extensions_to_enable` are enabled.
DeviceFeatures optional_features(const DeviceOffer& offer);

}  // namespace tessera::detail
