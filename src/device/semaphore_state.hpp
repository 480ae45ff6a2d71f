#pragma once

#include <cstdint>
#include <memory>

#include <vulkan/vulkan.h>

#include <tessera/device/fence.hpp>

#include "device/device_state.hpp"

namespace tessera {

/// A timeline semaphore of one device. Thread-safe to read.
struct Semaphore::State {
  std::shared_ptr<detail::DeviceState> device;
  VkSemaphore handle = VK_NULL_HANDLE;
  bool exportable = false;
  std::shared_ptr<const void> owner;  ///< destroys the semaphore when dropped; goes before the device
};

namespace detail {

enum class SemaphoreSharing : std::uint8_t { none, exported };

/// Throws `out_of_memory`, `driver_failure`.
std::shared_ptr<Semaphore::State> make_semaphore(std::shared_ptr<DeviceState> device, std::uint64_t initial_value,
                                                 SemaphoreSharing sharing);

}  // namespace detail
}  // namespace tessera
