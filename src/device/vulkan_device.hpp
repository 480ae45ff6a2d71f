#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>

#include <tessera/device/device.hpp>
#include <tessera/device/device_info.hpp>

#include "device/device_state.hpp"
#include "device/feature_set.hpp"
#include "device/instance.hpp"
#include "device/testing.hpp"
#include "device/vulkan.hpp"

namespace tessera::detail {

/// What an application hands over; see `interop::VulkanAdoption`.
struct AdoptedDevice {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;
  const VkPhysicalDeviceFeatures2* features = nullptr;
  std::span<const char* const> extensions;
  bool debug_utils = false;
  PFN_vkGetInstanceProcAddr loader = nullptr;
  std::function<void()> lock_queue;
  std::function<void()> unlock_queue;
  std::shared_ptr<const void> owner;
};

/// Describes one physical device.
DeviceInfo describe(const vk::raii::PhysicalDevice& physical_device, const DeviceOffer& offer, std::uint32_t index);

/// Instance, device and queue, owned or adopted, with the layout and the cache that every pipeline shares.
/// Thread-safe: constant after construction but for the queue, which has a lock, and the counters.
class VulkanDevice {
 public:
  /// Opens the device that the selector prefers. Throws `no_device`, `missing_feature`.
  static std::unique_ptr<VulkanDevice> open(const DeviceSelector& selector, const DeviceOptions& options);
  /// Takes part in an application's device. Throws `invalid_argument`, `missing_feature`.
  static std::unique_ptr<VulkanDevice> adopt(const AdoptedDevice& adopted, const DeviceOptions& options);

  VulkanDevice(const VulkanDevice&) = delete;
  VulkanDevice& operator=(const VulkanDevice&) = delete;
  ~VulkanDevice();

  const vk::raii::PhysicalDevice& physical_device() const noexcept { return physical_device_; }
  const vk::raii::Device& device() const noexcept { return device_; }
  const vk::raii::PipelineCache& pipeline_cache() const noexcept { return pipeline_cache_; }
  /// Shared while pipelines are made with the cache; merging is exclusive.
  std::shared_mutex& pipeline_cache_mutex() noexcept { return pipeline_cache_mutex_; }
  /// Adds a sealed cache's pipelines; foreign or damaged data adds nothing.
  void merge_pipeline_cache(std::span<const std::byte> sealed);
  const DeviceInfo& info() const noexcept { return info_; }
  const DeviceFeatures& features() const noexcept { return features_; }
  const DeviceHandles& handles() const noexcept { return handles_; }
  const VkPhysicalDeviceProperties& properties() const noexcept { return offer_.properties; }
  DeviceLimits limits() const;
  DeviceFunctions functions() const;
  std::uint32_t timestamp_bits() const noexcept { return timestamp_bits_; }

  /// Exclusive use of the queue, by the application's callbacks where it gave some. Meets BasicLockable.
  void lock();
  void unlock();

  /// Counts a driver allocation; throws `out_of_memory` where a test asked for a failure.
  void count_allocation(std::string_view operation);

  std::atomic<bool> lost{false};
  std::atomic<std::uint64_t> allocation_calls{0};
  std::atomic<std::uint64_t> failing_call{0};  ///< number of the allocation that fails; 0 for none
  std::atomic<CopyPath> copy_path{CopyPath::automatic};

 private:
  VulkanDevice() = default;

  void open_device();
  /// Layout, cache and figures, the same for both kinds.
  void finish(const DeviceOptions& options);

  bool owned_ = true;
  std::shared_ptr<const void> owner_;
  std::optional<VulkanInstance> own_instance_;
  std::optional<vk::raii::Context> adopted_context_;
  vk::raii::Instance adopted_instance_{nullptr};
  vk::raii::PhysicalDevice physical_device_{nullptr};
  DeviceOffer offer_;
  DeviceInfo info_;
  DeviceFeatures features_;
  DeviceHandles handles_;
  vk::raii::Device device_{nullptr};
  vk::raii::PipelineLayout layout_{nullptr};
  vk::raii::PipelineCache pipeline_cache_{nullptr};
  std::shared_mutex pipeline_cache_mutex_;
  std::uint32_t timestamp_bits_ = 0;
  bool queue_renders_ = false;
  std::mutex queue_mutex_;
  std::function<void()> lock_queue_;
  std::function<void()> unlock_queue_;
};

}  // namespace tessera::detail
