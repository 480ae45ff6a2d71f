#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/export.hpp>

namespace tessera {

namespace detail {

/// What every sum state does, whatever its width: an exact integer of `limb_count` 32-bit limbs in units of
/// 2^`unit_exponent`, flags for NaN and the infinities, and a count of terms. Used through the classes below.
/// Thread-safe to read; not to change.
template <int limb_count, int unit_exponent>
class TESSERA_EXPORT BasicSumState {
 public:
  /// Bytes of the state in memory, on the host and on the device.
  static constexpr std::size_t byte_size = std::size_t{limb_count} * 4 + 16;
  /// Bytes in the device's layout: limbs (least significant first), flags (1 NaN, 2 +infinity, 4 -infinity), a zero
  /// word, the 64-bit count; little-endian.
  using Bytes = std::array<std::byte, byte_size>;

  /// The sum rounded once to the nearest float32, ties to even; denormals are kept, beyond the range it is an infinity.
  /// A NaN term or infinities of both signs give the quiet NaN 0x7fc00000, otherwise an infinite term gives that
  /// infinity. An exact zero, and the sum of no terms, is +0.
  float to_float() const noexcept;
  /// The same as float64; its NaN is 0x7ff8000000000000.
  double to_double() const noexcept;
  /// The integer part (rounded towards minus infinity) modulo 2^64, whatever the flags are; exact for sums of integers
  /// that fit. Convert to `std::int64_t` for signed terms, to 32 bits for the sum modulo 2^32.
  std::uint64_t to_integer() const noexcept;

  /// Terms added, NaN and infinities included (modulo 2^64).
  std::uint64_t count() const noexcept { return count_; }
  /// False when a term was NaN or infinite.
  bool is_finite() const noexcept { return flags_ == 0; }
  /// The exact sum of the finite terms: two's complement, least significant limb first, in units of 2^unit_exponent.
  std::span<const std::uint32_t, std::size_t{limb_count}> limbs() const& noexcept {
    return std::span<const std::uint32_t, std::size_t{limb_count}>(limbs_);
  }
  std::span<const std::uint32_t, std::size_t{limb_count}> limbs() const&& = delete;
  /// Bits 1 (NaN), 2 (+infinity), 4 (-infinity).
  std::uint32_t flags() const noexcept { return flags_; }
  Bytes bytes() const noexcept;

  /// Equal exact sums, flags and counts.
  bool operator==(const BasicSumState&) const noexcept = default;

 protected:
  BasicSumState() noexcept = default;

  void merge_state(const BasicSumState& other) noexcept;
  void read_bytes(std::span<const std::byte> bytes);
  void add_double(double value) noexcept;
  void add_product_of(float left, float right) noexcept;
  void add_square_of(double value) noexcept;
  void add_signed(std::int64_t value) noexcept;
  void add_unsigned(std::uint64_t value) noexcept;

 private:
  // A plain array, because kernels and host share the functions that work on it.
  std::uint32_t limbs_[limb_count] = {};
  std::uint32_t flags_ = 0;
  std::uint32_t reserved_ = 0;
  std::uint64_t count_ = 0;
};

using BasicNarrowSum = BasicSumState<20, -298>;
using BasicWideSum = BasicSumState<68, -1074>;
using BasicWideSquareSum = BasicSumState<134, -2148>;

extern template class BasicSumState<20, -298>;
extern template class BasicSumState<68, -1074>;
extern template class BasicSumState<134, -2148>;

}  // namespace detail

/// The exact, mergeable sum of float32 values, products of two float32, 32- and 64-bit integers or squares of 32-bit
/// integers: 96 bytes, whatever was added. Nothing is rounded before the state is finalised, so that the result is the
/// same to the bit for any order, partition, device or number of ranks; up to 2^64 terms of any of these kinds fit.
///
/// The method is the long fixed-point accumulator of U. Kulisch and W. L. Miranker, "The arithmetic of the digital
/// computer: a new approach" (SIAM Review 28, 1986); what reproducible sums are good for, and their cost, is in
/// J. Demmel and H. D. Nguyen, "Parallel reproducible summation" (IEEE Transactions on Computers 64, 2015), and
/// P. Ahrens, J. Demmel and H. D. Nguyen, "Algorithms for efficient reproducible floating point summation" (ACM
/// Transactions on Mathematical Software 46, 2020).
///
/// Its bytes are those that a reduction writes into an output of this kind. Adding or merging costs some 20 integer
/// additions. Thread-safe to read; not to change.
class TESSERA_EXPORT SumState : public detail::BasicNarrowSum {
 public:
  SumState() noexcept = default;

