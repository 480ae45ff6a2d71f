#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_state.hpp"
#include "device/vulkan.hpp"

namespace tessera::detail {

class VulkanDevice;

/// Compute pipelines by module, constants and layout. Thread-safe; different pipelines compile at the same time.
class KernelCache {
 public:
  explicit KernelCache(VulkanDevice& device) : device_(device) {}

  /// See `DeviceState::compute_pipeline`.
  VkPipeline pipeline(std::string_view module, std::span<const std::uint32_t> constants, SubgroupRule subgroups,
                      VkPipelineLayout layout);
  std::size_t size() const;

 private:
  struct Key {
    std::string module;
    std::vector<std::uint32_t> constants;
    SubgroupRule subgroups = SubgroupRule::any;
    VkPipelineLayout layout = VK_NULL_HANDLE;

    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    std::mutex mutex;
    vk::raii::Pipeline pipeline{nullptr};
  };

  Entry& entry(Key key);
  vk::raii::Pipeline compile(const Key& key) const;

  VulkanDevice& device_;
  mutable std::shared_mutex mutex_;
  std::map<Key, std::unique_ptr<Entry>> entries_;
};

}  // namespace tessera::detail
