#pragma once

#include <concepts>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace tessera::test {

/// Values that tests must not miss. Floats: both zeros, the smallest and largest denormal, the smallest and largest
/// normal, infinities, NaN with several payloads and signs, ties of rounding. Integers: 0, 1, extremes and their
/// neighbours, values around 2^24 and 2^53. T: float, double, any integer of 8 to 64 bits.
template <class T>
std::vector<T> special_values();

/// Those of them that are finite.
template <class T>
std::vector<T> finite_special_values();

/// What random values look like.
enum class Spread {
  all_bits,     ///< any bit pattern: NaN and infinities too, exponents uniform
  finite,       ///< any finite bit pattern
  moderate,     ///< floats in [-1000, 1000), integers in the lowest (unsigned) or smallest (signed) 1000
  with_special  ///< moderate, every eighth one a special value
};

/// `count` values from a seed; the same everywhere. T as above.
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed, Spread spread = Spread::with_special);

/// Mask words: 0, 1 and other words that are not 0. `accepted_share` in [0, 1].
std::vector<std::uint32_t> random_mask(std::size_t count, std::uint64_t seed, double accepted_share = 0.7);

/// An engine whose raw output is the same everywhere; distributions are not.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() { return engine_(); }
  /// Below `bound`, which is not 0; the bias is at most bound / 2^64.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  /// In [0, 1), a multiple of 2^-53.
  double fraction() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tessera::test
