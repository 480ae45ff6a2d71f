#include "device/device_state.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "device/access_monitor.hpp"
#include "device/buffer_state.hpp"
#include "device/command_recycler.hpp"
#include "device/encoder_state.hpp"
#include "device/image_kernels.hpp"
#include "device/kernel_cache.hpp"
#include "device/memory.hpp"
#include "device/result.hpp"
#include "device/semaphore_state.hpp"
#include "device/timeline.hpp"
#include "device/transfer_rings.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

// How long an allocation that does not fit waits for submitted work to let go of memory. Bounded: the work may wait for
// a semaphore that this very thread would signal.
constexpr std::chrono::seconds longest_reclaim{2};

bool out_of_room(ErrorCode code) { return code == ErrorCode::memory_limit || code == ErrorCode::out_of_memory; }

VkSemaphoreSubmitInfo submit_info(const SemaphoreValue& semaphore) {
  VkSemaphoreSubmitInfo info{};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO;
  info.semaphore = semaphore.semaphore.state()->handle;
  info.value = semaphore.value;
  info.stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT;
  return info;
}

void check_semaphores(const DeviceState& device, std::span<const SemaphoreValue> semaphores, std::string_view operand) {
  for (const SemaphoreValue& each : semaphores) {
    if (!each.semaphore) {
      throw Error(
          ErrorCode::missing_operand,
          {.operation = "submit", .operand = std::string(operand), .rule = "the semaphore is empty", .values = {}});
    }
    if (each.semaphore.state()->device.get() == &device) continue;
    throw Error(ErrorCode::foreign_device, {.operation = "submit",
                                            .operand = std::string(operand),
                                            .rule = "the semaphore belongs to another device",
                                            .values = {}});
  }
}

void check_signals(std::span<const SemaphoreValue> semaphores) {
  for (const SemaphoreValue& each : semaphores) {
    const std::uint64_t current = each.semaphore.value();
    if (each.value > current) continue;
    throw Error(ErrorCode::invalid_argument,
                {.operation = "submit",
                 .operand = "signal",
                 .rule = "a timeline semaphore only rises",
                 .values = quantity("current value", current) + ", " + quantity("signalled value", each.value)});
  }
}

}  // namespace

DeviceState::DeviceState(std::unique_ptr<VulkanDevice> vulkan, DeviceOptions options)
    : handles_(vulkan->handles()),
      functions_(vulkan->functions()),
      features_(vulkan->features()),
      info_(vulkan->info()),
      limits_(vulkan->limits()),
      log_(std::move(options.log)),
      vulkan_(std::move(vulkan)),
      memory_(std::make_unique<MemoryAllocator>(*vulkan_, options.memory_limit)),
      accesses_(std::make_unique<AccessMonitor>(*memory_, log_)),
      kernels_(std::make_unique<KernelCache>(*vulkan_)),
      commands_(std::make_unique<CommandRecycler>(*vulkan_)),
      rings_(std::make_unique<TransferRings>(*memory_, options.staging_bytes)),
      timeline_(std::make_unique<Timeline>(*vulkan_)) {
  limits_.host_visible_device_memory = memory_->device_memory_is_mapped();
}

DeviceState::~DeviceState() = default;

VkPipeline DeviceState::compute_pipeline(std::string_view module, std::span<const std::uint32_t> constants,
                                         SubgroupRule subgroups) {
  return kernels_->pipeline(module, constants, subgroups, handles_.pipeline_layout);
}

VkPipeline DeviceState::compute_pipeline(std::string_view module, std::span<const std::uint32_t> constants,
                                         SubgroupRule subgroups, VkPipelineLayout layout) {
  return kernels_->pipeline(module, constants, subgroups, layout);
}

std::shared_ptr<BufferState> DeviceState::allocate(std::uint64_t bytes, const BufferOptions& options) {
  require_alive("allocate");
  if (bytes > limits_.largest_buffer_bytes) {
    throw Error(ErrorCode::limit_exceeded, {.operation = "allocate",
                                            .operand = options.name,
                                            .rule = "the buffer is larger than the device's largest",
                                            .values = quantity("requested bytes", bytes) + ", " +
                                                      quantity("largest", limits_.largest_buffer_bytes)});
  }
  std::shared_ptr<BufferState> buffer;
  allocate_or_reclaim(options.name, [&] { buffer = memory_->allocate(shared_from_this(), bytes, options); });
  if (!options.name.empty() && bytes > MemoryAllocator::largest_slot_bytes) {
    set_name(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<std::uint64_t>(buffer->buffer), options.name);
  }
  return buffer;
}

void DeviceState::allocate_or_reclaim(std::string_view name, const std::function<void()>& attempt) {
  try {
    attempt();
    return;
  } catch (const Error& error) {
    if (!out_of_room(error.code())) throw;
    ErrorDetail detail = error.detail();
    detail.operand = name;
    if (!reclaim()) throw Error(error.code(), detail);
  }
  attempt();
}

const ImageKernelLayout& DeviceState::image_kernels() {
  std::call_once(image_kernels_once_, [this] { image_kernels_ = std::make_unique<ImageKernelLayout>(*vulkan_); });
  return *image_kernels_;
}

