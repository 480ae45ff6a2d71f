#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

#include <tessera/device/buffer.hpp>
#include <tessera/device/encoder.hpp>
#include <tessera/export.hpp>

#include "device/buffer_state.hpp"
#include "device/device_state.hpp"
#include "device/prepared_commands.hpp"

namespace tessera::detail {

class PrimaryCommands;

enum class RangeAccess : std::uint8_t { read, write };

/// Device address ranges touched since the last full barrier of an encoder.
class AddressHazards {
 public:
  /// Whether touching the range needs a barrier first: any overlap unless both only read.
  bool conflicts(std::uint64_t begin, std::uint64_t end, RangeAccess access) const noexcept;
  void add(std::uint64_t begin, std::uint64_t end, RangeAccess access);
  void clear() noexcept;
  bool empty() const noexcept { return reads_.empty() && writes_.empty(); }
  /// Long lists cost more to search than a barrier costs to run.
  bool full() const noexcept { return reads_.size() + writes_.size() >= 64; }

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Range> reads_;
  std::vector<Range> writes_;
};

/// What every submission ends with: all writes become visible to the host and to later submissions.
void record_closing_barrier(const DeviceFunctions& functions, VkCommandBuffer commands);

/// The recording behind an `Encoder`. Not thread-safe.
///
/// Order. Every submission ends with a full barrier (all commands and the host), so what an earlier submission wrote is
/// visible without a barrier. Within an encoder, copies and fills put barriers between conflicting ranges. A layer that
/// records commands of its own calls `begin_external_work` before them (a full barrier, unless nothing needs one) and
/// `mark_external_work` after them; whatever comes next then waits for them.
struct TESSERA_EXPORT EncoderState {
 public:
  /// Records into a command buffer of the library's own, taken when the first command comes.
  explicit EncoderState(std::shared_ptr<DeviceState> device, std::string_view label = {});
  /// Records into a foreign command buffer in the recording state, outside of rendering.
  EncoderState(std::shared_ptr<DeviceState> device, VkCommandBuffer foreign);
  EncoderState(const EncoderState&) = delete;
  EncoderState& operator=(const EncoderState&) = delete;
  ~EncoderState();

  const std::shared_ptr<DeviceState>& device() const noexcept { return device_; }
  /// The primary command buffer (begun when first asked for).
  VkCommandBuffer commands();
  bool foreign() const noexcept { return foreign_; }
  /// Whether `adopt` may be called: nothing was recorded so far, and nothing stands around what will be.
  bool takes_prepared() const noexcept { return commands_ == VK_NULL_HANDLE && !prepared_ && label_.empty(); }
  /// Submits these commands as they are; if others follow, they are recorded again in front of those.
  void adopt(std::shared_ptr<const PreparedCommands> prepared);
  /// What is to be submitted; null when nothing was recorded.
  VkCommandBuffer recorded() const noexcept { return prepared_ ? prepared_->whole() : commands_; }
  /// Throws `execution_order` once submitted or finished, `device_lost`.
  void require_open(std::string_view operation) const;

  /// Keeps an object until the submission is done.
  void retain(std::shared_ptr<const void> object) { retained_.push_back(std::move(object)); }

  /// A global memory barrier at this point.
  void barrier(VkPipelineStageFlags2 source_stages, VkAccessFlags2 source_access, VkPipelineStageFlags2 target_stages,
               VkAccessFlags2 target_access);
  /// Orders everything recorded so far before everything that follows; nothing when there is nothing to order.
  void begin_external_work();
  /// Says that commands were recorded whose accesses are not known here.
  void mark_external_work() noexcept { external_work_ = true; }
  /// Puts a barrier where the ranges conflict with earlier commands, and notes them.
  void touch(const BufferState& buffer, std::uint64_t offset, std::uint64_t bytes, RangeAccess access);

  /// Host-visible, host-coherent memory to be filled now and read by commands recorded later; kept until they are done.
  /// A multiple of 256 in address. Throws as `Device::allocate`.
  Buffer staging(std::uint64_t bytes);

  void copy(const std::shared_ptr<BufferState>& source, std::uint64_t source_offset,
            const std::shared_ptr<BufferState>& target, std::uint64_t target_offset, std::uint64_t bytes);
  void fill(const std::shared_ptr<BufferState>& target, std::uint64_t offset, std::uint64_t bytes, std::uint32_t word);
  void begin_label(std::string_view label);
  void end_label();

  /// Ends the recording: closes labels, makes every write visible to the host and to later submissions.
  /// Returns what must live until the commands are done; afterwards the encoder is closed.
  std::vector<std::shared_ptr<const void>> finish();

 private:
  void full_barrier();

  std::shared_ptr<DeviceState> device_;
  std::shared_ptr<PrimaryCommands> primary_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::shared_ptr<const PreparedCommands> prepared_;
  std::vector<std::shared_ptr<const void>> retained_;
  AddressHazards hazards_;
  std::string label_;
  std::uint32_t open_labels_ = 0;
  bool foreign_ = false;
  bool external_work_ = false;
  bool closed_ = false;
};

}  // namespace tessera::detail
