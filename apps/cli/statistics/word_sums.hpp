#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>

#include <tessera/operand/sum_state.hpp>

// Exact sums of 32-bit samples on the host, at the cost of a few additions each.
namespace tessera::cli {

/// Count and extent, by order key.
class WordExtent {
 public:
  std::uint64_t count() const noexcept { return count_; }
  std::uint32_t smallest_key() const noexcept { return smallest_; }
  std::uint32_t largest_key() const noexcept { return largest_; }

 protected:
  void extend(std::uint32_t key) noexcept {
    smallest_ = std::min(smallest_, key);
    largest_ = std::max(largest_, key);
    ++count_;
  }
  std::uint64_t count_ = 0;

 private:
  std::uint32_t smallest_ = 0xffffffff;
  std::uint32_t largest_ = 0;
};

/// The sum and the sum of squares of integers, given as bits. Up to 2^31 samples.
template <std::integral Sample>
class IntegerSums : public WordExtent {
 public:
  void add(std::uint32_t bits) noexcept {
    const auto value = static_cast<std::int64_t>(static_cast<Sample>(bits));
    sum_ += value;
    squares_ += value * static_cast<__int128_t>(value);
    extend(std::signed_integral<Sample> ? bits ^ 0x80000000 : bits);
  }
  SumState sum() const;
  SumState squares() const;

 private:
  std::int64_t sum_ = 0;
  __int128_t squares_ = 0;
};

extern template class IntegerSums<std::int32_t>;
extern template class IntegerSums<std::uint32_t>;

/// The same of finite float32 values. Significands are added up by sign and exponent, which rounds nothing, and brought
/// together at the end: R. M. Neal, "Fast exact summation using small and large superaccumulators" (arXiv 1505.05571,
/// 2015).
class FloatSums : public WordExtent {
 public:
  void add(std::uint32_t bits) noexcept {
    const std::uint32_t index = bits >> 23;
    const std::uint64_t significand = (bits & 0x7fffff) | ((index & 0xff) != 0 ? 0x800000U : 0U);
    // Neighbours often share an exponent: two banks, so that they don't wait for each other.
    Place& place = banks_[count_ & 1][index];
    place.sum += significand;
    place.squares += significand * significand;
    extend(bits ^ (static_cast<std::uint32_t>(static_cast<std::int32_t>(bits) >> 31) | 0x80000000));
    if (count_ % most_squares == 0) flush();
  }
  SumState sum() const;
  SumState squares() const;

 private:
  static constexpr std::uint64_t most_squares = 1 << 16;  ///< of 48 bits, in one word
  struct Place {
    std::uint64_t sum = 0;
    std::uint64_t squares = 0;
  };
  void flush() noexcept;

  std::array<std::array<Place, 512>, 2> banks_;
  std::array<std::uint64_t, 512> sums_{};  ///< by sign and exponent
  std::array<__uint128_t, 512> squares_{};
};

}  // namespace tessera::cli
