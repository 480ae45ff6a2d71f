#include "statistics/word_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "cli/typed_raster.hpp"

namespace tessera::testing {
namespace {

constexpr std::size_t many = 200'000;  // more than one word holds squares of

void expect_float_sums(const std::vector<float>& values) {
  cli::FloatSums sums;
  SumState sum;
  SumState squares;
  for (const float value : values) {
    sums.add(std::bit_cast<std::uint32_t>(value));
    sum.add(value);
    squares.add_square(value);
  }
  EXPECT_EQ(sums.sum(), sum);
  EXPECT_EQ(sums.squares(), squares);
  EXPECT_EQ(sums.count(), values.size());
}

TEST(FloatSums, are_exact_for_any_bits) {
  PlainRandom random(3);
  std::vector<float> values;
  while (values.size() < many) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()));
    if (std::isfinite(value)) values.push_back(value);
  }
  expect_float_sums(values);
}

TEST(FloatSums, are_exact_where_every_sample_is_the_same) {
  using Limits = std::numeric_limits<float>;
  for (const float value :
       {Limits::max(), Limits::lowest(), Limits::denorm_min(), -Limits::denorm_min(), Limits::min(), 1.9999999F, -0.0F})
    expect_float_sums(std::vector<float>(many, value));
  expect_float_sums({});
}

TEST(FloatSums, know_the_order_of_floats) {
  cli::FloatSums sums;
  for (const float value : {-2.0F, 0.0F, -0.0F, 5.0F, -7.5F}) sums.add(std::bit_cast<std::uint32_t>(value));
  EXPECT_EQ(sums.smallest_key(), std::bit_cast<std::uint32_t>(-7.5F) ^ 0xffffffff);
  EXPECT_EQ(sums.largest_key(), std::bit_cast<std::uint32_t>(5.0F) ^ 0x80000000);
}

template <class Sample>
void expect_integer_sums(std::uint32_t (*bits_of)(PlainRandom& random)) {
  cli::IntegerSums<Sample> sums;
  SumState sum;
  SumState squares;
  Sample smallest = std::numeric_limits<Sample>::max();
  PlainRandom random(9);
  for (std::size_t i = 0; i < many; ++i) {
    const std::uint32_t bits = bits_of(random);
    const auto value = static_cast<Sample>(bits);
    sums.add(bits);
    sum.add(value);
    squares.add_square(value);
    smallest = std::min(smallest, value);
  }
  EXPECT_EQ(sums.sum(), sum);
  EXPECT_EQ(sums.squares(), squares);
  EXPECT_EQ(sums.smallest_key(),
            static_cast<std::uint32_t>(smallest) ^ (std::numeric_limits<Sample>::is_signed ? 0x80000000U : 0U));
}

TEST(IntegerSums, are_exact) {
  const auto any = [](PlainRandom& random) { return static_cast<std::uint32_t>(random.next()); };
  expect_integer_sums<std::int32_t>(any);
  expect_integer_sums<std::uint32_t>(any);
  expect_integer_sums<std::int32_t>([](PlainRandom&) { return 0x80000000U; });
  expect_integer_sums<std::uint32_t>([](PlainRandom&) { return 0xffffffffU; });
}

}  // namespace
}  // namespace tessera::testing
