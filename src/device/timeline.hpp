#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <vulkan/vulkan.h>

#include "device/device_functions.hpp"
#include "device/vulkan.hpp"

namespace tessera::detail {

class VulkanDevice;

using Retained = std::vector<std::shared_ptr<const void>>;

/// The order of submissions, and what lives until they are done. Value n is reached when the n-th submission is done.
/// A background thread drops what nobody waits for any more: kept objects may own the device, so that nothing else
/// could free both after an application has let go of everything while work was running. Thread-safe.
class Timeline {
 public:
  explicit Timeline(VulkanDevice& device);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  /// Waits for everything submitted, then drops everything kept.
  ~Timeline();

  std::uint64_t submitted() const noexcept { return shared_->submitted.load(std::memory_order_acquire); }
  /// Everything counts as done once the device is lost.
  std::uint64_t completed() const { return shared_->completed(); }
  VkResult wait(std::uint64_t value, std::chrono::nanoseconds timeout) const noexcept;
  /// Submits commands (none where null) and keeps `retained` until they are done; returns their value.
  /// Where the driver refuses, `retained` is dropped and `result` says why.
  std::uint64_t submit(VkCommandBuffer commands, std::span<const VkSemaphoreSubmitInfo> wait,
                       std::span<const VkSemaphoreSubmitInfo> signal, Retained retained, VkResult& result);
  void defer(Retained retained, std::uint64_t value);
  /// Drops what is due. The caller must own the device's state, or not use it afterwards.
  void collect() const { shared_->collect(); }
  bool keeps_objects() const;

 private:
  struct Entry {
    std::uint64_t value = 0;
    Retained retained;
  };

  /// What the background thread uses; outlives the timeline where that thread itself destroys the device.
  struct Shared {
    std::uint64_t completed();
    void collect();
    void run(const std::shared_ptr<Shared>& self);

    VkDevice device = VK_NULL_HANDLE;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    PFN_vkGetSemaphoreCounterValue get_value = nullptr;
    const std::atomic<bool>* lost = nullptr;
    std::atomic<std::uint64_t> submitted{0};
    std::atomic<std::uint64_t> known_completed{0};
    std::mutex mutex;
    std::condition_variable wake;
    std::deque<Entry> kept;  // by rising value
    bool sleeping = true;    // the background thread waits for something to do
    bool stop = false;
  };

  void start_thread() noexcept;

  VulkanDevice& device_;
  vk::raii::Semaphore semaphore_{nullptr};
  PFN_vkQueueSubmit2 queue_submit_ = nullptr;
  PFN_vkWaitSemaphores wait_semaphores_ = nullptr;
  std::shared_ptr<Shared> shared_;
  std::once_flag thread_started_;
  std::thread thread_;
};

}  // namespace tessera::detail
