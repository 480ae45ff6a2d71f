#include "support/partitions.hpp"

#include <cstdint>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tessera::test {
namespace {

TEST(Partitions, add_up_and_split_into_the_rows) {
  for (const std::uint64_t rows : standard_row_counts()) {
    std::vector<std::uint32_t> values(rows);
    std::iota(values.begin(), values.end(), 0U);
    for (const Partition& partition : standard_partitions(rows, 3)) {
      SCOPED_TRACE(partition.name + ", rows " + std::to_string(rows));
      EXPECT_EQ(partition.rows(), rows);
      std::vector<std::vector<std::uint32_t>> chunks;
      for (const auto chunk : reference::split<std::uint32_t>(values, partition)) {
        chunks.emplace_back(chunk.begin(), chunk.end());
      }
      EXPECT_EQ(chunks.size(), partition.lengths.size());
      EXPECT_EQ(reference::join<std::uint32_t>(chunks), values);
    }
  }
}

TEST(Partitions, random_ones_repeat_with_their_seed) {
  const Partition first = reference::random_partition(1000, 20, 5);
  EXPECT_EQ(first.lengths, reference::random_partition(1000, 20, 5).lengths);
  EXPECT_NE(first.lengths, reference::random_partition(1000, 20, 6).lengths);
  EXPECT_EQ(first.lengths.size(), 20U);
}

}  // namespace
}  // namespace tessera::test
