#include "device/feature_set.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera::detail {
namespace {

template <typename Structure>
Structure started(VkStructureType type, void* next) {
  Structure structure{};
  structure.sType = type;
  structure.pNext = next;
  return structure;
}

struct RequiredFeature {
  const char* name;
  VkBool32 (*present)(const FeatureChain& features);
};

// One list serves the check, the enabling and the messages.
constexpr std::array required_features = {
    RequiredFeature{"bufferDeviceAddress", [](const FeatureChain& f) { return f.vulkan12.bufferDeviceAddress; }},
    RequiredFeature{"scalarBlockLayout", [](const FeatureChain& f) { return f.vulkan12.scalarBlockLayout; }},
    RequiredFeature{"shaderInt64", [](const FeatureChain& f) { return f.core.features.shaderInt64; }},
    RequiredFeature{"timelineSemaphore", [](const FeatureChain& f) { return f.vulkan12.timelineSemaphore; }},
    RequiredFeature{"synchronization2", [](const FeatureChain& f) { return f.vulkan13.synchronization2; }},
    RequiredFeature{"maintenance4", [](const FeatureChain& f) { return f.vulkan13.maintenance4; }},
};

struct RequiredSubgroupOperation {
  const char* name;
  VkSubgroupFeatureFlagBits bit;
};

constexpr std::array required_subgroup_operations = {
    RequiredSubgroupOperation{"subgroup basic", VK_SUBGROUP_FEATURE_BASIC_BIT},
    RequiredSubgroupOperation{"subgroup vote", VK_SUBGROUP_FEATURE_VOTE_BIT},
    RequiredSubgroupOperation{"subgroup arithmetic", VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
    RequiredSubgroupOperation{"subgroup ballot", VK_SUBGROUP_FEATURE_BALLOT_BIT},
    RequiredSubgroupOperation{"subgroup shuffle", VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
};

constexpr std::array optional_extensions = {
    VK_EXT_MEMORY_BUDGET_EXTENSION_NAME,
    VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
    VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME,
    VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME,
};

template <typename Structure>
const Structure& as(const VkBaseInStructure* link) {
  return *reinterpret_cast<const Structure*>(link);
}

void take_enabled(FeatureChain& features, const VkBaseInStructure* link) {
  const auto keep_link = [](auto& target, const auto& source) {
    void* const next = target.pNext;
    target = source;
    target.pNext = next;
  };
  switch (link->sType) {
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
      keep_link(features.vulkan11, as<VkPhysicalDeviceVulkan11Features>(link));
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
      keep_link(features.vulkan12, as<VkPhysicalDeviceVulkan12Features>(link));
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
      keep_link(features.vulkan13, as<VkPhysicalDeviceVulkan13Features>(link));
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT:
      keep_link(features.atomic_float, as<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(link));
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
      features.vulkan12.bufferDeviceAddress = as<VkPhysicalDeviceBufferDeviceAddressFeatures>(link).bufferDeviceAddress;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SCALAR_BLOCK_LAYOUT_FEATURES:
      features.vulkan12.scalarBlockLayout = as<VkPhysicalDeviceScalarBlockLayoutFeatures>(link).scalarBlockLayout;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES:
      features.vulkan12.timelineSemaphore = as<VkPhysicalDeviceTimelineSemaphoreFeatures>(link).timelineSemaphore;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES:
      features.vulkan13.synchronization2 = as<VkPhysicalDeviceSynchronization2Features>(link).synchronization2;
      break;
    case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES:
      features.vulkan13.maintenance4 = as<VkPhysicalDeviceMaintenance4Features>(link).maintenance4;
      break;
    default:
      break;
  }
}

}  // namespace

FeatureChain::FeatureChain() {
  atomic_float = started<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT, nullptr);
  vulkan13 = started<VkPhysicalDeviceVulkan13Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, nullptr);
  vulkan12 =
      started<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, &vulkan13);
  vulkan11 =
      started<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, &vulkan12);
  core = started<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &vulkan11);
}

bool DeviceOffer::has_extension(std::string_view name) const noexcept {
  return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
}

DeviceOffer offer_of(const vk::raii::PhysicalDevice& physical_device) {
  DeviceOffer offer;
  offer.features = std::make_unique<FeatureChain>();
  offer.properties = physical_device.getProperties();
  for (const vk::QueueFamilyProperties& family : physical_device.getQueueFamilyProperties()) {
    if (family.queueCount > 0 && (family.queueFlags & vk::QueueFlagBits::eCompute)) offer.compute_queue = true;
  }
  for (const vk::ExtensionProperties& extension : physical_device.enumerateDeviceExtensionProperties()) {
    offer.extensions.emplace_back(extension.extensionName.data());
  }
  if (offer.properties.apiVersion < VK_API_VERSION_1_3) return offer;  // older drivers do not know the structures

  const auto& dispatch = *physical_device.getDispatcher();
  if (dispatch.vkGetPhysicalDeviceFeatures2 == nullptr || dispatch.vkGetPhysicalDeviceProperties2 == nullptr) {
    offer.properties.apiVersion = VK_API_VERSION_1_0;  // an instance made for an earlier version hides what there is
    return offer;
  }
  if (offer.has_extension(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)) {
    offer.features->vulkan13.pNext = &offer.features->atomic_float;
  }
  dispatch.vkGetPhysicalDeviceFeatures2(static_cast<VkPhysicalDevice>(*physical_device), &offer.features->core);
  offer.properties11 =
      started<VkPhysicalDeviceVulkan11Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES, nullptr);
  auto properties =
      started<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &offer.properties11);
  dispatch.vkGetPhysicalDeviceProperties2(static_cast<VkPhysicalDevice>(*physical_device), &properties);
  return offer;
}

