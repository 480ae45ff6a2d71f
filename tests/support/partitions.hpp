#pragma once

#include <cstdint>
#include <vector>

#include "reference/partition.hpp"

namespace tessera::test {

using reference::Partition;

/// The partitions of `rows` rows that every chunked operand is tested with: one chunk, uneven chunks, empty chunks in
/// front, inside and behind, many small chunks, chunks around powers of two, and random ones from the seed. Each adds
/// up to `rows`, for 0 rows too.
std::vector<Partition> standard_partitions(std::uint64_t rows, std::uint64_t seed = 1);

/// Row counts around workgroup and tile sizes; the largest is beyond what one invocation of a kernel may loop over.
std::vector<std::uint64_t> standard_row_counts();

}  // namespace tessera::test
