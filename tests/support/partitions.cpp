#include "support/partitions.hpp"

#include <algorithm>
#include <string>

namespace tessera::test {
namespace {

// Chunks of one length; the last one takes what is left.
Partition equal_chunks(std::uint64_t rows, std::uint64_t length) {
  Partition result{"chunks of " + std::to_string(length), {}};
  for (std::uint64_t first = 0; first < rows; first += length) result.lengths.push_back(std::min(length, rows - first));
  return result;
}

// Lengths 0, 1, 2 ... 6 in turn: no border is aligned to anything.
Partition small_chunks(std::uint64_t rows) {
  Partition result{"many small chunks", {}};
  std::uint64_t next = 0;
  for (std::uint64_t left = rows; left > 0; next = (next + 1) % 7) {
    result.lengths.push_back(std::min(next, left));
    left -= result.lengths.back();
  }
  return result;
}

}  // namespace

std::vector<Partition> standard_partitions(std::uint64_t rows, std::uint64_t seed) {
  const std::uint64_t one = std::min<std::uint64_t>(rows, 1);
  const std::uint64_t third = std::min(rows / 3, rows - one);
  const std::uint64_t half = rows / 2;
  const std::uint64_t last = std::min(one, rows - one);
  std::vector<Partition> result = {
      {"one chunk", {rows}},
      {"uneven", {one, 0, third, 0, 0, rows - one - third}},
      {"leading empty", {0, 0, rows}},
      {"interior empty", {half, 0, rows - half}},
      {"trailing empty", {rows, 0}},
      {"single rows at both ends", {one, rows - one - last, last}},
      reference::random_partition(rows, 9, seed),
  };
  // Small chunks make sense for small vectors only: large ones would spend their time on chunk tables.
  if (rows > 0 && rows <= 20000) {
    result.push_back(small_chunks(rows));
    result.push_back(equal_chunks(rows, 255));
    result.push_back(reference::random_partition(rows, rows / 3 + 1, seed + 1));
  }
  if (rows > 256) result.push_back(equal_chunks(rows, 257 + rows / 64));
  return result;
}

std::vector<std::uint64_t> standard_row_counts() {
  return {0, 1, 2, 255, 256, 257, 511, 513, 4097, 65535, 65536, 65537, 70001};
}

}  // namespace tessera::test
