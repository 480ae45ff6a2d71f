#include "device/prepared_commands.hpp"

#include <utility>

#include "device/command_recycler.hpp"
#include "device/device_state.hpp"
#include "device/encoder_state.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {

PreparedCommands::PreparedCommands(std::shared_ptr<DeviceState> device, std::vector<VkCommandBuffer> parts)
    : device_(std::move(device)),
      parts_(std::move(parts)),
      commands_(std::make_unique<PrimaryCommands>(device_->vulkan())),
      whole_(commands_->handle()) {
  const DeviceFunctions& functions = device_->functions();
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  device_->check(functions.vkBeginCommandBuffer(whole(), &info), "encode");
  functions.vkCmdExecuteCommands(whole(), static_cast<std::uint32_t>(parts_.size()), parts_.data());
  record_closing_barrier(functions, whole());
  device_->check(functions.vkEndCommandBuffer(whole()), "encode");
}

PreparedCommands::~PreparedCommands() = default;

}  // namespace tessera::detail
