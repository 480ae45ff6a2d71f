#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>
#include <tessera/residency/stream.hpp>

// What every subcommand shares: options, the device, progress, errors, interruption.
namespace tessera::cli {

enum class ExitCode : int { done = 0, failed = 1, usage = 2, skipped = 3, interrupted = 130 };

/// Options that every command that computes understands.
struct RunOptions {
  std::string device;           ///< index, type or part of a name; empty: TESSERA_DEVICE or the best there is
  std::string memory = "512M";  ///< bytes for windows under way
  std::uint32_t threads = 0;    ///< 0: one per core
  bool json = false;
  bool quiet = false;
  bool verbose = false;

  void add_device_options(CLI::App& command);
  /// Everything that a command that streams pixels understands.
  void add_job_options(CLI::App& command);
  void add_json_option(CLI::App& command);
  /// `--config`, which is set when it is parsed.
  static void add_configuration_option(CLI::App& command);

  std::uint64_t memory_bytes() const;  ///< Throws `invalid_argument` for what is no size.
  std::uint32_t thread_count() const;
};

/// Names a mistake in how the command was called: exit code 2.
struct UsageError {
  std::string message;
  ErrorCode code = ErrorCode::invalid_argument;
};

/// Opens the chosen device with the user's pipeline cache, which is written back on destruction.
class CommandDevice {
 public:
  explicit CommandDevice(const RunOptions& options);
  CommandDevice(const CommandDevice&) = delete;
  CommandDevice& operator=(const CommandDevice&) = delete;
  ~CommandDevice();
  Device& device() noexcept { return device_; }

 private:
  std::string cache_file_;
  std::size_t cached_bytes_ = 0;
  Device device_;
};

/// Stops on SIGINT, SIGTERM and SIGHUP. Must be made before any other thread.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();
  static std::stop_token token();
  static bool requested();
};

/// Decode threads, slots, stop token and a progress line on a terminal.
residency::StreamOptions stream_options(const RunOptions& options, const std::string& what);

/// A number as JSON: integers without a fraction, NaN and infinities as text.
nlohmann::ordered_json json_number(double value);
void print_json(const nlohmann::ordered_json& document);

/// Runs a command's body and turns what it throws into an exit code and a message: text on standard error, or with
/// --json one document on standard output.
int run_reported(const std::string& command, bool json, const std::function<ExitCode()>& body);

}  // namespace tessera::cli
