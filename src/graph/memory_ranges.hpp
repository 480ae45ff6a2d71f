#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>

// Overlap of bound memory, by device address. Plain data, no Vulkan.
namespace tessera::detail {

/// Rows in memory: `row` bytes every `stride` bytes, from `begin` to `end`.
struct MemoryRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t stride = 0;
  std::uint64_t row = 0;
};

struct MemoryHull {
  std::uint64_t begin = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t end = 0;

  void add(std::uint64_t first, std::uint64_t last) noexcept {
    begin = std::min(begin, first);
    end = std::max(end, last);
  }
  bool overlaps(const MemoryHull& other) const noexcept { return begin < other.end && other.begin < end; }
};

/// Whether two ranges share a byte. Columns interleaved at one stride don't; those of different strides count as one
/// block each.
bool overlap(const MemoryRange& left, const MemoryRange& right) noexcept;

/// Indexes of ranges that share a byte, one of each list.
std::optional<std::pair<std::size_t, std::size_t>> find_overlap(std::span<const MemoryRange> left,
                                                                std::span<const MemoryRange> right);
/// Indexes of two ranges of one list that share a byte.
std::optional<std::pair<std::size_t, std::size_t>> find_overlap(std::span<const MemoryRange> ranges);

}  // namespace tessera::detail
