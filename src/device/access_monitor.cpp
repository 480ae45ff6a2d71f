#include "device/access_monitor.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "glsl/access_record.h"

namespace tessera::detail {
namespace {

std::string describe(const AccessReport& report, std::string_view kernel) {
  std::ostringstream text;
  text << report.faults << (report.faults == 1 ? " access" : " accesses")
       << " outside declared memory; for one, kernel " << kernel
       << (report.access == access_read ? " loads " : " stores ") << report.bytes << " bytes at " << std::hex
       << std::showbase << report.address;
  return text.str();
}

}  // namespace

AccessMonitor::~AccessMonitor() {
  const AccessFaults faults = take();
  if (faults.count != 0 && log_) log_(LogLevel::error, faults.first);
  memory_.release_block(block_);
}

std::uint64_t AccessMonitor::report_address() {
  const std::lock_guard lock(mutex_);
  if (block_.mapped == nullptr) {
    block_ = memory_.create_block({.pool = MemoryPool::download, .bytes = access_report_bytes});
    std::memset(block_.mapped, 0, access_report_bytes);
  }
  return block_.address;
}

std::uint32_t AccessMonitor::kernel(std::string_view module) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(kernels_.begin(), kernels_.end(), module);
  if (found != kernels_.end()) return static_cast<std::uint32_t>(found - kernels_.begin());
  kernels_.emplace_back(module);
  return static_cast<std::uint32_t>(kernels_.size() - 1);
}

AccessFaults AccessMonitor::take() {
  const std::lock_guard lock(mutex_);
  if (block_.mapped == nullptr) return {};
  AccessReport report{};
  std::memcpy(&report, block_.mapped, sizeof(report));
  if (report.faults == 0) return {};
  std::memset(block_.mapped, 0, sizeof(report));
  const std::string_view kernel =
      report.kernel < kernels_.size() ? std::string_view(kernels_[report.kernel]) : "unknown";
  return {.count = report.faults, .first = describe(report, kernel)};
}

}  // namespace tessera::detail
