#include "run.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include <cpl_conv.h>
#include <fmt/format.h>

#include "option_help.hpp"

namespace tessera::cli {
namespace {

std::stop_source& stop_source() {
  static std::stop_source source;
  return source;
}

/// `$XDG_CACHE_HOME/tessera` or `~/.cache/tessera`; empty where there is neither.
std::filesystem::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::filesystem::path(cache) / "tessera";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::filesystem::path(home) / ".cache" / "tessera";
  return {};
}

std::string cache_file_of(const DeviceInfo& info) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return {};
  std::string name = "pipelines-";
  for (const std::uint8_t byte : info.uuid) name += fmt::format("{:02x}", byte);
  std::string driver = info.driver_version;
  for (char& letter : driver)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return folder / (name + "-" + driver + ".bin");
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char letter) { return static_cast<std::byte>(letter); });
  return bytes;
}

DeviceSelector selector_of(const RunOptions& options) {
  return options.device.empty() ? DeviceSelector::from_environment() : DeviceSelector::parse(options.device);
}

/// The device and what its cache held before, found with one enumeration.
Device open_device(const RunOptions& options, std::string& cache_file, std::size_t& cached_bytes) {
  DeviceOptions device_options;
  LogLevel lowest = LogLevel::warning;
  if (options.quiet) lowest = LogLevel::error;
  if (options.verbose) lowest = LogLevel::information;
  device_options.log = [lowest](LogLevel level, std::string_view message) {
    if (level >= lowest) fmt::print(stderr, "tessera: {}\n", message);
  };
  Device device = Device::open(selector_of(options), device_options);
  if (options.verbose)
    fmt::print(stderr, "tessera: {} ({} {})\n", device.info().name, device.info().driver_name,
               device.info().driver_version);
  cache_file = cache_file_of(device.info());
  if (cache_file.empty()) return device;
  std::vector<std::byte> cache = read_file(cache_file);
  cached_bytes = cache.size();
  device.merge_pipeline_cache(cache);
  return device;
}

void write_cache(const std::string& path, const std::vector<std::byte>& bytes) {
  // A cache that can't be written costs time, nothing else.
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary = path + fmt::format(".{}", getpid());
  {
    std::ofstream file(temporary, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file) {
      file.close();
      std::filesystem::remove(temporary, ignored);
      return;
    }
  }
  std::filesystem::rename(temporary, path, ignored);
  if (ignored) std::filesystem::remove(temporary, ignored);
}

nlohmann::ordered_json error_json(const std::string& command, const Error& error) {
  nlohmann::ordered_json document{{"schema", 1}};
  document["error"] = {{"command", command},
                       {"code", name_of(error.code())},
                       {"operation", error.detail().operation},
                       {"operand", error.detail().operand},
                       {"rule", error.detail().rule},
                       {"values", error.detail().values},
                       {"message", error.what()}};
  return document;
}

int report(const std::string& command, bool json, const Error& error, ExitCode code) {
  if (json)
    print_json(error_json(command, error));
  else
    fmt::print(stderr, "tessera {}: {}\n", command, error.what());
  return static_cast<int>(code);
}

}  // namespace

void RunOptions::add_device_options(CLI::App& command) {
  command.add_option("--device", device,
                     "Vulkan device: an index, a type (discrete, integrated, virtual, cpu) or part of a name "
                     "[default: $TESSERA_DEVICE, else the best there is]");
}

void RunOptions::add_job_options(CLI::App& command) {
  add_device_options(command);
  command.add_option("--memory", memory, "Memory for the windows under way, for example 512M or 2G")
      ->capture_default_str();
  command.add_option("--threads", threads, "Threads that decode and compress [default: one per core]")
      ->check(CLI::Range(1U, 1024U));
  command.add_flag("-q,--quiet", quiet, "No progress and no warnings");
  command.add_flag("-v,--verbose", verbose, "Say which device and driver work")->excludes("--quiet");
  add_configuration_option(command);
  add_json_option(command);
}

void RunOptions::add_configuration_option(CLI::App& command) {
  CLI::Option* option = command
                            .add_option_function<std::vector<std::string>>(
                                "--config",
                                [](const std::vector<std::string>& settings) {
                                  for (const std::string& setting : settings) {
                                    const auto equals = setting.find('=');
                                    CPLSetConfigOption(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1);
                                  }
                                },
                                "Configuration option of GDAL, KEY=VALUE; repeatable")
                            ->allow_extra_args(false);
  require_key_values(option);
}

