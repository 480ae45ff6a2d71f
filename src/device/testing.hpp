#pragma once

#include <cstdint>

#include <tessera/export.hpp>

namespace tessera::detail {

struct DeviceState;

/// How copies and fills are done. For tests and benchmarks; `automatic` otherwise.
enum class CopyPath : std::uint8_t { automatic, driver, kernel };
TESSERA_EXPORT void set_copy_path(DeviceState& device, CopyPath path) noexcept;

/// Makes the `count`-th next allocation from the driver fail as if it were out of memory (1: the very next; 0: none).
/// Counts every call that may run out of memory: memory, buffers, command pools, pipelines, queries, semaphores.
TESSERA_EXPORT void fail_allocation_after(DeviceState& device, std::uint64_t count) noexcept;
/// Driver allocations counted so far.
TESSERA_EXPORT std::uint64_t allocation_calls(const DeviceState& device) noexcept;

/// Behaves from now on as if the driver had reported a lost device.
TESSERA_EXPORT void simulate_device_loss(DeviceState& device) noexcept;

}  // namespace tessera::detail
