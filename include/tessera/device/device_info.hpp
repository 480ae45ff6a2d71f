#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/export.hpp>

namespace tessera {

enum class DeviceType : std::uint8_t { discrete, integrated, virtual_gpu, cpu, other };

TESSERA_EXPORT std::string_view name_of(DeviceType type) noexcept;

/// What a Vulkan device is and whether Tessera can run on it. Plain data; thread-safe to copy and read.
struct DeviceInfo {
  std::uint32_t index = 0;  ///< position in the loader's enumeration
  std::string name;
  DeviceType type = DeviceType::other;
  std::string driver_name;
  std::string driver_version;
  std::string api_version;  ///< `major.minor.patch`
  std::array<std::uint8_t, 16> uuid{};
  std::uint64_t memory_bytes = 0;  ///< largest device-local heap; available host memory on a CPU-type device
  std::uint64_t largest_allocation_bytes = 0;  ///< largest single buffer
  std::uint32_t subgroup_size = 0;
  std::uint32_t compute_units = 0;  ///< multiprocessors, compute units or shader cores; 0 where the driver doesn't say
  std::vector<std::string> missing_features;  ///< required features that the device lacks; empty when usable
};

/// Every Vulkan device on this machine, usable or not, in the loader's order.
/// Throws `no_device` when there is no Vulkan loader or driver. Creates and destroys a Vulkan instance.
TESSERA_EXPORT std::vector<DeviceInfo> enumerate_devices();

/// Which device to open. Empty fields do not restrict; among what remains, usable devices are preferred in the order
/// discrete, integrated, virtual, CPU, then by index.
struct TESSERA_EXPORT DeviceSelector {
  std::optional<std::uint32_t> index{};
  std::string name{};  ///< part of the device's name, letter case ignored
  std::optional<DeviceType> type{};

  /// Reads a selector as people write it: an index (`0`), a type (`discrete`, `integrated`, `virtual`, `cpu`) or part
  /// of a name.
  static DeviceSelector parse(std::string_view text);
  /// What the environment variable `TESSERA_DEVICE` says, or no restriction. Only programs call this; the library never
  /// does.
  static DeviceSelector from_environment();
};

}  // namespace tessera
