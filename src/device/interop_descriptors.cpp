// Memory and semaphores by file descriptor.

#include <string_view>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/interop/vulkan.hpp>

#include "device/memory.hpp"
#include "device/result.hpp"
#include "device/semaphore_state.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::interop {
namespace {

[[noreturn]] void reject(ErrorCode code, std::string_view operation, std::string_view operand, std::string_view rule,
                         std::string values = {}) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = std::string(operand),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

detail::DeviceState& require_memory_descriptors(const Device& device, std::string_view operation) {
  device.state()->require_alive(operation);
  if (!device.limits().external_memory_descriptor) {
    reject(ErrorCode::missing_feature, operation, device.info().name, "the device can't share memory by descriptor",
           VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
  }
  return *device.state();
}

detail::DeviceState& require_semaphore_descriptors(const Device& device, std::string_view operation) {
  device.state()->require_alive(operation);
  if (!device.limits().external_semaphore_descriptor) {
    reject(ErrorCode::missing_feature, operation, device.info().name, "the device can't share semaphores by descriptor",
           VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
  }
  return *device.state();
}

detail::MemoryPool pool_of(MemoryKind memory) {
  switch (memory) {
    case MemoryKind::upload:
      return detail::MemoryPool::upload;
    case MemoryKind::download:
      return detail::MemoryPool::download;
    case MemoryKind::device:
      break;
  }
  return detail::MemoryPool::device_large;
}

Buffer allocate_sharing(const Device& device, const detail::BlockRequest& request, std::uint64_t bytes,
                        const BufferOptions& options) {
  auto buffer = device.state()->memory().allocate_alone(device.state(), request, bytes);
  buffer->memory = options.memory;
  buffer->name = options.name;
  device.state()->set_name(VK_OBJECT_TYPE_BUFFER, reinterpret_cast<std::uint64_t>(buffer->buffer), options.name);
  return Buffer(std::move(buffer));
}

}  // namespace

Buffer allocate_exportable(const Device& device, std::uint64_t bytes, const BufferOptions& options) {
  require_memory_descriptors(device, "allocate_exportable");
  if (bytes > device.limits().largest_buffer_bytes) {
    reject(ErrorCode::limit_exceeded, "allocate_exportable", options.name,
           "the buffer is larger than the device's largest",
           detail::quantity("requested bytes", bytes) + ", " +
               detail::quantity("largest", device.limits().largest_buffer_bytes));
  }
  const std::uint64_t size = bytes == 0 ? 4 : bytes;
  const std::uint64_t rounded = (size + 15) / 16 * 16;
  return allocate_sharing(
      device, {.pool = pool_of(options.memory), .bytes = rounded, .sharing = detail::BlockSharing::exported}, size,
      options);
}

MemoryDescriptor export_memory(const Buffer& buffer) {
  if (!buffer) reject(ErrorCode::missing_operand, "export_memory", "buffer", "the buffer is empty");
  const detail::BufferState& state = *buffer.state();
  if (state.exportable_memory == VK_NULL_HANDLE) {
    reject(ErrorCode::invalid_argument, "export_memory", state.name, "the buffer was not allocated as exportable");
  }
  require_memory_descriptors(buffer.device(), "export_memory");
  return detail::translated("export_memory", [&] {
    const vk::MemoryGetFdInfoKHR info(state.exportable_memory, vk::ExternalMemoryHandleTypeFlagBits::eOpaqueFd);
    MemoryDescriptor result;
    result.descriptor = state.device->vulkan().device().getMemoryFdKHR(info);
    result.allocation_bytes = state.allocation_bytes;
    result.buffer_bytes = state.capacity;
    result.bytes = state.size;
    return result;
  });
}

Buffer import_memory(const Device& device, const MemoryDescriptor& memory, const BufferOptions& options) {
  require_memory_descriptors(device, "import_memory");
  if (memory.descriptor < 0 || memory.bytes == 0 || memory.bytes > memory.buffer_bytes ||
      memory.buffer_bytes > memory.allocation_bytes) {
    reject(ErrorCode::invalid_argument, "import_memory", options.name, "a descriptor and rising sizes must be given",
           "descriptor " + std::to_string(memory.descriptor) + ", " + detail::quantity("bytes", memory.bytes) + ", " +
               detail::quantity("buffer bytes", memory.buffer_bytes) + ", " +
               detail::quantity("allocation bytes", memory.allocation_bytes));
  }
  return allocate_sharing(device,
                          {.pool = pool_of(options.memory),
                           .bytes = memory.buffer_bytes,
                           .sharing = detail::BlockSharing::imported,
                           .descriptor = memory.descriptor,
                           .allocation_bytes = memory.allocation_bytes},
                          memory.bytes, options);
}

Semaphore create_exportable_semaphore(const Device& device, std::uint64_t initial_value) {
  require_semaphore_descriptors(device, "create_exportable_semaphore");
  return Semaphore(detail::make_semaphore(device.state(), initial_value, detail::SemaphoreSharing::exported));
}

int export_semaphore(const Semaphore& semaphore) {
  if (!semaphore) reject(ErrorCode::missing_operand, "export_semaphore", "semaphore", "the semaphore is empty");
  const Semaphore::State& state = *semaphore.state();
  if (!state.exportable) {
    reject(ErrorCode::invalid_argument, "export_semaphore", "semaphore", "the semaphore was not created as exportable");
  }
  return detail::translated("export_semaphore", [&] {
    const vk::SemaphoreGetFdInfoKHR info(state.handle, vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd);
    return state.device->vulkan().device().getSemaphoreFdKHR(info);
  });
}

Semaphore import_semaphore(const Device& device, int descriptor) {
  detail::DeviceState& state = require_semaphore_descriptors(device, "import_semaphore");
  if (descriptor < 0) {
    reject(ErrorCode::invalid_argument, "import_semaphore", "descriptor", "a descriptor must be given",
           std::to_string(descriptor));
  }
  auto semaphore = detail::make_semaphore(device.state(), 0, detail::SemaphoreSharing::none);
  detail::translated("import_semaphore", [&] {
    state.vulkan().device().importSemaphoreFdKHR(vk::ImportSemaphoreFdInfoKHR(
        semaphore->handle, {}, vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd, descriptor));
  });
  return Semaphore(std::move(semaphore));
}

}  // namespace tessera::interop
