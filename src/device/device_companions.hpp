#pragma once

#include <memory>
#include <mutex>

#include <tessera/device/device.hpp>

#include "device/vulkan_device.hpp"

namespace tessera::detail {

/// What layers above keep beside a device and what itself holds the device's state: it belongs to the handles, not to
/// the state, and goes with the last of them. Thread-safe.
class DeviceCompanions {
 public:
  /// The companion of one layer, made at its first use.
  template <class Companion>
  std::shared_ptr<Companion> get() {
    const std::scoped_lock lock(mutex_);
    if (operation_cache_ == nullptr) operation_cache_ = std::make_shared<Companion>();
    return std::static_pointer_cast<Companion>(operation_cache_);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<void> operation_cache_;
};

/// The first handle of a new device.
Device make_device(std::unique_ptr<VulkanDevice> vulkan, DeviceOptions options);

}  // namespace tessera::detail