void restrict_to_enabled(DeviceOffer& offer, const VkPhysicalDeviceFeatures2& enabled,
                         std::span<const char* const> extensions) {
  auto features = std::make_unique<FeatureChain>();
  features->core.features = enabled.features;
  for (auto link = static_cast<const VkBaseInStructure*>(enabled.pNext); link != nullptr; link = link->pNext) {
    take_enabled(*features, link);
  }
  offer.features = std::move(features);
  offer.extensions.assign(extensions.begin(), extensions.end());
}

std::vector<std::string> missing_features(const DeviceOffer& offer) {
  std::vector<std::string> missing;
  const std::uint32_t version = offer.properties.apiVersion;
  if (version < VK_API_VERSION_1_3) {
    missing.push_back("Vulkan 1.3 (driver and instance offer " + std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
                      std::to_string(VK_API_VERSION_MINOR(version)) + ")");
    return missing;
  }
  if (!offer.compute_queue) missing.emplace_back("compute queue");
  for (const RequiredFeature& feature : required_features) {
    if (feature.present(*offer.features) == VK_FALSE) missing.emplace_back(feature.name);
  }
  const bool in_compute = (offer.properties11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  for (const RequiredSubgroupOperation& operation : required_subgroup_operations) {
    if (!in_compute || (offer.properties11.subgroupSupportedOperations & operation.bit) == 0) {
      missing.push_back(std::string(operation.name) + " in compute");
    }
  }
  return missing;
}

std::unique_ptr<FeatureChain> features_to_enable(const DeviceOffer& offer) {
  const FeatureChain& has = *offer.features;
  auto enabled = std::make_unique<FeatureChain>();
  auto& core = enabled->core.features;
  core.shaderInt64 = has.core.features.shaderInt64;
  core.shaderInt16 = has.core.features.shaderInt16;
  core.shaderFloat64 = has.core.features.shaderFloat64;
  core.vertexPipelineStoresAndAtomics = has.core.features.vertexPipelineStoresAndAtomics;
  core.fragmentStoresAndAtomics = has.core.features.fragmentStoresAndAtomics;
  enabled->vulkan11.storageBuffer16BitAccess = has.vulkan11.storageBuffer16BitAccess;
  enabled->vulkan12.bufferDeviceAddress = has.vulkan12.bufferDeviceAddress;
  enabled->vulkan12.scalarBlockLayout = has.vulkan12.scalarBlockLayout;
  enabled->vulkan12.timelineSemaphore = has.vulkan12.timelineSemaphore;
  enabled->vulkan12.shaderBufferInt64Atomics = has.vulkan12.shaderBufferInt64Atomics;
  enabled->vulkan12.storageBuffer8BitAccess = has.vulkan12.storageBuffer8BitAccess;
  enabled->vulkan12.shaderInt8 = has.vulkan12.shaderInt8;
  enabled->vulkan12.shaderSubgroupExtendedTypes = has.vulkan12.shaderSubgroupExtendedTypes;
  enabled->vulkan13.synchronization2 = has.vulkan13.synchronization2;
  enabled->vulkan13.maintenance4 = has.vulkan13.maintenance4;
  enabled->vulkan13.subgroupSizeControl = has.vulkan13.subgroupSizeControl;
  enabled->vulkan13.computeFullSubgroups = has.vulkan13.computeFullSubgroups;
  enabled->vulkan13.dynamicRendering = has.vulkan13.dynamicRendering;
  if (has.atomic_float.shaderBufferFloat32AtomicAdd != VK_FALSE) {
    enabled->atomic_float.shaderBufferFloat32Atomics = has.atomic_float.shaderBufferFloat32Atomics;
    enabled->atomic_float.shaderBufferFloat32AtomicAdd = VK_TRUE;
    enabled->vulkan13.pNext = &enabled->atomic_float;
  }
  return enabled;
}

std::vector<const char*> extensions_to_enable(const DeviceOffer& offer) {
  std::vector<const char*> extensions;
  for (const char* const extension : optional_extensions) {
    if (offer.has_extension(extension)) extensions.push_back(extension);
  }
  return extensions;
}

DeviceFeatures optional_features(const DeviceOffer& offer) {
  const FeatureChain& has = *offer.features;
  const auto on = [](VkBool32 value) { return value != VK_FALSE; };
  DeviceFeatures features;
  features.shader_buffer_int64_atomics = on(has.vulkan12.shaderBufferInt64Atomics);
  features.storage_buffer_8bit = on(has.vulkan12.storageBuffer8BitAccess);
  features.storage_buffer_16bit = on(has.vulkan11.storageBuffer16BitAccess);
  features.shader_int8 = on(has.vulkan12.shaderInt8);
  features.shader_int16 = on(has.core.features.shaderInt16);
  features.shader_float64 = on(has.core.features.shaderFloat64);
  features.shader_buffer_float32_atomic_add = on(has.atomic_float.shaderBufferFloat32AtomicAdd);
  features.subgroup_extended_types = on(has.vulkan12.shaderSubgroupExtendedTypes);
  features.full_subgroups = on(has.vulkan13.subgroupSizeControl) && on(has.vulkan13.computeFullSubgroups);
  features.dynamic_rendering = on(has.vulkan13.dynamicRendering);
  features.memory_budget = offer.has_extension(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  features.external_memory_descriptor = offer.has_extension(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  features.external_semaphore_descriptor = offer.has_extension(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  return features;
}

}  // namespace tessera::detail
