#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "device/buffer_state.hpp"
#include "device/memory.hpp"

namespace tessera::detail {

/// Mapped memory handed out in order and taken back in any order: a piece is free again when its last share goes.
/// Thread-safe.
class TransferRing {
 public:
  TransferRing(MemoryAllocator& memory, MemoryPool pool, std::uint64_t bytes);
  TransferRing(const TransferRing&) = delete;
  TransferRing& operator=(const TransferRing&) = delete;
  ~TransferRing();

  /// The largest piece: a quarter of the ring, so that filling, copying and draining overlap.
  std::uint64_t largest_piece() const noexcept { return bytes_ / 4; }
  /// A piece of at least `bytes`, or null where there is no room now. The first call allocates the ring; throws as
  /// `MemoryAllocator::create_block`.
  std::shared_ptr<BufferState> take(std::shared_ptr<DeviceState> device, std::uint64_t bytes);

 private:
  struct Piece;
  struct Region {
    std::uint64_t end = 0;  ///< where the next region starts, counted from the ring's beginning without wrapping
    bool free = false;
  };

  void give_back(std::uint64_t number) noexcept;

  MemoryAllocator& memory_;
  MemoryPool pool_;
  std::uint64_t bytes_;
  std::mutex mutex_;
  MemoryBlock block_;
  std::deque<Region> regions_;
  std::uint64_t first_number_ = 0;  // of the oldest region
  std::uint64_t tail_ = 0;          // start of the oldest region
  std::uint64_t head_ = 0;          // end of the newest
};

/// The rings through which `Device::write` and `Device::read` pass what is not mapped or not idle.
class TransferRings {
 public:
  TransferRings(MemoryAllocator& memory, std::uint64_t bytes)
      : upload_(memory, MemoryPool::upload, bytes), download_(memory, MemoryPool::download, bytes) {}

  TransferRing& upload() noexcept { return upload_; }
  TransferRing& download() noexcept { return download_; }

 private:
  TransferRing upload_;
  TransferRing download_;
};

}  // namespace tessera::detail
