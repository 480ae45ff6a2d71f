#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <tessera/raster/pixel.hpp>
#include <tessera/version.hpp>

#include "commands.hpp"
#include "conformance/conformance.hpp"
#include "option_help.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct SelftestOptions {
  RunOptions run;
  bool list = false;
  std::string report;
  conformance::Selection selection;
};

nlohmann::ordered_json report_json(const conformance::CaseReport& report) {
  return {{"operation", report.operation},
          {"case", report.description},
          {"seed", report.seed},
          {"passed", report.passed},
          {"failure", report.failure}};
}

ExitCode list_operations(bool json) {
  const nlohmann::ordered_json document{{"schema", 1}, {"operations", conformance::operation_names()}};
  if (json) {
    print_json(document);
  } else {
    for (const std::string& name : conformance::operation_names()) fmt::print("{}\n", name);
  }
  return ExitCode::done;
}

/// A new file: a report is never written over another.
class ReportFile {
 public:
  explicit ReportFile(const std::string& path) : path_(path), file_(std::fopen(path.c_str(), "wx")) {
    if (file_ != nullptr) return;
    const bool exists = errno == EEXIST;
    throw Error(exists ? ErrorCode::file_exists : ErrorCode::file_unwritable,
                {"selftest", path, exists ? "the report must not exist" : "the report must be writable",
                 std::generic_category().message(errno)});
  }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile() {
    if (file_ == nullptr) return;
    std::fclose(file_);
    std::remove(path_.c_str());  // it was not finished
  }
  void finish(const nlohmann::ordered_json& document) {
    const std::string text = document.dump(2) + "\n";
    const bool written = std::fwrite(text.data(), 1, text.size(), file_) == text.size();
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (written && closed) return;
    std::remove(path_.c_str());
    throw Error(ErrorCode::file_unwritable, {"selftest", path_, "the report must be writable", ""});
  }

 private:
  std::string path_;
  std::FILE* file_;
};

nlohmann::ordered_json device_json(const DeviceInfo& info) {
  return {{"name", info.name},
          {"type", name_of(info.type)},
          {"driver", info.driver_name},
          {"driver_version", info.driver_version}};
}

ExitCode run_selftest(const SelftestOptions& options) {
  raster::register_operations();
  if (options.list) return list_operations(options.run.json);
  std::optional<ReportFile> report;
  if (!options.report.empty()) report.emplace(options.report);
  CommandDevice device(options.run);
  std::uint64_t failed = 0;
  std::uint64_t total = 0;
  nlohmann::ordered_json cases = nlohmann::ordered_json::array();
  conformance::run(device.device(), options.selection, [&](const conformance::CaseReport& result) {
    ++total;
    failed += result.passed ? 0 : 1;
    cases.push_back(report_json(result));
    if (options.run.json || (options.run.quiet && result.passed)) return;
    fmt::print("{} {} (seed {}): {}{}\n", result.passed ? "ok    " : "FAILED", result.operation, result.seed,
               result.description, result.passed ? "" : ": " + result.failure);
  });
  nlohmann::ordered_json document{{"schema", 1},
                                  {"version", version()},
                                  {"device", device.device().info().name},
                                  {"driver", device.device().info().driver_version},
                                  {"passed", total - failed},
                                  {"failed", failed},
                                  {"cases", cases}};
  if (report) {
    nlohmann::ordered_json whole = document;
    whole["device"] = device_json(device.device().info());
    report->finish(whole);
  }
  if (options.run.json)
    print_json(document);
  else
    fmt::print("{} of {} cases passed on {}\n", total - failed, total, device.device().info().name);
  return failed == 0 ? ExitCode::done : ExitCode::failed;
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
  require_text(command->add_option("--report", options->report,
                                   "Write device, driver and results to a new file, for a bug report"));
  command->add_flag("-q,--quiet", options->run.quiet, "Only failures and the summary");
  options->run.add_device_options(*command);
  options->run.add_json_option(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("selftest", options->run.json, [&] { return run_selftest(*options); });
  });
}

}  // namespace tessera::cli
