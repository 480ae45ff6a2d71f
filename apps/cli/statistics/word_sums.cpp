#include "statistics/word_sums.hpp"

#include <algorithm>
#include <cstring>

namespace tessera::cli {
namespace {

/// The bits of a sum state, two's complement, in units of 2^-298.
class Limbs {
 public:
  /// Adds value * 2^position.
  void add(__int128_t value, unsigned position) noexcept {
    const unsigned first = position / 32;
    const unsigned bit = position % 32;
    std::uint64_t carry = 0;
    for (unsigned limb = first; limb < limbs_.size(); ++limb) {
      const unsigned shift = 32 * (limb - first);
      // Beyond the highest bit there are copies of the sign.
      const auto word = static_cast<std::uint32_t>(shift == 0 ? value << bit : value >> std::min(shift - bit, 127U));
      carry += std::uint64_t{limbs_[limb]} + word;
      limbs_[limb] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  SumState state(std::uint64_t count) const {
    SumState::Bytes bytes{};
    std::memcpy(bytes.data(), limbs_.data(), sizeof(limbs_));
    std::memcpy(bytes.data() + bytes.size() - sizeof(count), &count, sizeof(count));
    return SumState::from_bytes(bytes);
  }

 private:
  std::array<std::uint32_t, (SumState::byte_size - 16) / 4> limbs_{};
};

constexpr unsigned unit_position = 298;  ///< where 1 lies

}  // namespace

template <std::integral Sample>
SumState IntegerSums<Sample>::sum() const {
  Limbs limbs;
  limbs.add(sum_, unit_position);
  return limbs.state(count_);
}

template <std::integral Sample>
SumState IntegerSums<Sample>::squares() const {
  Limbs limbs;
  limbs.add(squares_, unit_position);
  return limbs.state(count_);
}

template class IntegerSums<std::int32_t>;
template class IntegerSums<std::uint32_t>;

void FloatSums::flush() noexcept {
  for (auto& bank : banks_) {
    for (std::size_t index = 0; index < bank.size(); ++index) {
      sums_[index] += bank[index].sum;
      squares_[index] += bank[index].squares;
    }
    bank.fill({});
  }
}

// A float of exponent field e is its significand times 2^(e - 150), denormals as if e were 1.
SumState FloatSums::sum() const {
  FloatSums total = *this;
  total.flush();
  Limbs limbs;
  for (unsigned index = 0; index < total.sums_.size(); ++index) {
    const unsigned exponent = std::max(index & 0xff, 1U);
    const auto sum = static_cast<__int128_t>(total.sums_[index]);
    if (sum != 0) limbs.add(index < 256 ? sum : -sum, exponent + unit_position - 150);
  }
  return limbs.state(count_);
}

SumState FloatSums::squares() const {
  FloatSums total = *this;
  total.flush();
  Limbs limbs;
  for (unsigned index = 0; index < total.squares_.size(); ++index) {
    const unsigned exponent = std::max(index & 0xff, 1U);
    const auto squares = static_cast<__int128_t>(total.squares_[index]);
    if (squares != 0) limbs.add(squares, 2 * exponent + unit_position - 300);
  }
  return limbs.state(count_);
}

}  // namespace tessera::cli
