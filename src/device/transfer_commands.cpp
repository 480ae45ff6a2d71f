// Copies and fills of an encoder: by the driver, or by kernels where those are faster.

#include <array>
#include <string>

#include <tessera/error.hpp>

#include "device/encoder_state.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

// On an H200, vkCmdCopyBuffer moved 0.85 TB/s and a kernel 4.1; below this size a dispatch gains nothing.
constexpr std::uint64_t smallest_kernel_transfer = std::uint64_t{1} << 20;
constexpr std::uint64_t units_per_group = 256;  // as in copy.comp and fill.comp

/// A byte range split for a kernel: units of 16 bytes in the middle with words around it, or words alone.
struct UnitRange {
  std::uint32_t unit_bytes = 4;
  std::uint64_t head_bytes = 0;
  std::uint64_t units = 0;
  std::uint64_t tail_bytes = 0;
};

UnitRange wide_units(std::uint64_t address, std::uint64_t bytes) {
  UnitRange range;
  range.unit_bytes = 16;
  range.head_bytes = (16 - address % 16) % 16;
  range.units = (bytes - range.head_bytes) / 16;
  range.tail_bytes = (bytes - range.head_bytes) % 16;
  return range;
}

UnitRange word_units(std::uint64_t bytes) {
  UnitRange range;
  range.units = bytes / 4;
  return range;
}

bool by_kernel(const DeviceState& device, std::uint64_t bytes, bool in_device_memory, bool in_words) {
  if (!in_words || bytes < 64) return false;  // a wide kernel needs room for its head
  switch (device.vulkan().copy_path.load(std::memory_order_relaxed)) {
    case CopyPath::driver:
      return false;
    case CopyPath::kernel:
      return true;
    case CopyPath::automatic:
      break;
  }
  return !device.is_cpu() && in_device_memory && bytes >= smallest_kernel_transfer;
}

template <typename Arguments>
void dispatch(DeviceState& device, VkCommandBuffer commands, const char* kernel, const UnitRange& range,
              const Arguments& arguments) {
  static_assert(sizeof(Arguments) <= push_constant_bytes);
  const std::array constants = {range.unit_bytes};
  const VkPipeline pipeline = device.compute_pipeline(kernel, constants);
  const DispatchSize size =
      fold_dispatch((range.units + units_per_group - 1) / units_per_group, device.limits().largest_workgroup_count);
  const DeviceFunctions& functions = device.functions();
  functions.vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
  functions.vkCmdPushConstants(commands, device.pipeline_layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof arguments,
                               &arguments);
  functions.vkCmdDispatch(commands, size.x, size.y, size.z);
}

struct CopyArguments {
  std::uint64_t source;
  std::uint64_t target;
  std::uint64_t units;
};

struct FillArguments {
  std::uint64_t target;
  std::uint64_t units;
  std::uint32_t word;
  std::uint32_t unused = 0;
};

}  // namespace

void EncoderState::copy(const std::shared_ptr<BufferState>& source, std::uint64_t source_offset,
                        const std::shared_ptr<BufferState>& target, std::uint64_t target_offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  const VkCommandBuffer recording = commands();
  retain(source);
  retain(target);
  touch(*source, source_offset, bytes, RangeAccess::read);
  touch(*target, target_offset, bytes, RangeAccess::write);
  const auto copy_by_driver = [&](std::uint64_t begin, std::uint64_t count) {
    if (count == 0) return;
    const VkBufferCopy region{source->offset + source_offset + begin, target->offset + target_offset + begin, count};
    device_->functions().vkCmdCopyBuffer(recording, source->buffer, target->buffer, 1, &region);
  };
  const bool device_memory = source->memory == MemoryKind::device && target->memory == MemoryKind::device;
  const bool words = (source_offset | target_offset | bytes) % 4 == 0;
  if (!by_kernel(*device_, bytes, device_memory, words)) {
    copy_by_driver(0, bytes);
    return;
  }
  const std::uint64_t from = source->address + source_offset;
  const std::uint64_t to = target->address + target_offset;
  const UnitRange range = from % 16 == to % 16 ? wide_units(from, bytes) : word_units(bytes);
  dispatch(*device_, recording, "copy", range,
           CopyArguments{from + range.head_bytes, to + range.head_bytes, range.units});
  copy_by_driver(0, range.head_bytes);
  copy_by_driver(bytes - range.tail_bytes, range.tail_bytes);
}

void EncoderState::fill(const std::shared_ptr<BufferState>& target, std::uint64_t offset, std::uint64_t bytes,
                        std::uint32_t word) {
  if (bytes == 0) return;
  const VkCommandBuffer recording = commands();
  retain(target);
  touch(*target, offset, bytes, RangeAccess::write);
  const auto fill_by_driver = [&](std::uint64_t begin, std::uint64_t count) {
    if (count == 0) return;
    device_->functions().vkCmdFillBuffer(recording, target->buffer, target->offset + offset + begin, count, word);
  };
  if (!by_kernel(*device_, bytes, target->memory == MemoryKind::device, true)) {
    fill_by_driver(0, bytes);
    return;
  }
  const std::uint64_t address = target->address + offset;
  const UnitRange range = wide_units(address, bytes);
  dispatch(*device_, recording, "fill", range, FillArguments{address + range.head_bytes, range.units, word});
  fill_by_driver(0, range.head_bytes);
  fill_by_driver(bytes - range.tail_bytes, range.tail_bytes);
}

}  // namespace tessera::detail
