#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <tessera/device/device.hpp>

#include "device/buffer_state.hpp"
#include "device/vulkan.hpp"

namespace tessera::detail {

class VulkanDevice;

/// Kinds of memory by how they are used. On a discrete device small `device` buffers (arguments, tables, counters) take
/// memory that the host can write as well, where that is the same heap; large ones take the device's plain memory,
/// whose type drivers may compress. Elsewhere all device memory is the host's.
enum class MemoryPool : std::uint8_t { device_large, device_small, upload, download };
inline constexpr std::size_t memory_pool_count = 4;

enum class BlockSharing : std::uint8_t { none, exported, imported };

struct BlockRequest {
  MemoryPool pool = MemoryPool::device_large;
  std::uint64_t bytes = 0;
  BlockSharing sharing = BlockSharing::none;
  int descriptor = -1;                 ///< imported: taken over on success
  std::uint64_t allocation_bytes = 0;  ///< imported: what the exporter allocated
};

/// One driver allocation and the buffer that covers it.
struct MemoryBlock {
  vk::raii::DeviceMemory memory{nullptr};
  vk::raii::Buffer buffer{nullptr};  // goes before its memory
  std::uint64_t allocation_bytes = 0;
  std::uint64_t address = 0;
  std::byte* mapped = nullptr;
  std::uint32_t heap = 0;
  bool host_cached = false;
  bool counted = false;  ///< against the memory limit: not what others allocated
};

/// One driver allocation for one image.
struct ImageBlock {
  vk::raii::DeviceMemory memory{nullptr};
  std::uint64_t bytes = 0;
  std::uint32_t heap = 0;
};

struct Slab;

/// Memory of one device: blocks from the driver, and slabs of equal slots that small buffers share.
/// Thread-safe.
class MemoryAllocator {
 public:
  /// Buffers of up to this many bytes share blocks.
  static constexpr std::uint64_t largest_slot_bytes = std::uint64_t{64} << 10;

  MemoryAllocator(VulkanDevice& device, std::optional<std::uint64_t> limit);
  MemoryAllocator(const MemoryAllocator&) = delete;
  MemoryAllocator& operator=(const MemoryAllocator&) = delete;
  ~MemoryAllocator();

  /// Throws `memory_limit`, `out_of_memory`. The size was checked against the largest buffer.
  std::shared_ptr<BufferState> allocate(std::shared_ptr<DeviceState> device, std::uint64_t bytes,
                                        const BufferOptions& options);
  /// A buffer at the start of a block of its own. Throws as `create_block`.
  std::shared_ptr<BufferState> allocate_alone(std::shared_ptr<DeviceState> device, const BlockRequest& request,
                                              std::uint64_t bytes);
  /// Throws `memory_limit`, `out_of_memory`, `invalid_argument` (not a descriptor of this device's memory).
  MemoryBlock create_block(const BlockRequest& request);
  void release_block(MemoryBlock& block) noexcept;
  void free_slot(Slab& slab, std::uint32_t slot) noexcept;
  /// Gives slabs without a live buffer back to the driver.
  void release_empty_slabs() noexcept;

  /// Memory that meets an image's needs. Throws `memory_limit`, `out_of_memory`.
  ImageBlock create_image_block(const vk::MemoryRequirements& requirements);
  void release_image_block(ImageBlock& block) noexcept;

  void count_buffer(std::uint64_t bytes) noexcept;
  void discount_buffer(std::uint64_t bytes) noexcept;
  MemoryStatistics statistics() const;
  bool device_memory_is_mapped() const noexcept;

 private:
  static constexpr std::size_t size_class_count = 9;  // 256 bytes to 64 KiB, doubling

  struct MemoryType {
    std::uint32_t index = 0;
    std::uint32_t heap = 0;
    bool mapped = false;
    bool cached = false;
  };
  struct SizeClass {
    std::vector<std::unique_ptr<Slab>> slabs;
    std::vector<Slab*> open;  // those with a free slot
  };

  MemoryType choose_type(MemoryPool pool, std::uint32_t allowed) const;
  void reserve(std::uint64_t bytes, std::uint32_t heap);
  void unreserve(std::uint64_t bytes, std::uint32_t heap) noexcept;
  std::uint64_t available_on_heap(std::uint32_t heap) const;
  std::shared_ptr<BufferState> allocate_slot(std::shared_ptr<DeviceState> device, MemoryPool pool, std::uint64_t bytes);

  VulkanDevice& device_;
  vk::PhysicalDeviceMemoryProperties properties_;
  std::array<MemoryType, memory_pool_count> types_;
  std::uint64_t host_heap_bytes_ = 0;  // of a CPU-type device, when it was opened

  mutable std::mutex mutex_;  // statistics
  MemoryStatistics statistics_;
  std::array<std::uint64_t, VK_MAX_MEMORY_HEAPS> allocated_on_heap_{};

  std::mutex slab_mutex_;
  std::array<std::array<SizeClass, size_class_count>, memory_pool_count> classes_;
};

}  // namespace tessera::detail
