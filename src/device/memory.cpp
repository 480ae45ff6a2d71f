#include "device/memory.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "device/host_memory.hpp"
#include "device/result.hpp"
#include "device/slab.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

constexpr vk::BufferUsageFlags every_usage =
    vk::BufferUsageFlagBits::eStorageBuffer | vk::BufferUsageFlagBits::eTransferSrc |
    vk::BufferUsageFlagBits::eTransferDst | vk::BufferUsageFlagBits::eIndirectBuffer |
    vk::BufferUsageFlagBits::eVertexBuffer | vk::BufferUsageFlagBits::eIndexBuffer |
    vk::BufferUsageFlagBits::eUniformBuffer | vk::BufferUsageFlagBits::eShaderDeviceAddress;

constexpr vk::ExternalMemoryHandleTypeFlagBits shared_handle = vk::ExternalMemoryHandleTypeFlagBits::eOpaqueFd;

/// A buffer with memory of its own.
struct BlockBuffer final : BufferState {
  BlockBuffer() = default;
  BlockBuffer(const BlockBuffer&) = delete;
  BlockBuffer& operator=(const BlockBuffer&) = delete;
  ~BlockBuffer() {
    if (allocator == nullptr) return;
    allocator->discount_buffer(capacity);
    allocator->release_block(block);
  }

  MemoryAllocator* allocator = nullptr;
  MemoryBlock block;
};

/// A slot of a slab.
struct SlotBuffer final : BufferState {
  SlotBuffer() = default;
  SlotBuffer(const SlotBuffer&) = delete;
  SlotBuffer& operator=(const SlotBuffer&) = delete;
  ~SlotBuffer() {
    if (slab == nullptr) return;
    allocator->discount_buffer(capacity);
    allocator->free_slot(*slab, slot);
  }

  MemoryAllocator* allocator = nullptr;
  Slab* slab = nullptr;
  std::uint32_t slot = 0;
};

MemoryPool pool_of(MemoryKind memory, std::uint64_t bytes) {
  switch (memory) {
    case MemoryKind::upload:
      return MemoryPool::upload;
    case MemoryKind::download:
      return MemoryPool::download;
    case MemoryKind::device:
      break;
  }
  return bytes <= MemoryAllocator::largest_slot_bytes ? MemoryPool::device_small : MemoryPool::device_large;
}

std::size_t size_class_of(std::uint64_t bytes) {
  const std::uint64_t slot = std::bit_ceil(std::max(bytes, Slab::smallest_slot_bytes));
  return static_cast<std::size_t>(std::countr_zero(slot) - std::countr_zero(Slab::smallest_slot_bytes));
}

constexpr std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}

}  // namespace

MemoryAllocator::MemoryAllocator(VulkanDevice& device, std::optional<std::uint64_t> limit)
    : device_(device), properties_(device.physical_device().getMemoryProperties()) {
  statistics_.limit_bytes = limit;
  if (device.info().type == DeviceType::cpu) host_heap_bytes_ = device.info().memory_bytes;
  const vk::BufferCreateInfo probe({}, 16, every_usage);
  const auto requirements = translated("memory types", [&] {
    return device_.device().getBufferMemoryRequirements(vk::DeviceBufferMemoryRequirements(&probe));
  });
  const std::uint32_t allowed = requirements.memoryRequirements.memoryTypeBits;
  for (std::size_t pool = 0; pool < memory_pool_count; ++pool) {
    types_[pool] = choose_type(static_cast<MemoryPool>(pool), allowed);
  }
  // Only memory of the main heap serves small buffers: a small window into it would be used up by slabs.
  MemoryType& small = types_[static_cast<std::size_t>(MemoryPool::device_small)];
  const MemoryType& large = types_[static_cast<std::size_t>(MemoryPool::device_large)];
  if (small.heap != large.heap) small = large;
}

MemoryAllocator::~MemoryAllocator() = default;