void RunOptions::add_json_option(CLI::App& command) {
  command.add_flag("--json", json, "Print one JSON document, also on failure");
}

std::uint64_t RunOptions::memory_bytes() const {
  std::uint64_t number = 0;
  const char* last = memory.data() + memory.size();
  const auto [end, failure] = std::from_chars(memory.data(), last, number);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  int shift = -1;
  if (unit.empty() || unit == "B") shift = 0;
  if (unit == "K" || unit == "k" || unit == "KB" || unit == "KiB") shift = 10;
  if (unit == "M" || unit == "m" || unit == "MB" || unit == "MiB") shift = 20;
  if (unit == "G" || unit == "g" || unit == "GB" || unit == "GiB") shift = 30;
  if (failure != std::errc() || shift < 0 || number == 0 || number > (std::uint64_t{1} << (63 - shift)))
    throw UsageError{"--memory: not a size, as 512M or 2G are: " + memory};
  return number << shift;
}

std::uint32_t RunOptions::thread_count() const {
  if (threads != 0) return threads;
  return std::max(1U, std::thread::hardware_concurrency());
}

CommandDevice::CommandDevice(const RunOptions& options) : device_(open_device(options, cache_file_, cached_bytes_)) {}

CommandDevice::~CommandDevice() {
  if (cache_file_.empty() || device_.lost()) return;
  try {
    const std::vector<std::byte> cache = device_.pipeline_cache();
    if (cache.size() != cached_bytes_) write_cache(cache_file_, cache);
  } catch (const std::exception&) {
    return;  // only time is lost
  }
}

namespace {
std::unique_ptr<std::thread> signal_thread;
std::atomic<bool> interrupted = false;
std::atomic<bool> signals_over = false;
}  // namespace

Interruption::Interruption() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // nohup ignores it on purpose.
  struct sigaction hang_up {};
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  // A file that may not grow is an error of the write then, which cleans up.
  std::signal(SIGXFSZ, SIG_IGN);
  // Threads made from here on leave these signals to the one that waits for them.
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_thread = std::make_unique<std::thread>([signals] {
    int received = 0;
    sigwait(&signals, &received);
    if (signals_over) return;
    interrupted = true;
    stop_source().request_stop();
    // A second signal ends the program at once.
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  });
}

Interruption::~Interruption() {
  signals_over = true;
  if (!interrupted) pthread_kill(signal_thread->native_handle(), SIGINT);
  signal_thread->join();
}

std::stop_token Interruption::token() { return stop_source().get_token(); }
bool Interruption::requested() { return interrupted; }

residency::StreamOptions stream_options(const RunOptions& options, const std::string& what) {
  residency::StreamOptions stream;
  stream.decode_threads = options.thread_count();
  // Enough to decode ahead while kernels are compiled.
  stream.slots = 2 * stream.decode_threads + 4;
  stream.stop = Interruption::token();
  if (!options.quiet && isatty(STDERR_FILENO) != 0) {
    stream.progress = [what](std::uint64_t done, std::uint64_t total) {
      fmt::print(stderr, "\r{} {:3d} %{}", what, 100 * done / total, done == total ? "\n" : "");
      std::fflush(stderr);
    };
  }
  return stream;
}

nlohmann::ordered_json json_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == std::trunc(value) && std::abs(value) < 9007199254740992.0) return static_cast<std::int64_t>(value);
  return value;
}

void print_json(const nlohmann::ordered_json& document) { fmt::print("{}\n", document.dump(2)); }

int run_reported(const std::string& command, bool json, const std::function<ExitCode()>& body) {
  try {
    return static_cast<int>(body());
  } catch (const UsageError& error) {
    return report(command, json, Error(error.code, {command, {}, error.message, {}}), ExitCode::usage);
  } catch (const Error& error) {
    const bool stopped = error.code() == ErrorCode::cancelled && Interruption::requested();
    return report(command, json, error, stopped ? ExitCode::interrupted : ExitCode::failed);
  } catch (const std::bad_alloc&) {
    return report(command, json, Error(ErrorCode::out_of_memory, {command, {}, "needs more memory than there is", {}}),
                  ExitCode::failed);
  } catch (const std::exception& error) {
    return report(command, json, Error(ErrorCode::internal, {command, {}, error.what(), {}}), ExitCode::failed);
  }
}

}  // namespace tessera::cli
