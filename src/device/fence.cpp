#include <tessera/device/fence.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>

#include "device/result.hpp"
#include "device/semaphore_state.hpp"
#include "device/vulkan_device.hpp"

namespace tessera {

void Fence::wait() const {
  if (device_) device_->wait(value_, std::chrono::nanoseconds::max());
}

bool Fence::wait_for(std::chrono::nanoseconds timeout) const { return !device_ || device_->wait(value_, timeout); }

bool Fence::done() const {
  if (!device_) return true;
  device_->require_alive("fence");
  return device_->completed() >= value_;
}

namespace {

const Semaphore::State& state_of(const Semaphore& semaphore) {
  if (!semaphore) {
    throw Error(ErrorCode::missing_operand,
                {.operation = "semaphore", .operand = {}, .rule = "the semaphore is empty", .values = {}});
  }
  semaphore.state()->device->require_alive("semaphore");
  return *semaphore.state();
}

}  // namespace

std::uint64_t Semaphore::value() const {
  const State& state = state_of(*this);
  std::uint64_t value = 0;
  state.device->check(
      state.device->functions().vkGetSemaphoreCounterValue(state.device->device(), state.handle, &value), "semaphore");
  return value;
}

void Semaphore::signal_from_host(std::uint64_t value) const {
  const State& state = state_of(*this);
  const std::uint64_t current = this->value();
  if (value <= current) {
    throw Error(ErrorCode::invalid_argument, {.operation = "semaphore",
                                              .operand = "value",
                                              .rule = "a timeline semaphore only rises",
                                              .values = detail::quantity("current value", current) + ", " +
                                                        detail::quantity("signalled value", value)});
  }
  VkSemaphoreSignalInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO;
  info.semaphore = state.handle;
  info.value = value;
  state.device->check(state.device->functions().vkSignalSemaphore(state.device->device(), &info), "semaphore");
}

bool Semaphore::wait_from_host(std::uint64_t value, std::chrono::nanoseconds timeout) const {
  const State& state = state_of(*this);
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &state.handle;
  info.pValues = &value;
  const std::uint64_t limit = timeout == std::chrono::nanoseconds::max()
                                  ? std::numeric_limits<std::uint64_t>::max()
                                  : static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0));
  const VkResult result = state.device->functions().vkWaitSemaphores(state.device->device(), &info, limit);
  state.device->check(result, "semaphore");
  return result != VK_TIMEOUT;
}

Semaphore Device::create_semaphore(std::uint64_t initial_value) {
  return Semaphore(detail::make_semaphore(state_, initial_value, detail::SemaphoreSharing::none));
}

namespace detail {

std::shared_ptr<Semaphore::State> make_semaphore(std::shared_ptr<DeviceState> device, std::uint64_t initial_value,
                                                 SemaphoreSharing sharing) {
  device->require_alive("semaphore");
  VulkanDevice& vulkan = device->vulkan();
  auto state = std::make_shared<Semaphore::State>();
  translated("semaphore", [&] {
    vk::StructureChain info(vk::SemaphoreCreateInfo(),
                            vk::SemaphoreTypeCreateInfo(vk::SemaphoreType::eTimeline, initial_value),
                            vk::ExportSemaphoreCreateInfo(vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd));
    if (sharing == SemaphoreSharing::none) info.unlink<vk::ExportSemaphoreCreateInfo>();
    vulkan.count_allocation("semaphore");
    auto semaphore = std::make_shared<vk::raii::Semaphore>(vulkan.device(), info.get<vk::SemaphoreCreateInfo>());
    state->handle = static_cast<VkSemaphore>(**semaphore);
    state->owner = std::move(semaphore);
  });
  state->exportable = sharing == SemaphoreSharing::exported;
  state->device = std::move(device);
  return state;
}

}  // namespace detail
}  // namespace tessera
