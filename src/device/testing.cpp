#include "device/testing.hpp"

#include <chrono>

#include "device/access_monitor.hpp"
#include "device/device_state.hpp"
#include "device/timeline.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {

void set_copy_path(DeviceState& device, CopyPath path) noexcept {
  device.vulkan().copy_path.store(path, std::memory_order_relaxed);
}

void fail_allocation_after(DeviceState& device, std::uint64_t count) noexcept {
  VulkanDevice& vulkan = device.vulkan();
  vulkan.failing_call.store(count == 0 ? 0 : vulkan.allocation_calls.load(std::memory_order_relaxed) + count,
                            std::memory_order_relaxed);
}

std::uint64_t allocation_calls(const DeviceState& device) noexcept {
  return device.vulkan().allocation_calls.load(std::memory_order_relaxed);
}

AccessFaults take_access_faults(DeviceState& device) { return device.accesses().take(); }

void simulate_device_loss(DeviceState& device) noexcept {
  // The work is really running: only once it is done may what it uses be dropped.
  (void)device.timeline().wait(device.submitted(), std::chrono::nanoseconds::max());
  device.vulkan().lost.store(true, std::memory_order_relaxed);
}

}  // namespace tessera::detail
