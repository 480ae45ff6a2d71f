#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/buffer_state.hpp"

namespace tessera::detail {

/// See `Device::write` and `Device::read`. The range was checked.
void write(const std::shared_ptr<BufferState>& target, std::uint64_t offset, std::span<const std::byte> bytes);
void read(const std::shared_ptr<BufferState>& source, std::uint64_t offset, std::span<std::byte> bytes);

}  // namespace tessera::detail
