#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/buffer_state.hpp"

namespace tessera::detail {

class TransferRing;

/// Mapped memory for at most `bytes`: of the ring, or a small buffer of its own. Throws as `Device::allocate`.
std::shared_ptr<BufferState> take_piece(const std::shared_ptr<DeviceState>& device, TransferRing& ring, MemoryKind kind,
                                        std::uint64_t bytes);

/// See `Device::write` and `Device::read`. The range was checked.
void write(const std::shared_ptr<BufferState>& target, std::uint64_t offset, std::span<const std::byte> bytes);
void read(const std::shared_ptr<BufferState>& source, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace tessera::detail
