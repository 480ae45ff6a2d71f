#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "statistics/sample_value.hpp"

// Exact percentiles: which ranks they need, and how passes over the data find the values at ranks.
namespace tessera::cli {

/// A percentile as the user wrote it.
struct Percentile {
  std::string text;
  double percent = 0;
};

/// Parses `2,50,98`. Throws `UsageError` for what is no number from 0 to 100 or is named twice.
std::vector<Percentile> parse_percentiles(const std::string& list);

/// The percentile of `count` sorted values lies between two of them, as NumPy's default says: at (count - 1) *
/// percent / 100.
struct PercentilePlace {
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;
  double fraction = 0;
};
PercentilePlace place_of(double percent, std::uint64_t count) noexcept;
double between(double lower, double upper, double fraction) noexcept;

/// Finds the order keys of given ranks by counting: each pass tells 16 more bits of the keys apart, within the prefixes
/// that still hold a wanted rank.
class RankSearch {
 public:
  static constexpr std::uint32_t bins = 65536;

  /// Ranks count from 0; keys have 16, 32 or 64 bits.
  RankSearch(unsigned key_bits, std::vector<std::uint64_t> ranks);

  /// No prefix is left to be told apart.
  bool done() const noexcept { return open_.empty(); }
  /// The leading bits of the keys to count, in ascending order; at the first pass one empty prefix.
  std::vector<std::uint64_t> prefixes() const;
  /// Leading bits that are known.
  unsigned known_bits() const noexcept { return known_bits_; }
  /// Takes the counts of one pass: for each prefix its keys by their next 16 bits.
  void narrow(std::span<const std::vector<std::uint64_t>> counts);
  /// The key of a rank, once done.
  std::uint64_t key_of(std::uint64_t rank) const { return keys_.at(rank); }

 private:
  struct Open {
    std::uint64_t before = 0;  ///< keys below the prefix
    std::vector<std::uint64_t> ranks;
  };
  unsigned key_bits_;
  unsigned known_bits_ = 0;
  std::map<std::uint64_t, Open> open_;  ///< by prefix
  std::map<std::uint64_t, std::uint64_t> keys_;
};

}  // namespace tessera::cli
