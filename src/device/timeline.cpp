#include "device/timeline.hpp"

#include <csignal>

#include <algorithm>
#include <array>
#include <limits>
#include <system_error>
#include <utility>

#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

constexpr std::chrono::milliseconds background_interval{50};

}  // namespace

Timeline::Timeline(VulkanDevice& device) : device_(device), shared_(std::make_shared<Shared>()) {
  translated("device timeline", [&] {
    const vk::SemaphoreTypeCreateInfo type(vk::SemaphoreType::eTimeline, 0);
    semaphore_ = vk::raii::Semaphore(device.device(), vk::SemaphoreCreateInfo({}, &type));
  });
  const auto& dispatch = *device.device().getDispatcher();
  queue_submit_ = dispatch.vkQueueSubmit2;
  wait_semaphores_ = dispatch.vkWaitSemaphores;
  shared_->device = device.handles().device;
  shared_->semaphore = static_cast<VkSemaphore>(*semaphore_);
  shared_->get_value = dispatch.vkGetSemaphoreCounterValue;
  shared_->lost = &device.lost;
}

Timeline::~Timeline() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
  }
  shared_->wake.notify_all();
  if (thread_.joinable()) {
    if (thread_.get_id() == std::this_thread::get_id()) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }
  (void)wait(submitted(), std::chrono::nanoseconds::max());  // also after a loss: the driver then answers at once
  std::deque<Entry> kept;
  {
    const std::lock_guard lock(shared_->mutex);
    kept.swap(shared_->kept);
  }
}

std::uint64_t Timeline::Shared::completed() {
  if (lost->load(std::memory_order_relaxed)) return std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t last = submitted.load(std::memory_order_acquire);
  std::uint64_t known = known_completed.load(std::memory_order_acquire);
  if (known >= last) return known;
  std::uint64_t value = 0;
  if (get_value(device, semaphore, &value) != VK_SUCCESS) return known;
  while (known < value && !known_completed.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
  return std::max(known, value);
}

void Timeline::Shared::collect() {
  std::deque<Entry> due;  // dropped after the lock: destructors may come back here
  {
    const std::lock_guard lock(mutex);
    if (kept.empty()) return;
    const std::uint64_t done = completed();
    while (!kept.empty() && kept.front().value <= done) {
      due.push_back(std::move(kept.front()));
      kept.pop_front();
    }
  }
}

void Timeline::Shared::run(const std::shared_ptr<Shared>& self) {
  std::unique_lock lock(self->mutex);
  self->sleeping = false;
  while (!self->stop) {
    if (self->kept.empty()) {
      self->sleeping = true;
      self->wake.wait(lock, [&] { return self->stop || !self->kept.empty(); });
      self->sleeping = false;
    }
    self->wake.wait_for(lock, background_interval, [&] { return self->stop; });
    if (self->stop) return;
    lock.unlock();
    self->collect();  // may destroy the device and its timeline; `self` stays
    lock.lock();
  }
}

VkResult Timeline::wait(std::uint64_t value, std::chrono::nanoseconds timeout) const noexcept {
  if (value <= shared_->known_completed.load(std::memory_order_acquire)) return VK_SUCCESS;
  VkSemaphoreWaitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &shared_->semaphore;
  info.pValues = &value;
  const std::uint64_t limit = timeout == std::chrono::nanoseconds::max()
                                  ? std::numeric_limits<std::uint64_t>::max()
                                  : static_cast<std::uint64_t>(std::max<std::int64_t>(timeout.count(), 0));
  const VkResult result = wait_semaphores_(shared_->device, &info, limit);
  if (result == VK_SUCCESS) (void)shared_->completed();
  return result;
}

std::uint64_t Timeline::submit(VkCommandBuffer commands, std::span<const VkSemaphoreSubmitInfo> wait,
                               std::span<const VkSemaphoreSubmitInfo> signal, Retained retained, VkResult& result) {
  std::vector<VkSemaphoreSubmitInfo> signals(signal.begin(), signal.end());
  VkSemaphoreSubmitInfo own{};
  own.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  own.semaphore = shared_->semaphore;
  own.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  signals.push_back(own);
  VkCommandBufferSubmitInfo command_info{};
  command_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO;
  command_info.commandBuffer = commands;
  VkSubmitInfo2 info{};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2;
  info.waitSemaphoreInfoCount = static_cast<std::uint32_t>(wait.size());
  info.pWaitSemaphoreInfos = wait.data();
  info.commandBufferInfoCount = commands != VK_NULL_HANDLE ? 1 : 0;
  info.pCommandBufferInfos = &command_info;
  info.signalSemaphoreInfoCount = static_cast<std::uint32_t>(signals.size());
  info.pSignalSemaphoreInfos = signals.data();

  Retained refused;  // dropped after the queue is free again
  bool wake = false;
  std::uint64_t value = 0;
  {
    const std::lock_guard queue_lock(device_);
    value = submitted() + 1;
    signals.back().value = value;
    {  // kept before the driver has the commands: nothing can fail afterwards
      const std::lock_guard lock(shared_->mutex);
      shared_->kept.push_back({value, std::move(retained)});
    }
    result = queue_submit_(device_.handles().queue, 1, &info, VK_NULL_HANDLE);
    const std::lock_guard lock(shared_->mutex);
    if (result == VK_SUCCESS) {
      shared_->submitted.store(value, std::memory_order_release);
      wake = shared_->sleeping;
    } else {
      const auto entry = std::find_if(shared_->kept.begin(), shared_->kept.end(),
                                      [value](const Entry& each) { return each.value == value; });
      if (entry != shared_->kept.end()) {
        refused = std::move(entry->retained);
        shared_->kept.erase(entry);
      }
    }
  }
  if (wake) {
    start_thread();
    shared_->wake.notify_one();
  }
  return value;
}

void Timeline::defer(Retained retained, std::uint64_t value) {
  const std::lock_guard lock(shared_->mutex);
  const auto position = std::upper_bound(shared_->kept.begin(), shared_->kept.end(), value,
                                         [](std::uint64_t left, const Entry& right) { return left < right.value; });
  shared_->kept.insert(position, {value, std::move(retained)});
}

bool Timeline::keeps_objects() const {
  const std::lock_guard lock(shared_->mutex);
  return !shared_->kept.empty();
}

void Timeline::start_thread() noexcept {
  std::call_once(thread_started_, [this] {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals stay the application's
    try {
      thread_ = std::thread([shared = shared_] { shared->run(shared); });
    } catch (const std::system_error&) {
      // without the thread, kept objects go with the next submission or wait
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
}

}  // namespace tessera::detail
