#include "graph/memory_ranges.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::test {
namespace {

using detail::MemoryRange;

/// The bytes one by one.
bool overlap_by_bytes(const MemoryRange& left, const MemoryRange& right) {
  const auto covers = [](const MemoryRange& range, std::uint64_t byte) {
    return byte >= range.begin && byte < range.end && (byte - range.begin) % range.stride < range.row;
  };
  for (std::uint64_t byte = left.begin; byte < left.end; ++byte) {
    if (covers(left, byte) && covers(right, byte)) return true;
  }
  return false;
}

TEST(MemoryRanges, ColumnsInterleavedAtOneStrideDoNotOverlap) {
  const MemoryRange x{.begin = 0, .end = 84, .stride = 8, .row = 4};
  const MemoryRange y{.begin = 4, .end = 88, .stride = 8, .row = 4};
  EXPECT_FALSE(detail::overlap(x, y));
  EXPECT_FALSE(detail::overlap(y, x));
  EXPECT_TRUE(detail::overlap(x, {.begin = 8, .end = 92, .stride = 8, .row = 4}));
  EXPECT_TRUE(detail::overlap(x, {.begin = 2, .end = 86, .stride = 8, .row = 4}));
}

TEST(MemoryRanges, NeverMissesASharedByte) {
  std::mt19937 random(7);
  int overlaps = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto range = [&] {
      const std::uint64_t row = 1 + random() % 4;
      const std::uint64_t stride = row + random() % 5;
      const std::uint64_t begin = random() % 40;
      const std::uint64_t rows = 1 + random() % 6;
      return MemoryRange{.begin = begin, .end = begin + (rows - 1) * stride + row, .stride = stride, .row = row};
    };
    const MemoryRange left = range();
    const MemoryRange right = range();
    EXPECT_EQ(detail::overlap(left, right), detail::overlap(right, left));
    if (!overlap_by_bytes(left, right)) continue;
    ++overlaps;
    EXPECT_TRUE(detail::overlap(left, right));
  }
  EXPECT_GT(overlaps, 1000);
}

TEST(MemoryRanges, SweepAgreesWithComparingEachWithEach) {
  std::mt19937 random(11);
  int found = 0;
  for (int round = 0; round < 400; ++round) {
    const auto list = [&] {
      std::vector<MemoryRange> ranges;
      for (int index = 0; index < 24; ++index) {
        const std::uint64_t begin = random() % 40000;
        const std::uint64_t bytes = random() % 40;  // some are empty
        ranges.push_back({.begin = begin, .end = begin + bytes, .stride = bytes, .row = bytes});
      }
      return ranges;
    };
    const std::vector<MemoryRange> left = list();
    const std::vector<MemoryRange> right = list();
    bool across = false;
    bool within = false;
    for (std::size_t first = 0; first < left.size(); ++first) {
      for (std::size_t second = 0; second < right.size(); ++second) {
        const auto real = [](const MemoryRange& range) { return range.begin < range.end; };
        across = across || (real(left[first]) && real(right[second]) && detail::overlap(left[first], right[second]));
        within = within || (first < second && real(left[first]) && real(left[second]) &&
                            detail::overlap(left[first], left[second]));
      }
    }
    const auto pair = detail::find_overlap(left, right);
    ASSERT_EQ(pair.has_value(), across);
    EXPECT_TRUE(!pair || detail::overlap(left[pair->first], right[pair->second]));
    const auto own = detail::find_overlap(left);
    ASSERT_EQ(own.has_value(), within);
    EXPECT_TRUE(!own || detail::overlap(left[own->first], left[own->second]));
    found += across ? 1 : 0;
  }
  EXPECT_GT(found, 20);
  EXPECT_LT(found, 400);
}

}  // namespace
}  // namespace tessera::test
