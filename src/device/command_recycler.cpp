#include "device/command_recycler.hpp"

#include <utility>

#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {

PrimaryCommands::PrimaryCommands(VulkanDevice& device) {
  translated("encoder", [&] {
    device.count_allocation("encoder");
    pool_ = vk::raii::CommandPool(device.device(), vk::CommandPoolCreateInfo(vk::CommandPoolCreateFlagBits::eTransient,
                                                                             device.handles().queue_family));
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = static_cast<VkCommandPool>(*pool_);
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    device.count_allocation("encoder");
    const auto& dispatch = *device.device().getDispatcher();
    const VkResult result = dispatch.vkAllocateCommandBuffers(device.handles().device, &info, &commands_);
    if (result != VK_SUCCESS) throw_result(result, "encoder");
  });
}

std::shared_ptr<PrimaryCommands> CommandRecycler::take(std::shared_ptr<DeviceState> device) {
  std::unique_ptr<PrimaryCommands> commands;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      commands = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (commands) {
    translated("encoder", [&] { commands->reset(); });
  } else {
    commands = std::make_unique<PrimaryCommands>(device_);
  }
  const auto hand_back = [this, device = std::move(device)](PrimaryCommands* used) {
    give_back(std::unique_ptr<PrimaryCommands>(used));
  };
  return std::shared_ptr<PrimaryCommands>(commands.release(), hand_back);
}

void CommandRecycler::give_back(std::unique_ptr<PrimaryCommands> commands) noexcept {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle) idle_.push_back(std::move(commands));  // never beyond what was reserved
}

}  // namespace tessera::detail
