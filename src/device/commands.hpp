#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <vulkan/vulkan.h>

#include <tessera/export.hpp>

namespace tessera::detail {

struct DeviceState;
struct EncoderState;

/// A long-lived secondary command buffer with a pool of its own: recorded once, executed by many submissions at a time.
/// Hold it by shared pointer; `execute` keeps it alive until the submission is done.
/// Record from one thread at a time; executing is thread-safe once `end` was called.
class TESSERA_EXPORT SecondaryCommands {
 public:
  SecondaryCommands(std::shared_ptr<DeviceState> device, std::string_view name);
  SecondaryCommands(const SecondaryCommands&) = delete;
  SecondaryCommands& operator=(const SecondaryCommands&) = delete;
  ~SecondaryCommands();

  /// Starts recording (SIMULTANEOUS_USE, outside of rendering) and returns the command buffer. Only once per object.
  VkCommandBuffer begin();
  void end();
  VkCommandBuffer handle() const noexcept { return commands_; }

 private:
  std::shared_ptr<DeviceState> device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
};

/// Executes recorded commands inside an encoder and keeps them alive for it.
TESSERA_EXPORT void execute(EncoderState& encoder, std::shared_ptr<const SecondaryCommands> commands);

/// Timestamp queries. Hold it by shared pointer and let the encoder retain it.
/// Thread-safe as far as the calls use different queries.
class TESSERA_EXPORT TimestampPool {
 public:
  /// Throws `missing_feature` where the queue has no timestamps (`DeviceLimits::timestamp_nanoseconds` is 0).
  TimestampPool(std::shared_ptr<DeviceState> device, std::uint32_t count);
  TimestampPool(const TimestampPool&) = delete;
  TimestampPool& operator=(const TimestampPool&) = delete;
  ~TimestampPool();

  std::uint32_t count() const noexcept { return count_; }
  VkQueryPool handle() const noexcept { return pool_; }
  /// Must be recorded before the queries are written.
  void reset(VkCommandBuffer commands, std::uint32_t first, std::uint32_t count) const;
  void write(VkCommandBuffer commands, VkPipelineStageFlags2 stage, std::uint32_t index) const;
  /// Ticks, with bits beyond the queue's valid ones cleared; empty where any of them is not available yet.
  std::vector<std::uint64_t> ticks(std::uint32_t first, std::uint32_t count) const;
  /// From one tick to a later one, wrap-around included.
  double nanoseconds(std::uint64_t begin, std::uint64_t end) const noexcept;

 private:
  std::shared_ptr<DeviceState> device_;
  VkQueryPool pool_ = VK_NULL_HANDLE;
  std::uint32_t count_ = 0;
  std::uint64_t valid_mask_ = 0;
};

}  // namespace tessera::detail
