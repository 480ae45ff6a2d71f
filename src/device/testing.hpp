#pragma once

#include <cstdint>
#include <string>

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

/// Whether this build compares every access of the graph's kernels with what their nodes declared
/// (CMake: TESSERA_CHECKED_ACCESS).
#ifdef TESSERA_CHECKED_ACCESS
inline constexpr bool access_is_checked = true;
#else
inline constexpr bool access_is_checked = false;
#endif

/// Accesses of kernels outside the memory that their nodes declared.
struct AccessFaults {
  std::uint64_t count = 0;
  std::string first{};  ///< kernel, kind, size and address of one of the first
};
/// Faults since the last call; none in builds that don't check. The device is idle.
TESSERA_EXPORT AccessFaults take_access_faults(DeviceState& device);

/// Behaves from now on as if the driver had reported a lost device.
TESSERA_EXPORT void simulate_device_loss(DeviceState& device) noexcept;

}  // namespace tessera::detail
