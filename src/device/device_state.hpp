#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <vulkan/vulkan.h>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>
#include <tessera/export.hpp>

#include "device/device_functions.hpp"

namespace tessera::detail {

class AccessMonitor;
class CommandRecycler;
class ImageKernelLayout;
class KernelCache;
class MemoryAllocator;
class Timeline;
class TransferRings;
class VulkanDevice;

/// Optional features that are present and enabled; each use of one has a twin path.
struct DeviceFeatures {
  bool shader_buffer_int64_atomics = false;
  bool storage_buffer_8bit = false;
  bool storage_buffer_16bit = false;
  bool shader_int8 = false;
  bool shader_int16 = false;
  bool shader_float64 = false;
  bool shader_buffer_float32_atomic_add = false;
  bool subgroup_extended_types = false;
  bool full_subgroups = false;  ///< pipelines may require that every subgroup is full
  bool dynamic_rendering = false;
  bool memory_budget = false;
  bool external_memory_descriptor = false;
  bool external_semaphore_descriptor = false;
  bool debug_utils = false;
};

struct DeviceHandles {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;
  VkPipelineLayout pipeline_layout = VK_NULL_HANDLE;
};

/// Whether a pipeline may rely on every subgroup being full. `full` asks for a workgroup size in x that is a multiple
/// of the subgroup size, and is ignored on devices without `DeviceFeatures::full_subgroups`.
enum class SubgroupRule : std::uint8_t { any, full };

/// Bytes of the push constant range that every kernel shares. The first 8 are the address of the argument record.
inline constexpr std::uint32_t push_constant_bytes = 32;

/// One device and what hangs on it. Every member is thread-safe.
struct TESSERA_EXPORT DeviceState : public std::enable_shared_from_this<DeviceState> {
 public:
  explicit DeviceState(std::unique_ptr<VulkanDevice> vulkan, DeviceOptions options);
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState();

  VkDevice device() const noexcept { return handles_.device; }
  const DeviceHandles& handles() const noexcept { return handles_; }
  const DeviceFunctions& functions() const noexcept { return functions_; }
  const DeviceFeatures& features() const noexcept { return features_; }
  const DeviceInfo& info() const noexcept { return info_; }
  const DeviceLimits& limits() const noexcept { return limits_; }
  bool is_cpu() const noexcept { return info_.type == DeviceType::cpu; }

  /// One layout for every kernel: a push constant range of `push_constant_bytes` for the compute stage, no descriptor
  /// set.
  VkPipelineLayout pipeline_layout() const noexcept { return handles_.pipeline_layout; }

  /// The pipeline of an embedded kernel with constants for `constant_id` 0, 1, ... Made once; lives as long as the
  /// device. Throws `unknown_id` (no such module), `out_of_memory`, `driver_failure`.
  VkPipeline compute_pipeline(std::string_view module, std::span<const std::uint32_t> constants,
                              SubgroupRule subgroups = SubgroupRule::any);
  /// The same with another pipeline layout (kernels on images). `layout` must outlive the device's last use of it.
  VkPipeline compute_pipeline(std::string_view module, std::span<const std::uint32_t> constants, SubgroupRule subgroups,
                              VkPipelineLayout layout);

  /// What kernels on images share: the pipeline layout with one descriptor set. Made when first asked for.
  /// Throws `out_of_memory`.
  const ImageKernelLayout& image_kernels();

  /// See `Device::create_image`.
  std::shared_ptr<ImageState> create_image(const ImageDescription& description, std::string_view name);

  /// See `Device::allocate`.
  std::shared_ptr<BufferState> allocate(std::uint64_t bytes, const BufferOptions& options);
  /// A piece of the upload ring, or a buffer of its own where the ring has no room. Mapped; free again when dropped.
  std::shared_ptr<BufferState> staging(std::uint64_t bytes);

  /// Value of the last submission's end on the timeline; 0 before the first.
  std::uint64_t submitted() const noexcept;
  /// Value up to which everything is done.
  std::uint64_t completed() const;
  /// Blocks until `value` is done or the time is over; says whether it is done. Throws `device_lost`.
  bool wait(std::uint64_t value, std::chrono::nanoseconds timeout) const;
  /// Keeps an object until everything submitted so far is done.
  void defer(std::shared_ptr<const void> object);
  /// Keeps an object until `value` is done.
  void defer(std::shared_ptr<const void> object, std::uint64_t value);
  /// Drops deferred objects whose time has come.
  void collect() const;
  Fence submit(EncoderState& encoder, const SubmitOptions& options);

  void log(LogLevel level, std::string_view message) const;
  bool lost() const noexcept;
  /// Throws `device_lost` when the device has stopped working.
  void require_alive(std::string_view operation) const;
  /// Throws the error for a failed result (`device_lost` is remembered); returns on success codes.
  void check(VkResult result, std::string_view operation) const;
  /// Gives a Vulkan object the name that debuggers show; nothing without VK_EXT_debug_utils.
  void set_name(VkObjectType type, std::uint64_t handle, std::string_view name) const;

  // parts, complete inside src/device
  VulkanDevice& vulkan() const noexcept { return *vulkan_; }
  MemoryAllocator& memory() const noexcept { return *memory_; }
  KernelCache& kernels() const noexcept { return *kernels_; }
  AccessMonitor& accesses() const noexcept { return *accesses_; }
  CommandRecycler& commands() const noexcept { return *commands_; }
  Timeline& timeline() const noexcept { return *timeline_; }
  TransferRings& rings() const noexcept { return *rings_; }
  /// Null once the last handle of the device is gone.
  std::shared_ptr<DeviceCompanions> companions() const noexcept { return companions_.lock(); }

 private:
  /// Frees what submitted work and empty slabs hold; says whether the driver got memory back.
  bool reclaim();
  /// Runs an allocation, and once more after reclaiming where it found too little memory.
  void allocate_or_reclaim(std::string_view name, const std::function<void()>& attempt);

  friend Device make_device(std::unique_ptr<VulkanDevice> vulkan, DeviceOptions options);

  DeviceHandles handles_;
  DeviceFunctions functions_;
  DeviceFeatures features_;
  DeviceInfo info_;
  DeviceLimits limits_;
  LogCallback log_;
  std::weak_ptr<DeviceCompanions> companions_;
  // destroyed in reverse order: what waits for the queue first, the device last
  std::unique_ptr<VulkanDevice> vulkan_;
  std::unique_ptr<MemoryAllocator> memory_;
  std::once_flag image_kernels_once_;
  std::unique_ptr<ImageKernelLayout> image_kernels_;
  std::unique_ptr<AccessMonitor> accesses_;
  std::unique_ptr<KernelCache> kernels_;
  std::unique_ptr<CommandRecycler> commands_;
  std::unique_ptr<TransferRings> rings_;
  std::unique_ptr<Timeline> timeline_;
};

struct DispatchSize {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;

  std::uint64_t groups() const noexcept { return std::uint64_t{x} * y * z; }
  friend bool operator==(const DispatchSize&, const DispatchSize&) = default;
};

/// Spreads `groups` workgroups over three dimensions of at most `largest` each. The product may exceed `groups`: a
/// kernel takes `index = x + count.x * (y + count.y * z)` and leaves when it is not below its group count. 0 groups
/// give 0. Throws `limit_exceeded` beyond largest^3.
TESSERA_EXPORT DispatchSize fold_dispatch(std::uint64_t groups, std::uint32_t largest);

}  // namespace tessera::detail
