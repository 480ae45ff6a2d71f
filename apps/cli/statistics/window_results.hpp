#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

// What a window's graph wrote, as the host reads it.
namespace tessera::cli {

template <class T>
T read_value(std::span<const std::byte> results, std::uint64_t offset) {
  T value{};
  std::memcpy(&value, results.data() + offset, sizeof(T));
  return value;
}

/// Adds uint32 counts, one for each of `counts`.
inline void add_counts(std::span<const std::byte> results, std::uint64_t offset, std::vector<std::uint64_t>& counts) {
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    counts[bin] += read_value<std::uint32_t>(results, offset + 4 * bin);
}

}  // namespace tessera::cli
