#pragma once

#include <string>
#include <string_view>

#include <tessera/error.hpp>

#include "device/vulkan.hpp"

namespace tessera::detail {

/// What a failed Vulkan call means to the library's users. Throws; success codes are a fault of the caller.
[[noreturn]] void throw_result(VkResult result, std::string_view operation);

/// A message's figure: bytes with thousands grouped, and its name.
std::string quantity(std::string_view name, std::uint64_t value);

/// Runs `call` and turns Vulkan-Hpp's exceptions into ours.
template <typename Call>
auto translated(std::string_view operation, const Call& call) {
  try {
    return call();
  } catch (const vk::SystemError& error) {
    throw_result(static_cast<VkResult>(error.code().value()), operation);
  }
}

}  // namespace tessera::detail
