#include "reference/partition.hpp"

#include <algorithm>
#include <random>

namespace tessera::reference {

Partition random_partition(std::uint64_t rows, std::uint64_t chunks, std::uint64_t seed) {
  // Remainders of the raw engine instead of a distribution: distributions differ between standard libraries.
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> borders;
  for (std::uint64_t i = 1; i < chunks; ++i) {
    const bool makes_empty_chunk = !borders.empty() && random() % 4 == 0;
    borders.push_back(makes_empty_chunk ? borders.back() : random() % (rows + 1));
  }
  borders.push_back(rows);
  std::sort(borders.begin(), borders.end());
  Partition result{"random " + std::to_string(chunks) + " chunks, seed " + std::to_string(seed), {}};
  std::uint64_t previous = 0;
  for (const std::uint64_t border : borders) {
    result.lengths.push_back(border - previous);
    previous = border;
  }
  return result;
}

}  // namespace tessera::reference
