#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/device/buffer.hpp>
#include <tessera/device/device_info.hpp>
#include <tessera/device/encoder.hpp>
#include <tessera/device/fence.hpp>
#include <tessera/device/image.hpp>
#include <tessera/export.hpp>

namespace tessera {

namespace detail {
class DeviceCompanions;
}

enum class LogLevel : std::uint8_t { debug, information, warning, error };

/// Receives the library's and the validation layer's messages. Called from any thread; must not call the device.
using LogCallback = std::function<void(LogLevel level, std::string_view message)>;

/// The Khronos validation layer, when it is installed (asked for and absent: a warning in the log).
enum class Validation : std::uint8_t { off, core, core_and_synchronization };

struct DeviceOptions {
  LogCallback log{};
  Validation validation = Validation::off;
  std::optional<std::uint64_t> memory_limit{};  ///< bytes this device may hold; beyond them `memory_limit` is thrown
  std::vector<std::byte> pipeline_cache{};  ///< what `Device::pipeline_cache` returned earlier; foreign data is ignored
  std::uint64_t staging_bytes = std::uint64_t{32} << 20;  ///< size of the upload ring and of the download ring
};

/// Limits that the library enforces before it calls Vulkan.
struct DeviceLimits {
  std::uint64_t largest_buffer_bytes = 0;
  std::uint32_t largest_workgroup_count = 0;  ///< per dimension
  std::uint32_t largest_workgroup_size = 0;
  std::uint32_t shared_memory_bytes = 0;
  std::uint32_t subgroup_size = 0;
  double timestamp_nanoseconds = 0;         ///< length of a timestamp tick; 0 where the queue has none
  bool host_visible_device_memory = false;  ///< `MemoryKind::device` buffers are mapped
  bool external_memory_descriptor = false;
  bool external_semaphore_descriptor = false;
  std::uint32_t largest_image_extent = 0;       ///< texels, in width and height
  std::uint32_t largest_attachment_extent = 0;  ///< the same for images with the usage `attachment`
  std::uint32_t color_attachments = 0;          ///< of one render node; 0 where the queue can't render
  std::uint32_t storage_images = 0;             ///< of one kernel
  std::uint32_t sampled_images = 0;             ///< of one kernel
};

struct MemoryStatistics {
  std::uint64_t allocated_bytes = 0;  ///< taken from the driver
  std::uint64_t used_bytes = 0;       ///< of these, in live buffers and images
  std::uint64_t peak_allocated_bytes = 0;
  std::uint64_t buffer_count = 0;
  std::optional<std::uint64_t> limit_bytes;
  std::uint64_t image_count = 0;
};

struct SubmitOptions {
  std::span<const SemaphoreValue> wait{};    ///< before any command of the submission
  std::span<const SemaphoreValue> signal{};  ///< after all of them
};

/// One Vulkan device and its compute queue: a shared handle.
/// Thread-safe: every member may be called from any thread; submissions are ordered by the calls that made them.
class TESSERA_EXPORT Device {
 public:
  /// Throws `no_device` (nothing matches; the message lists what there is), `missing_feature` (names each feature).
  static Device open(const DeviceSelector& selector = {}, DeviceOptions options = {});

  const DeviceInfo& info() const noexcept;
  const DeviceLimits& limits() const noexcept;

  /// Throws `limit_exceeded` (largest buffer), `memory_limit`, `out_of_memory`. A size of 0 gives a buffer of one word.
  Buffer allocate(std::uint64_t bytes, const BufferOptions& options = {});
  /// Submits one command, which takes the image to its resting layout.
  /// Throws `invalid_argument` (an extent of 0, no usage), `limit_exceeded` (largest extent or allocation),
  /// `missing_feature` (an attachment where the queue can't render), `memory_limit`, `out_of_memory`, `device_lost`.
  Image create_image(const ImageDescription& description, std::string_view name = {});
  Semaphore create_semaphore(std::uint64_t initial_value = 0);

  Encoder encoder(std::string_view label = {});
  /// Hands the encoder's commands to the queue. What they use lives until they are done.
  /// Throws `foreign_device`, `device_lost`, `execution_order` (an encoder already submitted).
  Fence submit(Encoder&& encoder, const SubmitOptions& options = {});
  /// Waits for everything submitted.
  void wait_idle();

  /// Copies host bytes into a buffer, in its place among the submissions: earlier ones don't see the bytes, later ones
  /// do. Directly where the memory is mapped and nothing is in flight, through the upload ring otherwise (which may
  /// wait for earlier transfers, not for this one). Returns when the source may be reused. Throws
  /// `range_out_of_bounds`, `foreign_device`, `missing_operand`, `memory_limit`, `out_of_memory`, `device_lost`.
  void write(const Buffer& target, std::uint64_t offset, std::span<const std::byte> bytes);
  /// Waits for everything submitted so far, then copies a buffer's bytes to the host. Throws as `write`.
  void read(const Buffer& source, std::uint64_t offset, std::span<std::byte> bytes);

  /// Copies texels, rows packed, into an image or a region of it, in its place among the submissions, through the
  /// upload ring. Throws `usage_mismatch` (no `copy_target`), `range_out_of_bounds` (the region is empty or leaves the
  /// image), `length_mismatch` (bytes of the region), `foreign_device`, `missing_operand`, `memory_limit`,
  /// `out_of_memory`, `device_lost`.
  void write(const Image& target, std::span<const std::byte> texels, const std::optional<ImageRegion>& region = {});
  /// Waits for everything submitted so far, then copies texels to the host. Needs `copy_source`; throws as `write`.
  void read(const Image& source, std::span<std::byte> texels, const std::optional<ImageRegion>& region = {});

  MemoryStatistics memory() const;
  /// Compiled pipelines, for `DeviceOptions::pipeline_cache` or `merge_pipeline_cache` of a later run.
  std::vector<std::byte> pipeline_cache() const;
  /// Adds what `pipeline_cache` returned earlier, for programs that choose the cache by the device. Foreign or damaged
  /// data adds nothing.
  void merge_pipeline_cache(std::span<const std::byte> cache);
  bool lost() const noexcept;
  void log(LogLevel level, std::string_view message) const;

  friend bool operator==(const Device& left, const Device& right) noexcept { return left.state_ == right.state_; }

  /// For the library's own layers.
  const std::shared_ptr<detail::DeviceState>& state() const noexcept { return state_; }
  const std::shared_ptr<detail::DeviceCompanions>& companions() const noexcept { return companions_; }
  explicit Device(std::shared_ptr<detail::DeviceState> state,
                  std::shared_ptr<detail::DeviceCompanions> companions = {}) noexcept
      : state_(std::move(state)), companions_(std::move(companions)) {}

 private:
  std::shared_ptr<detail::DeviceState> state_;
  std::shared_ptr<detail::DeviceCompanions> companions_;
};

}  // namespace tessera
