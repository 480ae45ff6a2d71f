#include <fmt/format.h>

#include <tessera/device/device_info.hpp>

#include "commands.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

nlohmann::ordered_json device_json(const DeviceInfo& info) {
  std::string uuid;
  for (const std::uint8_t byte : info.uuid) uuid += fmt::format("{:02x}", byte);
  return {{"index", info.index},
          {"name", info.name},
          {"type", name_of(info.type)},
          {"driver", info.driver_name},
          {"driver_version", info.driver_version},
          {"vulkan", info.api_version},
          {"memory_bytes", info.memory_bytes},
          {"largest_allocation_bytes", info.largest_allocation_bytes},
          {"subgroup_size", info.subgroup_size},
          {"uuid", uuid},
          {"usable", info.missing_features.empty()},
          {"missing_features", info.missing_features}};
}

void print_device(const DeviceInfo& info) {
  fmt::print("{}: {} ({})\n", info.index, info.name, name_of(info.type));
  fmt::print("   driver {} {}, Vulkan {}\n", info.driver_name, info.driver_version, info.api_version);
  fmt::print("   memory {:.1f} GiB, largest allocation {:.1f} GiB, subgroups of {}\n",
             static_cast<double>(info.memory_bytes) / 1073741824.0,
             static_cast<double>(info.largest_allocation_bytes) / 1073741824.0, info.subgroup_size);
  for (const std::string& feature : info.missing_features) fmt::print("   not usable: lacks {}\n", feature);
}

}  // namespace

void add_devices(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("devices", "List the Vulkan devices of this machine");
  command->footer("Example: tessera devices --json");
  const auto options = std::make_shared<RunOptions>();
  options->add_json_option(*command);
  command->callback([options, &exit_code] {
    exit_code = run_reported("devices", options->json, [&] {
      const std::vector<DeviceInfo> devices = enumerate_devices();
      nlohmann::ordered_json document{{"schema", 1}, {"devices", nlohmann::ordered_json::array()}};
      for (const DeviceInfo& info : devices) {
        if (!options->json) print_device(info);
        document["devices"].push_back(device_json(info));
      }
      if (options->json) print_json(document);
      return ExitCode::done;
    });
  });
}

}  // namespace tessera::cli
