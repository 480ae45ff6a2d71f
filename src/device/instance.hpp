#pragma once

#include <memory>
#include <string_view>

#include <tessera/device/device.hpp>

#include "device/vulkan.hpp"

namespace tessera::detail {

/// Vulkan's entry point, from the loader that stays in the process once found. Throws `no_device` where there is none.
vk::raii::Context make_context();

/// Sends a message to the application; what its callback throws is dropped, since drivers call through C.
void send(const LogCallback& callback, LogLevel level, std::string_view message) noexcept;

/// A Vulkan instance of the library's own, with its debug messenger.
class VulkanInstance {
 public:
  /// Without validation and without a log callback no messenger is made.
  VulkanInstance(LogCallback log, Validation validation);

  const vk::raii::Context& context() const noexcept { return context_; }
  const vk::raii::Instance& instance() const noexcept { return instance_; }
  bool debug_utils() const noexcept { return debug_utils_; }
  std::uint32_t api_version() const noexcept { return api_version_; }

 private:
  vk::raii::Instance make_instance(Validation validation);
  bool validation_layer_present() const;

  std::unique_ptr<LogCallback> log_;  // at a fixed address, for the messenger
  vk::raii::Context context_;
  std::uint32_t api_version_ = 0;
  bool debug_utils_ = false;
  vk::raii::Instance instance_;
  vk::raii::DebugUtilsMessengerEXT messenger_{nullptr};
};

}  // namespace tessera::detail
