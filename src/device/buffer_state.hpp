#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <vulkan/vulkan.h>

#include <tessera/device/buffer.hpp>

#include "device/device_state.hpp"

namespace tessera::detail {

/// A byte range of a Vulkan buffer. Immutable once made; thread-safe to read.
struct BufferState {
  std::shared_ptr<DeviceState> device;
  VkBuffer buffer = VK_NULL_HANDLE;  ///< may be shared with other ranges: add `offset` in commands that take a VkBuffer
  std::uint64_t offset = 0;          ///< of this range inside `buffer`; a multiple of 256
  std::uint64_t size = 0;            ///< bytes the owner asked for
  std::uint64_t capacity = 0;        ///< bytes reserved: a multiple of 16, never overlapping another range
  std::uint64_t address = 0;         ///< of the first byte; a multiple of 16 (of 4 for foreign buffers)
  std::byte* mapped = nullptr;       ///< null where the memory is not host-visible
  MemoryKind memory = MemoryKind::device;
  bool host_cached = false;  ///< reading through `mapped` is fast
  std::string name;
  VkDeviceMemory exportable_memory = VK_NULL_HANDLE;  ///< set where the memory may be exported by descriptor
  std::uint64_t allocation_bytes = 0;                 ///< of that memory
  std::shared_ptr<const void> owner;                  ///< whatever frees the memory when dropped
};

}  // namespace tessera::detail
