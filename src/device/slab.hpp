#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "device/memory.hpp"

namespace tessera::detail {

/// A block cut into equal slots, each starting at a multiple of its size (at least 256). Not thread-safe.
struct Slab {
 public:
  static constexpr std::uint64_t smallest_slot_bytes = 256;
  static constexpr std::uint64_t first_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint64_t further_bytes = std::uint64_t{4} << 20;

  Slab(MemoryBlock block, MemoryPool pool, std::uint64_t slot_bytes, std::uint64_t bytes)
      : block_(std::move(block)),
        pool_(pool),
        slot_bytes_(slot_bytes),
        slot_count_(static_cast<std::uint32_t>(bytes / slot_bytes)) {
    free_.reserve(slot_count_);
    for (std::uint32_t slot = slot_count_; slot > 0; --slot) free_.push_back(slot - 1);
  }

  MemoryBlock& block() noexcept { return block_; }
  MemoryPool pool() const noexcept { return pool_; }
  std::uint64_t slot_bytes() const noexcept { return slot_bytes_; }
  bool full() const noexcept { return free_.empty(); }
  bool empty() const noexcept { return free_.size() == slot_count_; }

  /// A free slot; there must be one.
  std::uint32_t take() noexcept {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::uint32_t slot) noexcept { free_.push_back(slot); }  // never beyond what was reserved

 private:
  MemoryBlock block_;
  MemoryPool pool_;
  std::uint64_t slot_bytes_;
  std::uint32_t slot_count_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tessera::detail
