#include "device/transfers.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <utility>

#include <tessera/error.hpp>

#include "device/encoder_state.hpp"
#include "device/transfer_rings.hpp"

namespace tessera::detail {
namespace {

// Uncached memory is read a few bytes at a time over the bus; beyond this size a copy is faster.
constexpr std::uint64_t largest_uncached_read = 256;

constexpr auto forever = std::chrono::nanoseconds::max();

// Where the ring can't be had, transfers go through small buffers that share blocks.
constexpr std::uint64_t fallback_piece = std::uint64_t{64} << 10;

/// A piece of the ring, after waiting for earlier transfers to leave it; null where the ring itself does not fit into
/// memory, or where others hold all of it.
std::shared_ptr<BufferState> ring_piece(const std::shared_ptr<DeviceState>& device, TransferRing& ring,
                                        std::uint64_t bytes) {
  try {
    while (true) {
      if (auto piece = ring.take(device, bytes)) return piece;
      const std::uint64_t completed = device->completed();
      if (completed >= device->submitted()) break;
      device->wait(completed + 1, forever);
    }
    device->collect();
    return ring.take(device, bytes);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory_limit && error.code() != ErrorCode::out_of_memory) throw;
    return nullptr;
  }
}

struct PendingRead {
  std::shared_ptr<BufferState> piece;
  Fence fence;
  std::span<std::byte> target;

  void finish() const {
    fence.wait();
    std::memcpy(target.data(), piece->mapped, target.size());
  }
};

}  // namespace

std::shared_ptr<BufferState> take_piece(const std::shared_ptr<DeviceState>& device, TransferRing& ring, MemoryKind kind,
                                        std::uint64_t bytes) {
  if (auto piece = ring_piece(device, ring, std::min(ring.largest_piece(), bytes))) return piece;
  return device->allocate(std::min(bytes, fallback_piece), {.memory = kind, .name = "transfer"});
}

void write(const std::shared_ptr<BufferState>& target, std::uint64_t offset, std::span<const std::byte> bytes) {
  const std::shared_ptr<DeviceState>& device = target->device;
  device->require_alive("write");
  if (bytes.empty()) return;
  if (target->mapped != nullptr && device->completed() >= device->submitted()) {
    std::memcpy(target->mapped + offset, bytes.data(), bytes.size());
    return;
  }
  TransferRing& ring = device->rings().upload();
  for (std::uint64_t done = 0; done < bytes.size();) {
    const auto piece = take_piece(device, ring, MemoryKind::upload, bytes.size() - done);
    const std::uint64_t count = std::min<std::uint64_t>(piece->size, bytes.size() - done);
    std::memcpy(piece->mapped, bytes.data() + done, count);
    EncoderState encoder(device, "write");
    encoder.copy(piece, 0, target, offset + done, count);
    device->submit(encoder, {});
    done += count;
  }
}

void read(const std::shared_ptr<BufferState>& source, std::uint64_t offset, std::span<std::byte> bytes) {
  const std::shared_ptr<DeviceState>& device = source->device;
  device->wait(device->submitted(), forever);
  if (bytes.empty()) return;
  if (source->mapped != nullptr && (source->host_cached || bytes.size() <= largest_uncached_read)) {
    std::memcpy(bytes.data(), source->mapped + offset, bytes.size());
    return;
  }
  TransferRing& ring = device->rings().download();
  std::deque<PendingRead> pending;
  for (std::uint64_t done = 0; done < bytes.size();) {
    if (pending.size() == 3) {  // with a quarter of the ring each, the next piece still has room
      pending.front().finish();
      pending.pop_front();
    }
    auto piece = take_piece(device, ring, MemoryKind::download, bytes.size() - done);
    const std::uint64_t count = std::min<std::uint64_t>(piece->size, bytes.size() - done);
    EncoderState encoder(device, "read");
    encoder.copy(source, offset + done, piece, 0, count);
    Fence fence = device->submit(encoder, {});
    pending.push_back({std::move(piece), std::move(fence), bytes.subspan(done, count)});
    done += count;
  }
  for (const PendingRead& each : pending) each.finish();
}

}  // namespace tessera::detail
