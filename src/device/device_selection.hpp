#pragma once

#include <cstdint>
#include <span>

#include <tessera/device/device_info.hpp>

namespace tessera::detail {

/// Position of the device that the selector prefers.
/// Throws `no_device` (the message lists the devices) and `missing_feature` (only unusable devices match).
std::size_t select_device(std::span<const DeviceInfo> devices, const DeviceSelector& selector);

}  // namespace tessera::detail
