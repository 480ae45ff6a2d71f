#include "conformance/conformance.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>

#include <tessera/error.hpp>

#include "conformance/case.hpp"
#include "device/testing.hpp"

namespace tessera::conformance {
namespace {

struct Check {
  std::string_view operation;
  Outcome (*run)(Device&, Random&);
};

constexpr std::array checks{
    Check{"elementwise", check_elementwise},
    Check{"reduction", check_reduction},
    Check{"scan", check_scan},
    Check{"histogram", check_histogram},
    Check{"mask", check_mask},
    Check{"ndvi", check_ndvi},
    Check{"statistics", check_statistics},
    Check{"missing_counts", check_missing_counts},
    Check{"threshold", check_threshold},
    Check{"otsu_threshold", check_otsu_threshold},
};

CaseReport run_case(Device& device, const Check& check, std::uint64_t seed) {
  CaseReport report{
      .operation = std::string(check.operation), .description = {}, .seed = seed, .passed = false, .failure = {}};
  try {
    Random random(seed);
    Outcome outcome = check.run(device, random);
    report.description = std::move(outcome.description);
    report.failure = std::move(outcome.failure);
    if (const detail::AccessFaults faults = detail::take_access_faults(*device.state()); faults.count != 0)
      report.failure = faults.first;
  } catch (const std::exception& error) {
    report.failure = error.what();
  }
  report.passed = report.failure.empty();
  return report;
}

}  // namespace

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const Check& check : checks) names.emplace_back(check.operation);
  return names;
}

void run(Device& device, const Selection& selection, const std::function<void(const CaseReport&)>& report) {
  const auto chosen = [&](const Check& check) {
    return selection.operation.empty() || check.operation == selection.operation;
  };
  if (std::none_of(checks.begin(), checks.end(), chosen))
    throw Error(ErrorCode::unknown_id, {"selftest", selection.operation, "is the name of an operation", {}});
  for (const Check& check : checks)
    if (chosen(check))
      for (std::uint32_t i = 0; i < selection.cases; ++i) report(run_case(device, check, selection.seed + i));
}

}  // namespace tessera::conformance