MemoryAllocator::MemoryType MemoryAllocator::choose_type(MemoryPool pool, std::uint32_t allowed) const {
  using Flag = vk::MemoryPropertyFlagBits;
  const DeviceType device_type = device_.info().type;
  const bool unified = device_type == DeviceType::cpu || device_type == DeviceType::integrated;
  const auto score = [&](vk::MemoryPropertyFlags flags, std::uint64_t heap_bytes) -> std::optional<std::uint64_t> {
    const vk::MemoryPropertyFlags special = Flag::eProtected | Flag::eLazilyAllocated | Flag::eDeviceCoherentAMD;
    const bool mapped = (flags & Flag::eHostVisible) && (flags & Flag::eHostCoherent);
    const bool local = static_cast<bool>(flags & Flag::eDeviceLocal);
    const bool cached = static_cast<bool>(flags & Flag::eHostCached);
    if (flags & special) return std::nullopt;
    switch (pool) {
      case MemoryPool::device_large:
        return (local ? heap_bytes / 1024 * 1024 : 0) + (mapped == unified ? 2 : 0) + cached;
      case MemoryPool::device_small:
        return (local ? heap_bytes / 1024 * 1024 : 0) + (mapped ? 2 : 0) + cached;
      case MemoryPool::upload:
        break;
      case MemoryPool::download:
        if (!mapped) return std::nullopt;
        return (cached ? 2U : 0U) + (local ? 0U : 1U);
    }
    if (!mapped) return std::nullopt;
    return (local ? 0U : 2U) + (cached ? 0U : 1U);
  };

  std::optional<std::uint64_t> best;
  MemoryType chosen;
  for (std::uint32_t index = 0; index < properties_.memoryTypeCount; ++index) {
    if ((allowed >> index & 1U) == 0) continue;
    const vk::MemoryType& type = properties_.memoryTypes[index];
    const auto value = score(type.propertyFlags, properties_.memoryHeaps[type.heapIndex].size);
    if (!value || (best && *value <= *best)) continue;
    best = value;
    const bool mapped = (type.propertyFlags & Flag::eHostVisible) && (type.propertyFlags & Flag::eHostCoherent);
    chosen = {index, type.heapIndex, mapped, mapped && (type.propertyFlags & Flag::eHostCached)};
  }
  if (!best) throw_result(VK_ERROR_FEATURE_NOT_PRESENT, "memory types");
  return chosen;
}

std::uint64_t MemoryAllocator::available_on_heap(std::uint32_t heap) const {
  if (host_heap_bytes_ != 0) {
    // Memory that was allocated and never touched is not yet missing from what the system calls available.
    const std::uint64_t promised = host_heap_bytes_ - std::min(host_heap_bytes_, allocated_on_heap_[heap]);
    return std::min(promised, available_host_memory());
  }
  if (device_.features().memory_budget) {
    const auto chain =
        device_.physical_device()
            .getMemoryProperties2<vk::PhysicalDeviceMemoryProperties2, vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    const auto& budget = chain.get<vk::PhysicalDeviceMemoryBudgetPropertiesEXT>();
    return budget.heapBudget[heap] - std::min(budget.heapBudget[heap], budget.heapUsage[heap]);
  }
  const std::uint64_t size = properties_.memoryHeaps[heap].size;
  return size - std::min(size, allocated_on_heap_[heap]);
}

void MemoryAllocator::reserve(std::uint64_t bytes, std::uint32_t heap) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t held = statistics_.allocated_bytes;
  if (statistics_.limit_bytes && (held > *statistics_.limit_bytes || bytes > *statistics_.limit_bytes - held)) {
    throw Error(ErrorCode::memory_limit,
                {.operation = "allocate",
                 .operand = {},
                 .rule = "the memory limit set by the application would be exceeded",
                 .values = quantity("requested bytes", bytes) + ", " + quantity("held bytes", held) + ", " +
                           quantity("limit", *statistics_.limit_bytes)});
  }
  const std::uint64_t available = available_on_heap(heap);
  if (bytes > available) {
    throw Error(ErrorCode::out_of_memory,
                {.operation = "allocate",
                 .operand = {},
                 .rule = "the device has too little memory left",
                 .values = quantity("requested bytes", bytes) + ", " + quantity("available bytes", available)});
  }
  statistics_.allocated_bytes += bytes;
  statistics_.peak_allocated_bytes = std::max(statistics_.peak_allocated_bytes, statistics_.allocated_bytes);
  allocated_on_heap_[heap] += bytes;
}

