#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace tessera::reference {

/// Chunk lengths of a vector, in order, with a name for messages. Empty chunks are allowed anywhere.
struct Partition {
  std::string name;
  std::vector<std::uint64_t> lengths;

  std::uint64_t rows() const { return std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0}); }
};

/// Chunks of random lengths that add up to `rows`, a quarter of them empty. The same seed gives the same partition
/// everywhere. `chunks` is at least 1.
Partition random_partition(std::uint64_t rows, std::uint64_t chunks, std::uint64_t seed);

/// The rows of each chunk; `values` has as many rows as the partition.
template <class T>
std::vector<std::span<const T>> split(std::span<const T> values, const Partition& partition) {
  std::vector<std::span<const T>> chunks;
  std::size_t first = 0;
  for (const std::uint64_t length : partition.lengths) {
    chunks.push_back(values.subspan(first, static_cast<std::size_t>(length)));
    first += static_cast<std::size_t>(length);
  }
  return chunks;
}

/// The chunks as one vector.
template <class T>
std::vector<T> join(std::span<const std::vector<T>> chunks) {
  std::vector<T> values;
  for (const std::vector<T>& chunk : chunks) values.insert(values.end(), chunk.begin(), chunk.end());
  return values;
}

}  // namespace tessera::reference
