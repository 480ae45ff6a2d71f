#include "device/vulkan_device.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>

#include "device/device_selection.hpp"
#include "device/host_memory.hpp"
#include "device/image_kernels.hpp"
#include "device/pipeline_cache.hpp"
#include "device/result.hpp"

namespace tessera::detail {
namespace {

/// Graphics as well where there is such a family, since graphs may hold render nodes; otherwise compute alone.
std::uint32_t choose_queue_family(const vk::raii::PhysicalDevice& physical_device) {
  const std::vector<vk::QueueFamilyProperties> families = physical_device.getQueueFamilyProperties();
  const auto find = [&families](vk::QueueFlags flags) {
    return std::find_if(families.begin(), families.end(), [flags](const vk::QueueFamilyProperties& family) {
      return family.queueCount > 0 && (family.queueFlags & flags) == flags;
    });
  };
  auto found = find(vk::QueueFlagBits::eCompute | vk::QueueFlagBits::eGraphics);
  if (found == families.end()) found = find(vk::QueueFlagBits::eCompute);
  return static_cast<std::uint32_t>(found - families.begin());
}

void require_handles(const AdoptedDevice& adopted) {
  const std::array<std::pair<const char*, bool>, 4> handles = {
      {{"instance", adopted.instance != VK_NULL_HANDLE},
       {"physical_device", adopted.physical_device != VK_NULL_HANDLE},
       {"device", adopted.device != VK_NULL_HANDLE},
       {"queue", adopted.queue != VK_NULL_HANDLE}}};
  for (const auto& [name, present] : handles) {
    if (present) continue;
    throw Error(ErrorCode::invalid_argument,
                {.operation = "device adoption", .operand = name, .rule = "every handle must be given", .values = {}});
  }
  if (static_cast<bool>(adopted.lock_queue) != static_cast<bool>(adopted.unlock_queue)) {
    throw Error(ErrorCode::invalid_argument, {.operation = "device adoption",
                                              .operand = "lock_queue",
                                              .rule = "the queue's lock and unlock go together",
                                              .values = {}});
  }
}

void require_entry_points(const DeviceFunctions& functions, const DeviceInfo& info) {
#define TESSERA_REQUIRE_FUNCTION(function)                                                              \
  if (functions.function == nullptr) {                                                                  \
    throw Error(ErrorCode::missing_feature, {.operation = "device adoption",                            \
                                             .operand = info.name,                                      \
                                             .rule = "instance and device must be made for Vulkan 1.3", \
                                             .values = "missing " #function});                          \
  }
  TESSERA_FOR_EACH_DEVICE_FUNCTION(TESSERA_REQUIRE_FUNCTION)
#undef TESSERA_REQUIRE_FUNCTION
}

void require_features(const DeviceInfo& info) {
  if (info.missing_features.empty()) return;
  std::string names;
  for (const std::string& name : info.missing_features) names += (names.empty() ? "" : ", ") + name;
  throw Error(ErrorCode::missing_feature, {.operation = "device adoption",
                                           .operand = info.name,
                                           .rule = "the device was created without required features",
                                           .values = names});
}

}  // namespace

std::unique_ptr<VulkanDevice> VulkanDevice::open(const DeviceSelector& selector, const DeviceOptions& options) {
  std::unique_ptr<VulkanDevice> result(new VulkanDevice);
  result->own_instance_.emplace(options.log, options.validation);
  translated("device", [&] {
    std::vector<vk::raii::PhysicalDevice> physical_devices =
        result->own_instance_->instance().enumeratePhysicalDevices();
    std::vector<DeviceOffer> offers;
    std::vector<DeviceInfo> infos;
    for (const vk::raii::PhysicalDevice& physical_device : physical_devices) {
      offers.push_back(offer_of(physical_device));
      infos.push_back(describe(physical_device, offers.back(), static_cast<std::uint32_t>(infos.size())));
    }
    const std::size_t chosen = select_device(infos, selector);
    result->physical_device_ = std::move(physical_devices[chosen]);
    result->offer_ = std::move(offers[chosen]);
    result->info_ = std::move(infos[chosen]);
    result->open_device();
    result->finish(options);
  });
  return result;
}

std::unique_ptr<VulkanDevice> VulkanDevice::adopt(const AdoptedDevice& adopted, const DeviceOptions& options) {
  require_handles(adopted);
  std::unique_ptr<VulkanDevice> result(new VulkanDevice);
  result->owned_ = false;
  result->owner_ = adopted.owner;
  result->lock_queue_ = adopted.lock_queue;
  result->unlock_queue_ = adopted.unlock_queue;
  translated("device adoption", [&] {
    if (adopted.loader != nullptr) {
      result->adopted_context_.emplace(adopted.loader);
    } else {
      result->adopted_context_.emplace(make_context());
    }
    result->adopted_instance_ = vk::raii::Instance(*result->adopted_context_, adopted.instance);
    result->physical_device_ = vk::raii::PhysicalDevice(result->adopted_instance_, adopted.physical_device);
    result->offer_ = offer_of(result->physical_device_);
    if (adopted.features != nullptr) {
      restrict_to_enabled(result->offer_, *adopted.features, adopted.extensions);
    }
    result->info_ = describe(result->physical_device_, result->offer_, 0);
    require_features(result->info_);
    result->device_ = vk::raii::Device(result->physical_device_, adopted.device);
    result->handles_.instance = adopted.instance;
    result->handles_.queue = adopted.queue;
    result->handles_.queue_family = adopted.queue_family;
    result->features_ = adopted.features != nullptr ? optional_features(result->offer_) : DeviceFeatures{};
    result->features_.debug_utils = adopted.debug_utils;
    require_entry_points(result->functions(), result->info_);
    result->finish(options);
  });
  return result;
}

VulkanDevice::~VulkanDevice() {
  pipeline_cache_.clear();
  layout_.clear();
  if (owned_) return;
  device_.release();
  adopted_instance_.release();
}

void VulkanDevice::open_device() {
  const std::uint32_t family = choose_queue_family(physical_device_);
  constexpr std::array priorities = {1.0F};
  const std::array queues = {vk::DeviceQueueCreateInfo({}, family, priorities)};
  const std::unique_ptr<FeatureChain> enabled = features_to_enable(offer_);
  const std::vector<const char*> extensions = extensions_to_enable(offer_);
  const vk::DeviceCreateInfo info({}, queues, {}, extensions, nullptr, &enabled->core);
  device_ = vk::raii::Device(physical_device_, info);
  handles_.instance = static_cast<VkInstance>(*own_instance_->instance());
  handles_.queue_family = family;
  handles_.queue = static_cast<VkQueue>(*device_.getQueue(family, 0));
  features_ = optional_features(offer_);
  features_.debug_utils = own_instance_->debug_utils();
}

void VulkanDevice::finish(const DeviceOptions& options) {
  handles_.physical_device = static_cast<VkPhysicalDevice>(*physical_device_);
  handles_.device = static_cast<VkDevice>(*device_);
  const auto families = physical_device_.getQueueFamilyProperties();
  if (handles_.queue_family >= families.size() ||
      !(families[handles_.queue_family].queueFlags & vk::QueueFlagBits::eCompute)) {
    throw Error(ErrorCode::invalid_argument, {.operation = "device adoption",
                                              .operand = "queue_family",
                                              .rule = "the queue must support compute",
                                              .values = quantity("family", handles_.queue_family)});
  }
  timestamp_bits_ = families[handles_.queue_family].timestampValidBits;
  queue_renders_ = static_cast<bool>(families[handles_.queue_family].queueFlags & vk::QueueFlagBits::eGraphics);

  const vk::PushConstantRange range(vk::ShaderStageFlagBits::eCompute, 0, push_constant_bytes);
  layout_ = vk::raii::PipelineLayout(device_, vk::PipelineLayoutCreateInfo({}, {}, range));
  handles_.pipeline_layout = static_cast<VkPipelineLayout>(*layout_);

  const auto data = open_pipeline_cache(options.pipeline_cache, offer_.properties);
  if (data.empty() && !options.pipeline_cache.empty()) {
    send(options.log, LogLevel::information, "the pipeline cache is damaged or another device's; it is not used");
  }
  pipeline_cache_ = vk::raii::PipelineCache(device_, vk::PipelineCacheCreateInfo({}, data.size(), data.data()));
}

void VulkanDevice::merge_pipeline_cache(std::span<const std::byte> sealed) {
  const auto data = open_pipeline_cache(sealed, offer_.properties);
  if (data.empty()) return;
  const vk::raii::PipelineCache other(device_, vk::PipelineCacheCreateInfo({}, data.size(), data.data()));
  const std::unique_lock lock(pipeline_cache_mutex_);
  pipeline_cache_.merge(*other);
}

DeviceLimits VulkanDevice::limits() const {
  const VkPhysicalDeviceLimits& vulkan = offer_.properties.limits;
  DeviceLimits limits;
  limits.largest_buffer_bytes = std::min(info_.largest_allocation_bytes, info_.memory_bytes);
  limits.largest_workgroup_count = std::min(
      {vulkan.maxComputeWorkGroupCount[0], vulkan.maxComputeWorkGroupCount[1], vulkan.maxComputeWorkGroupCount[2]});
  limits.largest_workgroup_size = vulkan.maxComputeWorkGroupInvocations;
  limits.shared_memory_bytes = vulkan.maxComputeSharedMemorySize;
  limits.subgroup_size = info_.subgroup_size;
  limits.timestamp_nanoseconds = timestamp_bits_ != 0 ? static_cast<double>(vulkan.timestampPeriod) : 0.0;
  limits.external_memory_descriptor = features_.external_memory_descriptor;
  limits.external_semaphore_descriptor = features_.external_semaphore_descriptor;
  limits.largest_image_extent = vulkan.maxImageDimension2D;
  limits.largest_attachment_extent =
      std::min({vulkan.maxImageDimension2D, vulkan.maxFramebufferWidth, vulkan.maxFramebufferHeight});
  limits.color_attachments = queue_renders_ && features_.dynamic_rendering ? vulkan.maxColorAttachments : 0;
  limits.storage_images = std::min(most_storage_images, vulkan.maxPerStageDescriptorStorageImages);
  limits.sampled_images = most_sampled_images;
  return limits;
}

DeviceFunctions VulkanDevice::functions() const {
  const auto& dispatch = *device_.getDispatcher();
  DeviceFunctions functions;
#define TESSERA_FETCH_FUNCTION(function) functions.function = dispatch.function;
  TESSERA_FOR_EACH_DEVICE_FUNCTION(TESSERA_FETCH_FUNCTION)
#undef TESSERA_FETCH_FUNCTION
  if (features_.debug_utils) {
    functions.vkSetDebugUtilsObjectNameEXT = dispatch.vkSetDebugUtilsObjectNameEXT;
    functions.vkCmdBeginDebugUtilsLabelEXT = dispatch.vkCmdBeginDebugUtilsLabelEXT;
    functions.vkCmdEndDebugUtilsLabelEXT = dispatch.vkCmdEndDebugUtilsLabelEXT;
  }
  return functions;
}

void VulkanDevice::lock() {
  if (lock_queue_) lock_queue_();
  queue_mutex_.lock();
}

void VulkanDevice::unlock() {
  queue_mutex_.unlock();
  if (unlock_queue_) unlock_queue_();
}

void VulkanDevice::count_allocation(std::string_view operation) {
  const std::uint64_t call = allocation_calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (call == failing_call.load(std::memory_order_relaxed)) throw_result(VK_ERROR_OUT_OF_DEVICE_MEMORY, operation);
}

}  // namespace tessera::detail
