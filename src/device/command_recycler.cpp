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

std::shared_ptr<PrimaryCommands> CommandRecycler::take() {
  std::unique_ptr<PrimaryCommands> commands;
  {
    const std::lock_guard lock(idle_->mutex);
    if (!idle_->commands.empty()) {
      commands = std::move(idle_->commands.back());
      idle_->commands.pop_back();
    }
  }
  if (commands) {
    translated("encoder", [&] { commands->reset(); });
  } else {
    commands = std::make_unique<PrimaryCommands>(device_);
  }
  const auto hand_back = [idle = idle_](PrimaryCommands* used) {
    std::unique_ptr<PrimaryCommands> owned(used);
    const std::lock_guard lock(idle->mutex);
    if (idle->commands.size() < most_idle) idle->commands.push_back(std::move(owned));
  };
  {
    const std::lock_guard lock(idle_->mutex);
    idle_->commands.reserve(most_idle);  // so that handing back never allocates
  }
  return std::shared_ptr<PrimaryCommands>(commands.release(), hand_back);
}

}  // namespace tessera::detail
