#include "device/commands.hpp"

#include <limits>
#include <utility>

#include <tessera/error.hpp>

#include "device/device_state.hpp"
#include "device/encoder_state.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {

SecondaryCommands::SecondaryCommands(std::shared_ptr<DeviceState> device, std::string_view name)
    : device_(std::move(device)) {
  device_->require_alive("command graph");
  VulkanDevice& vulkan = device_->vulkan();
  translated("command graph", [&] {
    vulkan.count_allocation("command graph");
    vk::raii::CommandPool pool(vulkan.device(), vk::CommandPoolCreateInfo({}, vulkan.handles().queue_family));
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = static_cast<VkCommandPool>(*pool);
    info.level = VK_COMMAND_BUFFER_LEVEL_SECONDARY;
    info.commandBufferCount = 1;
    vulkan.count_allocation("command graph");
    device_->check(vulkan.device().getDispatcher()->vkAllocateCommandBuffers(device_->device(), &info, &commands_),
                   "command graph");
    pool_ = static_cast<VkCommandPool>(pool.release());
  });
  device_->set_name(VK_OBJECT_TYPE_COMMAND_BUFFER, reinterpret_cast<std::uint64_t>(commands_), name);
}

SecondaryCommands::~SecondaryCommands() {
  device_->vulkan().device().getDispatcher()->vkDestroyCommandPool(device_->device(), pool_, nullptr);
}

VkCommandBuffer SecondaryCommands::begin() {
  VkCommandBufferInheritanceInfo inheritance{};
  inheritance.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  info.pInheritanceInfo = &inheritance;
  device_->check(device_->functions().vkBeginCommandBuffer(commands_, &info), "command graph");
  return commands_;
}

void SecondaryCommands::end() { device_->check(device_->functions().vkEndCommandBuffer(commands_), "command graph"); }

void execute(EncoderState& encoder, std::shared_ptr<const SecondaryCommands> commands) {
  const VkCommandBuffer secondary = commands->handle();
  const VkCommandBuffer primary = encoder.commands();
  encoder.retain(std::move(commands));
  encoder.device()->functions().vkCmdExecuteCommands(primary, 1, &secondary);
}

TimestampPool::TimestampPool(std::shared_ptr<DeviceState> device, std::uint32_t count)
    : device_(std::move(device)), count_(count) {
  VulkanDevice& vulkan = device_->vulkan();
  const std::uint32_t bits = vulkan.timestamp_bits();
  if (bits == 0) {
    throw Error(
        ErrorCode::missing_feature,
        {.operation = "timings", .operand = device_->info().name, .rule = "the queue has no timestamps", .values = {}});
  }
  valid_mask_ = bits >= 64 ? std::numeric_limits<std::uint64_t>::max() : (std::uint64_t{1} << bits) - 1;
  translated("timings", [&] {
    vulkan.count_allocation("timings");
    vk::raii::QueryPool pool(vulkan.device(), vk::QueryPoolCreateInfo({}, vk::QueryType::eTimestamp, count));
    pool_ = static_cast<VkQueryPool>(pool.release());
  });
}

TimestampPool::~TimestampPool() {
  device_->vulkan().device().getDispatcher()->vkDestroyQueryPool(device_->device(), pool_, nullptr);
}

void TimestampPool::reset(VkCommandBuffer commands, std::uint32_t first, std::uint32_t count) const {
  device_->functions().vkCmdResetQueryPool(commands, pool_, first, count);
}

void TimestampPool::write(VkCommandBuffer commands, VkPipelineStageFlags2 stage, std::uint32_t index) const {
  device_->functions().vkCmdWriteTimestamp2(commands, stage, pool_, index);
}

std::vector<std::uint64_t> TimestampPool::ticks(std::uint32_t first, std::uint32_t count) const {
  std::vector<std::uint64_t> values(count);
  if (count == 0) return values;
  const VkResult result = device_->vulkan().device().getDispatcher()->vkGetQueryPoolResults(
      device_->device(), pool_, first, count, values.size() * sizeof(std::uint64_t), values.data(),
      sizeof(std::uint64_t), VK_QUERY_RESULT_64_BIT);
  if (result == VK_NOT_READY) return {};
  device_->check(result, "timings");
  for (std::uint64_t& value : values) value &= valid_mask_;
  return values;
}

double TimestampPool::nanoseconds(std::uint64_t begin, std::uint64_t end) const noexcept {
  return static_cast<double>((end - begin) & valid_mask_) * device_->limits().timestamp_nanoseconds;
}

}  // namespace tessera::detail
