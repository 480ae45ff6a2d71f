#include "device/result.hpp"

namespace tessera::detail {

void throw_result(VkResult result, std::string_view operation) {
  const auto raise = [&](ErrorCode code, std::string_view rule) {
    throw Error(code, {.operation = std::string(operation),
                       .operand = {},
                       .rule = std::string(rule),
                       .values = vk::to_string(static_cast<vk::Result>(result))});
  };
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      raise(ErrorCode::out_of_memory, "the driver has no host memory left");
      break;
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
      raise(ErrorCode::out_of_memory, "the device has no memory left");
      break;
    case VK_ERROR_TOO_MANY_OBJECTS:
      raise(ErrorCode::out_of_memory, "the driver allows no further allocation");
      break;
    case VK_ERROR_DEVICE_LOST:
      raise(ErrorCode::device_lost, "the device stopped working");
      break;
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      raise(ErrorCode::no_device, "no Vulkan driver is installed");
      break;
    case VK_ERROR_INVALID_EXTERNAL_HANDLE:
      raise(ErrorCode::invalid_argument, "the descriptor is not one that this device can import");
      break;
    default:
      raise(ErrorCode::driver_failure, "the driver reported a failure");
      break;
  }
  throw Error(ErrorCode::internal, {std::string(operation), {}, "unreachable", {}});
}

std::string quantity(std::string_view name, std::uint64_t value) {
  return std::string(name) + " " + std::to_string(value);
}

}  // namespace tessera::detail
