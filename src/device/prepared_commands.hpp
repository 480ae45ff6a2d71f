#pragma once

#include <memory>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

#include <tessera/export.hpp>

namespace tessera::detail {

class PrimaryCommands;
struct DeviceState;

/// Secondary command buffers, and a primary one with nothing but them, recorded once for any number of submissions at
/// the same time. Thread-safe once made.
class TESSERA_EXPORT PreparedCommands {
 public:
  /// The secondary command buffers outlive this object.
  PreparedCommands(std::shared_ptr<DeviceState> device, std::vector<VkCommandBuffer> parts);
  PreparedCommands(const PreparedCommands&) = delete;
  PreparedCommands& operator=(const PreparedCommands&) = delete;
  ~PreparedCommands();

  /// The primary command buffer; it ends as every submission does.
  VkCommandBuffer whole() const noexcept { return whole_; }
  std::span<const VkCommandBuffer> parts() const noexcept { return parts_; }

 private:
  std::shared_ptr<DeviceState> device_;  // first: the command pool goes before it
  std::vector<VkCommandBuffer> parts_;
  std::unique_ptr<PrimaryCommands> commands_;
  VkCommandBuffer whole_;
};

}  // namespace tessera::detail
