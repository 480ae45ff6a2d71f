#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "device/vulkan.hpp"

namespace tessera::detail {

class VulkanDevice;
struct DeviceState;

/// One primary command buffer with a pool of its own, so that encoders of different threads never share a pool.
class PrimaryCommands {
 public:
  explicit PrimaryCommands(VulkanDevice& device);

  VkCommandBuffer handle() const noexcept { return commands_; }
  /// Makes it ready for `vkBeginCommandBuffer` once more.
  void reset() { pool_.reset(); }

 private:
  vk::raii::CommandPool pool_{nullptr};
  VkCommandBuffer commands_ = VK_NULL_HANDLE;  // goes with its pool
};

/// Command buffers that come back when their submission is done. Thread-safe.
class CommandRecycler {
 public:
  explicit CommandRecycler(VulkanDevice& device) : device_(device) { idle_.reserve(most_idle); }

  /// A command buffer that is not begun. Dropping the last share hands it back; until then it holds the device, which
  /// what is kept beside it may own as well and give up first.
  std::shared_ptr<PrimaryCommands> take(std::shared_ptr<DeviceState> device);

 private:
  static constexpr std::size_t most_idle = 64;

  void give_back(std::unique_ptr<PrimaryCommands> commands) noexcept;

  VulkanDevice& device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PrimaryCommands>> idle_;
};

}  // namespace tessera::detail