  /// Reads a state from the device's layout. Throws `length_mismatch` unless there are `byte_size` bytes, and
  /// `invalid_argument` for flags that no state has.
  static SumState from_bytes(std::span<const std::byte> bytes);

  void add(float value) noexcept { add_double(double{value}); }
  void add(double value) = delete;  ///< not exact here: see WideSumState
  template <std::integral Integer>
  void add(Integer value) noexcept {
    if constexpr (std::signed_integral<Integer>) {
      add_signed(std::int64_t{value});
    } else {
      add_unsigned(std::uint64_t{value});
    }
  }
  /// Adds left * right, all 48 bits of it. Infinity times zero is NaN.
  void add_product(float left, float right) noexcept { add_product_of(left, right); }
  void add_square(float value) noexcept { add_product_of(value, value); }
  void add_square(double value) = delete;  ///< not exact here: see WideSquareSumState
  void add_square(std::uint32_t value) noexcept { add_unsigned(std::uint64_t{value} * value); }
  void add_square(std::int32_t value) noexcept { add_signed(std::int64_t{value} * value); }
  /// Adds the other state's terms and count. Associative and commutative, to the bit.
  void merge(const SumState& other) noexcept { merge_state(other); }
};

/// As SumState, for float64 values (and float32, and integers): 288 bytes, 2^64 terms. Thread-safe to read; not to
/// change.
class TESSERA_EXPORT WideSumState : public detail::BasicWideSum {
 public:
  WideSumState() noexcept = default;

  /// As SumState::from_bytes.
  static WideSumState from_bytes(std::span<const std::byte> bytes);

  void add(double value) noexcept { add_double(value); }
  void add(float value) noexcept { add_double(double{value}); }
  template <std::integral Integer>
  void add(Integer value) noexcept {
    if constexpr (std::signed_integral<Integer>) {
      add_signed(std::int64_t{value});
    } else {
      add_unsigned(std::uint64_t{value});
    }
  }
  /// Adds the other state's terms and count. Associative and commutative, to the bit.
  void merge(const WideSumState& other) noexcept { merge_state(other); }
};

/// As SumState, for squares of float64 values, all 106 bits of them: 552 bytes, 2^64 terms. Thread-safe to read; not to
/// change.
class TESSERA_EXPORT WideSquareSumState : public detail::BasicWideSquareSum {
 public:
  WideSquareSumState() noexcept = default;

  /// As SumState::from_bytes.
  static WideSquareSumState from_bytes(std::span<const std::byte> bytes);

  /// Adds value * value.
  void add_square(double value) noexcept { add_square_of(value); }
  /// Adds the other state's terms and count. Associative and commutative, to the bit.
  void merge(const WideSquareSumState& other) noexcept { merge_state(other); }
};

/// sum / count, exact and then rounded once to the nearest double; 0 when `count` is 0; NaN or an infinity as
/// `to_double` says when a term was. Thread-safe.
TESSERA_EXPORT double mean(const SumState& sum, std::uint64_t count) noexcept;
TESSERA_EXPORT double mean(const WideSumState& sum, std::uint64_t count) noexcept;

/// The standard deviation of `count` values as a whole population, sqrt(sum_of_squares / count - (sum / count)^2), from
/// the exact numerator count * sum_of_squares - sum^2: cancellation loses nothing, and the result is rounded once to
/// the nearest double. 0 when `count` is 0; NaN when a term was NaN or infinite. Throws `invalid_argument` when the
/// three can't belong to the same values (the numerator is negative). Thread-safe.
TESSERA_EXPORT double population_deviation(const SumState& sum, const SumState& sum_of_squares, std::uint64_t count);
TESSERA_EXPORT double population_deviation(const WideSumState& sum, const WideSquareSumState& sum_of_squares,
                                           std::uint64_t count);

}  // namespace tessera
