#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tessera/device/device.hpp>

// Runs operations on a device over random data and random partitions and compares with the CPU references.
namespace tessera::conformance {

struct CaseReport {
  std::string operation;
  std::string description;  ///< sizes and options of the case
  std::uint64_t seed = 0;   ///< runs this case again
  bool passed = false;
  std::string failure;  ///< what differed, empty when passed
};

struct Selection {
  std::string operation;  ///< empty: every operation
  std::uint64_t seed = 1;
  std::uint32_t cases = 4;  ///< per operation
};

/// Names of the operations that can be checked, in order.
std::vector<std::string> operation_names();

/// Runs the cases, reporting each. Throws `unknown_id` for an operation that has none.
void run(Device& device, const Selection& selection, const std::function<void(const CaseReport&)>& report);

}  // namespace tessera::conformance
