#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/device/device.hpp>

#include "device/memory.hpp"
#include "device/testing.hpp"

namespace tessera::detail {

/// Where a device's kernels count accesses outside what their nodes declared, in builds that check them. Owns the
/// memory of the count, made when the first graph asks for it. Thread-safe.
class AccessMonitor {
 public:
  AccessMonitor(MemoryAllocator& memory, LogCallback log) : memory_(memory), log_(std::move(log)) {}
  AccessMonitor(const AccessMonitor&) = delete;
  AccessMonitor& operator=(const AccessMonitor&) = delete;
  /// Faults that nobody took become an error in the log. Nothing runs on the device any more.
  ~AccessMonitor();

  /// Device address of the `AccessReport`.
  std::uint64_t report_address();
  /// The number that stands for a module in reports.
  std::uint32_t kernel(std::string_view module);
  /// Faults since the last call. Work that may still fault is done.
  AccessFaults take();

 private:
  MemoryAllocator& memory_;
  LogCallback log_;
  std::mutex mutex_;
  MemoryBlock block_;
  std::vector<std::string> kernels_;
};

}  // namespace tessera::detail
