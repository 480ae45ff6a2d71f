#include "graph/memory_ranges.hpp"

#include <numeric>
#include <vector>

namespace tessera::detail {
namespace {

using Pair = std::optional<std::pair<std::size_t, std::size_t>>;

/// Below this many on one side, comparing each with each beats sorting.
constexpr std::size_t few_ranges = 16;

/// Positions of the ranges that aren't empty, by begin.
std::vector<std::size_t> by_begin(std::span<const MemoryRange> ranges) {
  std::vector<std::size_t> order;
  order.reserve(ranges.size());
  bool sorted = true;
  for (std::size_t index = 0; index < ranges.size(); ++index) {
    if (ranges[index].begin >= ranges[index].end) continue;
    sorted = sorted && (order.empty() || ranges[order.back()].begin <= ranges[index].begin);
    order.push_back(index);
  }
  if (!sorted) {
    std::sort(order.begin(), order.end(),
              [&](std::size_t left, std::size_t right) { return ranges[left].begin < ranges[right].begin; });
  }
  return order;
}

}  // namespace

bool overlap(const MemoryRange& left, const MemoryRange& right) noexcept {
  if (left.begin >= right.end || right.begin >= left.end) return false;
  if (left.stride != right.stride || left.stride == 0) return true;
  const std::uint64_t stride = left.stride;
  const std::uint64_t distance = right.begin >= left.begin ? (right.begin - left.begin) % stride
                                                           : (stride - (left.begin - right.begin) % stride) % stride;
  return distance < left.row || distance + right.row > stride;
}

Pair find_overlap(std::span<const MemoryRange> left, std::span<const MemoryRange> right) {
  if (std::min(left.size(), right.size()) <= few_ranges) {
    for (std::size_t first = 0; first < left.size(); ++first) {
      for (std::size_t second = 0; second < right.size(); ++second) {
        if (overlap(left[first], right[second])) return std::pair(first, second);
      }
    }
    return std::nullopt;
  }
  std::vector<MemoryRange> all(left.begin(), left.end());
  all.insert(all.end(), right.begin(), right.end());
  const std::vector<std::size_t> order = by_begin(all);
  // Ranges that a later begin may still fall into, per list.
  std::vector<std::size_t> open[2];
  for (const std::size_t index : order) {
    const std::size_t side = index < left.size() ? 0 : 1;
    for (auto& list : open) std::erase_if(list, [&](std::size_t other) { return all[other].end <= all[index].begin; });
    for (const std::size_t other : open[1 - side]) {
      if (!overlap(all[index], all[other])) continue;
      return std::pair(std::min(index, other), std::max(index, other) - left.size());
    }
    open[side].push_back(index);
  }
  return std::nullopt;
}

Pair find_overlap(std::span<const MemoryRange> ranges) {
  if (ranges.size() < 2) return std::nullopt;
  std::vector<std::size_t> open;
  for (const std::size_t index : by_begin(ranges)) {
    std::erase_if(open, [&](std::size_t other) { return ranges[other].end <= ranges[index].begin; });
    for (const std::size_t other : open) {
      if (overlap(ranges[index], ranges[other])) return std::pair(std::min(index, other), std::max(index, other));
    }
    open.push_back(index);
  }
  return std::nullopt;
}

}  // namespace tessera::detail
