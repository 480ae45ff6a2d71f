#include <tessera/device/device_info.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>

#include <tessera/error.hpp>

#include "device/feature_set.hpp"
#include "device/host_memory.hpp"
#include "device/instance.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera {
namespace {

using detail::DeviceOffer;

DeviceType type_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return DeviceType::discrete;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DeviceType::integrated;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return DeviceType::virtual_gpu;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DeviceType::cpu;
    default:
      return DeviceType::other;
  }
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return result;
}

std::string version_text(std::uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." + std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

std::uint64_t largest_local_heap(const vk::raii::PhysicalDevice& physical_device) {
  const vk::PhysicalDeviceMemoryProperties memory = physical_device.getMemoryProperties();
  std::uint64_t largest = 0;
  for (std::uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
    if (!(memory.memoryHeaps[heap].flags & vk::MemoryHeapFlagBits::eDeviceLocal)) continue;
    largest = std::max<std::uint64_t>(largest, memory.memoryHeaps[heap].size);
  }
  return largest;
}

/// Vendors count their units in extensions of their own.
std::uint32_t compute_units_of(const vk::raii::PhysicalDevice& physical_device, const DeviceOffer& offer) {
  const auto properties = [&]<class Vendor>(Vendor) {
    return physical_device.getProperties2<vk::PhysicalDeviceProperties2, Vendor>().template get<Vendor>();
  };
  if (offer.has_extension(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME))
    return properties(vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV()).shaderSMCount;
  if (offer.has_extension(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME))
    return properties(vk::PhysicalDeviceShaderCoreProperties2AMD()).activeComputeUnitCount;
  if (offer.has_extension(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME))
    return properties(vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM()).shaderCoreCount;
  return 0;
}

void describe_driver(const vk::raii::PhysicalDevice& physical_device, const DeviceOffer& offer, DeviceInfo& info) {
  const auto chain =
      physical_device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceVulkan11Properties,
                                     vk::PhysicalDeviceVulkan12Properties, vk::PhysicalDeviceVulkan13Properties>();
  const auto& properties11 = chain.get<vk::PhysicalDeviceVulkan11Properties>();
  const auto& properties12 = chain.get<vk::PhysicalDeviceVulkan12Properties>();
  info.driver_name = properties12.driverName.data();
  info.driver_version = properties12.driverInfo.data();
  info.subgroup_size = properties11.subgroupSize;
  info.compute_units = compute_units_of(physical_device, offer);
  std::copy(properties11.deviceUUID.begin(), properties11.deviceUUID.end(), info.uuid.begin());
  info.largest_allocation_bytes = std::min<std::uint64_t>(
      properties11.maxMemoryAllocationSize, chain.get<vk::PhysicalDeviceVulkan13Properties>().maxBufferSize);
}

}  // namespace

std::string_view name_of(DeviceType type) noexcept {
  switch (type) {
    case DeviceType::discrete:
      return "discrete";
    case DeviceType::integrated:
      return "integrated";
    case DeviceType::virtual_gpu:
      return "virtual";
    case DeviceType::cpu:
      return "cpu";
    case DeviceType::other:
      return "other";
  }
  return "other";
}

namespace detail {

DeviceInfo describe(const vk::raii::PhysicalDevice& physical_device, const DeviceOffer& offer, std::uint32_t index) {
  DeviceInfo info;
  info.index = index;
  info.name = std::data(offer.properties.deviceName);
  info.type = type_of(offer.properties.deviceType);
  info.api_version = version_text(offer.properties.apiVersion);
  info.driver_version = version_text(offer.properties.driverVersion);
  info.memory_bytes = info.type == DeviceType::cpu ? available_host_memory() : largest_local_heap(physical_device);
  info.missing_features = missing_features(offer);
  if (offer.properties.apiVersion >= VK_API_VERSION_1_3) describe_driver(physical_device, offer, info);
  return info;
}

}  // namespace detail

std::vector<DeviceInfo> enumerate_devices() {
  const detail::VulkanInstance instance({}, Validation::off);
  return detail::translated("device enumeration", [&] {
    std::vector<DeviceInfo> devices;
    for (const vk::raii::PhysicalDevice& physical_device : instance.instance().enumeratePhysicalDevices()) {
      const detail::DeviceOffer offer = detail::offer_of(physical_device);
      devices.push_back(detail::describe(physical_device, offer, static_cast<std::uint32_t>(devices.size())));
    }
    return devices;
  });
}

DeviceSelector DeviceSelector::parse(std::string_view text) {
  DeviceSelector selector;
  if (text.empty()) return selector;
  std::uint32_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (error == std::errc() && stop == end) {
    selector.index = index;
    return selector;
  }
  constexpr std::array types = {DeviceType::discrete, DeviceType::integrated, DeviceType::virtual_gpu, DeviceType::cpu};
  for (const DeviceType type : types) {
    if (lower(text) != name_of(type)) continue;
    selector.type = type;
    return selector;
  }
  selector.name = text;
  return selector;
}

DeviceSelector DeviceSelector::from_environment() {
  const char* const text = std::getenv("TESSERA_DEVICE");
  return parse(text != nullptr ? text : "");
}

}  // namespace tessera