bool DeviceState::reclaim() {
  const std::uint64_t before = memory_->statistics().allocated_bytes;
  const auto released = [&] {
    collect();
    memory_->release_empty_slabs();
    return memory_->statistics().allocated_bytes < before;
  };
  if (released()) return true;
  if (!timeline_->keeps_objects()) return false;
  (void)timeline_->wait(submitted(), longest_reclaim);
  return released();
}

std::shared_ptr<BufferState> DeviceState::staging(std::uint64_t bytes) {
  try {
    if (auto piece = rings_->upload().take(shared_from_this(), bytes)) return piece;
  } catch (const Error& error) {
    if (!out_of_room(error.code())) throw;  // the whole ring does not fit; the piece alone may
  }
  return allocate(bytes, {.memory = MemoryKind::upload, .name = "staging"});
}

std::uint64_t DeviceState::submitted() const noexcept { return timeline_->submitted(); }

std::uint64_t DeviceState::completed() const { return timeline_->completed(); }

bool DeviceState::wait(std::uint64_t value, std::chrono::nanoseconds timeout) const {
  require_alive("wait");
  const VkResult result = timeline_->wait(value, timeout);
  if (result == VK_TIMEOUT) return false;
  check(result, "wait");
  collect();
  return true;
}

void DeviceState::defer(std::shared_ptr<const void> object) { defer(std::move(object), submitted()); }

void DeviceState::defer(std::shared_ptr<const void> object, std::uint64_t value) {
  Retained retained;
  retained.push_back(std::move(object));
  timeline_->defer(std::move(retained), value);
}

void DeviceState::collect() const { timeline_->collect(); }

Fence DeviceState::submit(EncoderState& encoder, const SubmitOptions& options) {
  encoder.require_open("submit");
  if (encoder.device().get() != this) {
    throw Error(
        ErrorCode::foreign_device,
        {.operation = "submit", .operand = "encoder", .rule = "the encoder belongs to another device", .values = {}});
  }
  if (encoder.foreign()) {
    throw Error(ErrorCode::execution_order, {.operation = "submit",
                                             .operand = "encoder",
                                             .rule = "an application's command buffer is submitted by the application",
                                             .values = {}});
  }
  check_semaphores(*this, options.wait, "wait");
  check_semaphores(*this, options.signal, "signal");
  check_signals(options.signal);

  const VkCommandBuffer commands = encoder.recorded();
  Retained retained = encoder.finish();
  std::vector<VkSemaphoreSubmitInfo> wait;
  std::vector<VkSemaphoreSubmitInfo> signal;
  for (const SemaphoreValue& each : options.wait) {
    wait.push_back(submit_info(each));
    retained.push_back(each.semaphore.state());
  }
  for (const SemaphoreValue& each : options.signal) {
    signal.push_back(submit_info(each));
    retained.push_back(each.semaphore.state());
  }
  if (commands == VK_NULL_HANDLE && wait.empty() && signal.empty()) {
    if (!retained.empty()) timeline_->defer(std::move(retained), submitted());
    return Fence(shared_from_this(), submitted());
  }
  VkResult result = VK_SUCCESS;
  const std::uint64_t value = timeline_->submit(commands, wait, signal, std::move(retained), result);
  check(result, "submit");
  collect();
  return Fence(shared_from_this(), value);
}

void DeviceState::log(LogLevel level, std::string_view message) const { send(log_, level, message); }

bool DeviceState::lost() const noexcept { return vulkan_->lost.load(std::memory_order_relaxed); }

void DeviceState::require_alive(std::string_view operation) const {
  if (lost()) throw_result(VK_ERROR_DEVICE_LOST, operation);
}

void DeviceState::check(VkResult result, std::string_view operation) const {
  if (result >= 0) return;
  if (result == VK_ERROR_DEVICE_LOST) vulkan_->lost.store(true, std::memory_order_relaxed);
  throw_result(result, operation);
}

void DeviceState::set_name(VkObjectType type, std::uint64_t handle, std::string_view name) const {
  if (functions_.vkSetDebugUtilsObjectNameEXT == nullptr || name.empty()) return;
  const std::string text(name);
  VkDebugUtilsObjectNameInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT;
  info.objectType = type;
  info.objectHandle = handle;
  info.pObjectName = text.c_str();
  (void)functions_.vkSetDebugUtilsObjectNameEXT(handles_.device, &info);  // a missing name harms nothing
}

DispatchSize fold_dispatch(std::uint64_t groups, std::uint32_t largest) {
  if (groups == 0) return {};
  const std::uint64_t x = std::min<std::uint64_t>(groups, largest);
  const std::uint64_t rows = (groups + x - 1) / x;
  const std::uint64_t y = std::min<std::uint64_t>(rows, largest);
  const std::uint64_t z = (rows + y - 1) / y;
  if (z > largest) {
    throw Error(ErrorCode::limit_exceeded, {.operation = "dispatch",
                                            .operand = {},
                                            .rule = "more workgroups than the device can number",
                                            .values = quantity("workgroups", groups)});
  }
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}

}  // namespace tessera::detail
