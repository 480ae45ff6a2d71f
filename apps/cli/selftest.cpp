#include <fmt/format.h>

#include <tessera/raster/pixel.hpp>

#include "commands.hpp"
#include "conformance/conformance.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct SelftestOptions {
  RunOptions run;
  bool list = false;
  conformance::Selection selection;
};

nlohmann::ordered_json report_json(const conformance::CaseReport& report) {
  return {{"operation", report.operation},
          {"case", report.description},
          {"seed", report.seed},
          {"passed", report.passed},
          {"failure", report.failure}};
}

void list_operations(bool json) {
  nlohmann::ordered_json document{{"schema", 1}, {"operations", conformance::operation_names()}};
  if (json) return print_json(document);
  for (const std::string& name : conformance::operation_names()) fmt::print("{}\n", name);
}

void run_selftest(const SelftestOptions& options) {
  raster::register_operations();
  if (options.list) return list_operations(options.run.json);
  CommandDevice device(options.run);
  std::uint64_t failed = 0;
  std::uint64_t total = 0;
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  conformance::run(device.device(), options.selection, [&](const conformance::CaseReport& report) {
    ++total;
    failed += report.passed ? 0 : 1;
    cases.push_back(report_json(report));
    if (options.run.json || (options.run.quiet && report.passed)) return;
    fmt::print("{} {} (seed {}): {}{}\n", report.passed ? "ok    " : "FAILED", report.operation, report.seed,
               report.description, report.passed ? "" : ": " + report.failure);
  });
  if (options.run.json) {
    print_json({{"schema", 1},
                {"device", device.device().info().name},
                {"driver", device.device().info().driver_version},
                {"passed", total - failed},
                {"failed", failed},
                {"cases", cases}});
  } else {
    fmt::print("{} of {} cases passed on {}\n", total - failed, total, device.device().info().name);
  }
  if (failed != 0)
    throw Error(
        ErrorCode::internal,
        {"selftest", {}, "agrees with the CPU references", fmt::format("{} of {} cases differ", failed, total)});
}

}  // namespace

void add_selftest(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("selftest", "Check the operations on the device against CPU references over random data");
  command->footer("Example: tessera selftest --operation scan --seed 7");
  const auto options = std::make_shared<SelftestOptions>();
  command->add_flag("--list", options->list, "List the operations that can be checked");
  command->add_option("--operation", options->selection.operation, "Only this operation");
  command->add_option("--seed", options->selection.seed, "First seed; a failing case is run again by its seed")
      ->capture_default_str();
  command->add_option("--cases", options->selection.cases, "Cases of each operation")
      ->capture_default_str()
      ->check(CLI::Range(1U, 100000U));
  command->add_flag("-q,--quiet", options->run.quiet, "Only failures and the summary");
  options->run.add_device_options(*command);
  options->run.add_json_option(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("selftest", options->run.json, [&] { run_selftest(*options); });
  });
}

}  // namespace tessera::cli