void MemoryAllocator::unreserve(std::uint64_t bytes, std::uint32_t heap) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.allocated_bytes -= bytes;
  allocated_on_heap_[heap] -= bytes;
}

MemoryBlock MemoryAllocator::create_block(const BlockRequest& request) {
  const MemoryType& type = types_[static_cast<std::size_t>(request.pool)];
  const bool shared = request.sharing != BlockSharing::none;
  const bool imported = request.sharing == BlockSharing::imported;
  vk::StructureChain buffer_info(vk::BufferCreateInfo({}, request.bytes, every_usage),
                                 vk::ExternalMemoryBufferCreateInfo(shared_handle));
  if (!shared) buffer_info.unlink<vk::ExternalMemoryBufferCreateInfo>();
  const auto requirements = translated("allocate", [&] {
    return device_.device().getBufferMemoryRequirements(
        vk::DeviceBufferMemoryRequirements(&buffer_info.get<vk::BufferCreateInfo>()));
  });

  MemoryBlock block;
  block.heap = type.heap;
  block.host_cached = type.cached;
  block.allocation_bytes = imported ? request.allocation_bytes : requirements.memoryRequirements.size;
  if (!imported) {
    reserve(block.allocation_bytes, block.heap);
    block.counted = true;
  }
  try {
    translated("allocate", [&] {
      device_.count_allocation("allocate");
      block.buffer = vk::raii::Buffer(device_.device(), buffer_info.get<vk::BufferCreateInfo>());
      vk::StructureChain memory_info(vk::MemoryAllocateInfo(block.allocation_bytes, type.index),
                                     vk::MemoryAllocateFlagsInfo(vk::MemoryAllocateFlagBits::eDeviceAddress),
                                     vk::ExportMemoryAllocateInfo(shared_handle),
                                     vk::ImportMemoryFdInfoKHR(shared_handle, request.descriptor));
      if (request.sharing != BlockSharing::exported) memory_info.unlink<vk::ExportMemoryAllocateInfo>();
      if (!imported) memory_info.unlink<vk::ImportMemoryFdInfoKHR>();
      device_.count_allocation("allocate");
      block.memory = vk::raii::DeviceMemory(device_.device(), memory_info.get<vk::MemoryAllocateInfo>());
      block.buffer.bindMemory(*block.memory, 0);
      if (type.mapped) block.mapped = static_cast<std::byte*>(block.memory.mapMemory(0, VK_WHOLE_SIZE));
      block.address = device_.device().getBufferAddress(vk::BufferDeviceAddressInfo(*block.buffer));
    });
  } catch (...) {
    release_block(block);
    throw;
  }
  return block;
}

void MemoryAllocator::release_block(MemoryBlock& block) noexcept {
  block.buffer.clear();
  block.memory.clear();
  if (block.counted) unreserve(block.allocation_bytes, block.heap);
  block.counted = false;
}

std::shared_ptr<BufferState> MemoryAllocator::allocate(std::shared_ptr<DeviceState> device, std::uint64_t bytes,
                                                       const BufferOptions& options) {
  const std::uint64_t size = std::max<std::uint64_t>(bytes, 4);
  const MemoryPool pool = pool_of(options.memory, size);
  auto buffer = size <= largest_slot_bytes
                    ? allocate_slot(std::move(device), pool, size)
                    : allocate_alone(std::move(device), {.pool = pool, .bytes = rounded_up(size, 16)}, size);
  buffer->size = size;
  buffer->memory = options.memory;
  buffer->name = options.name;
  return buffer;
}

std::shared_ptr<BufferState> MemoryAllocator::allocate_slot(std::shared_ptr<DeviceState> device, MemoryPool pool,
                                                            std::uint64_t bytes) {
  auto buffer = std::make_shared<SlotBuffer>();
  const std::size_t size_class = size_class_of(bytes);
  const std::uint64_t slot_bytes = Slab::smallest_slot_bytes << size_class;
  {
    const std::lock_guard lock(slab_mutex_);
    SizeClass& slabs = classes_[static_cast<std::size_t>(pool)][size_class];
    if (slabs.open.empty()) {
      slabs.slabs.reserve(slabs.slabs.size() + 1);
      slabs.open.reserve(slabs.slabs.size() + 1);  // so that freeing never allocates
      const std::uint64_t slab_bytes = slabs.slabs.empty() ? Slab::first_bytes : Slab::further_bytes;
      slabs.slabs.push_back(
          std::make_unique<Slab>(create_block({.pool = pool, .bytes = slab_bytes}), pool, slot_bytes, slab_bytes));
      slabs.open.push_back(slabs.slabs.back().get());
    }
    Slab& slab = *slabs.open.back();
    buffer->slot = slab.take();
    buffer->slab = &slab;
    if (slab.full()) slabs.open.pop_back();
  }
  buffer->allocator = this;
  buffer->capacity = slot_bytes;
  count_buffer(slot_bytes);
  const MemoryBlock& block = buffer->slab->block();
  buffer->offset = slot_bytes * buffer->slot;
  buffer->buffer = static_cast<VkBuffer>(*block.buffer);
  buffer->address = block.address + buffer->offset;
  buffer->mapped = block.mapped != nullptr ? block.mapped + buffer->offset : nullptr;
  buffer->host_cached = block.host_cached;
  buffer->device = std::move(device);
  return buffer;
}

std::shared_ptr<BufferState> MemoryAllocator::allocate_alone(std::shared_ptr<DeviceState> device,
                                                             const BlockRequest& request, std::uint64_t bytes) {
  auto buffer = std::make_shared<BlockBuffer>();
  buffer->block = create_block(request);
  buffer->allocator = this;
  buffer->capacity = request.bytes;
  count_buffer(request.bytes);
  buffer->buffer = static_cast<VkBuffer>(*buffer->block.buffer);
  buffer->size = bytes;
  buffer->address = buffer->block.address;
  buffer->mapped = buffer->block.mapped;
  buffer->host_cached = buffer->block.host_cached;
  if (request.sharing != BlockSharing::none) {
    buffer->exportable_memory = static_cast<VkDeviceMemory>(*buffer->block.memory);
    buffer->allocation_bytes = buffer->block.allocation_bytes;
  }
  buffer->device = std::move(device);
  return buffer;
}

void MemoryAllocator::free_slot(Slab& slab, std::uint32_t slot) noexcept {
  std::unique_ptr<Slab> spare;
  {
    const std::lock_guard lock(slab_mutex_);
    SizeClass& slabs = classes_[static_cast<std::size_t>(slab.pool())][size_class_of(slab.slot_bytes())];
    if (slab.full()) slabs.open.push_back(&slab);
    slab.give_back(slot);
    if (slab.empty() && slabs.open.size() > 1) {  // one stays, so that a lone buffer does not come and go with its slab
      std::erase(slabs.open, &slab);
      const auto owner = std::find_if(slabs.slabs.begin(), slabs.slabs.end(),
                                      [&slab](const std::unique_ptr<Slab>& each) { return each.get() == &slab; });
      spare = std::move(*owner);
      slabs.slabs.erase(owner);
    }
  }
  if (spare) release_block(spare->block());
}

void MemoryAllocator::release_empty_slabs() noexcept {
  const std::lock_guard lock(slab_mutex_);
  for (auto& pool : classes_) {
    for (SizeClass& slabs : pool) {
      std::erase_if(slabs.open, [](const Slab* slab) { return slab->empty(); });
      std::erase_if(slabs.slabs, [this](const std::unique_ptr<Slab>& slab) {
        if (!slab->empty()) return false;
        release_block(slab->block());
        return true;
      });
    }
  }
}

void MemoryAllocator::count_buffer(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.used_bytes += bytes;
  ++statistics_.buffer_count;
}

void MemoryAllocator::discount_buffer(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  statistics_.used_bytes -= bytes;
  --statistics_.buffer_count;
}

MemoryStatistics MemoryAllocator::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

bool MemoryAllocator::device_memory_is_mapped() const noexcept {
  return types_[static_cast<std::size_t>(MemoryPool::device_large)].mapped;
}

}  // namespace tessera::detail
