#include <tessera/operand/sum_state.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/error.hpp>

#include "reference/exact_sum.hpp"
#include "reference/statistics.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera {
namespace {

using test::RandomBits;
using test::Spread;

constexpr float float_max = std::numeric_limits<float>::max();
constexpr float float_infinity = std::numeric_limits<float>::infinity();
constexpr float float_nan = std::numeric_limits<float>::quiet_NaN();
constexpr double double_max = std::numeric_limits<double>::max();

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

template <class... Terms>
SumState sum_of(Terms... terms) {
  SumState state;
  (state.add(terms), ...);
  return state;
}

// The state's bits against the reference's, in both formats.
template <class State>
void expect_same(const State& state, const reference::ExactSum& expected) {
  EXPECT_EQ(bits_of(state.to_float()), bits_of(expected.to_float()));
  EXPECT_EQ(bits_of(state.to_double()), bits_of(expected.to_double()));
  EXPECT_EQ(state.count(), expected.count());
}

TEST(SumState, empty_is_positive_zero) {
  const SumState state;
  EXPECT_EQ(bits_of(state.to_float()), 0U);
  EXPECT_EQ(bits_of(state.to_double()), 0U);
  EXPECT_EQ(state.to_integer(), 0U);
  EXPECT_EQ(state.count(), 0U);
  EXPECT_TRUE(state.is_finite());
}

TEST(SumState, zeros_and_cancellation_are_positive_zero) {
  EXPECT_EQ(bits_of(sum_of(-0.0F).to_float()), 0U);
  EXPECT_EQ(bits_of(sum_of(-0.0F, -0.0F).to_double()), 0U);
  EXPECT_EQ(bits_of(sum_of(float_max, 1.0F, -float_max, -1.0F).to_float()), 0U);
  EXPECT_EQ(sum_of(float_max, 0x1p-149F, -float_max).to_float(), 0x1p-149F);
  EXPECT_EQ(sum_of(1e30F, 1.0F, -1e30F).to_float(), 1.0F);
}

TEST(SumState, nan_and_infinities) {
  EXPECT_EQ(bits_of(sum_of(float_infinity, 1.0F).to_float()), 0x7f800000U);
  EXPECT_EQ(bits_of(sum_of(-float_infinity, 1.0F).to_float()), 0xff800000U);
  EXPECT_EQ(bits_of(sum_of(-float_infinity, 1.0F).to_double()), 0xfff0000000000000U);
  EXPECT_EQ(bits_of(sum_of(float_infinity, -float_infinity).to_float()), 0x7fc00000U);
  EXPECT_EQ(bits_of(sum_of(std::bit_cast<float>(0xff812345U)).to_float()), 0x7fc00000U);
  EXPECT_EQ(bits_of(sum_of(float_nan, float_infinity).to_double()), 0x7ff8000000000000U);
  EXPECT_EQ(sum_of(float_infinity, -float_infinity, float_nan).count(), 3U);
}

TEST(SumState, ties_go_to_even) {
  EXPECT_EQ(sum_of(0x1p24F, 1.0F).to_float(), 0x1p24F);
  EXPECT_EQ(sum_of(0x1.000002p24F, 1.0F).to_float(), 0x1.000004p24F);
  EXPECT_EQ(sum_of(0x1p24F, 1.0F, 0x1p-149F).to_float(), 0x1.000002p24F);
  EXPECT_EQ(sum_of(0x1.000002p24F, 1.0F, -0x1p-149F).to_float(), 0x1.000002p24F);
  EXPECT_EQ(sum_of(-0x1p24F, -1.0F).to_float(), -0x1p24F);
  EXPECT_EQ(sum_of(-0x1p24F, -1.0F, -0x1p-149F).to_float(), -0x1.000002p24F);
  EXPECT_EQ(sum_of(0x1p53F, 1.0F).to_double(), 0x1p53);
  EXPECT_EQ(sum_of(0x1p53F, 1.0F, 0x1p-149F).to_double(), 0x1p53 + 2);
}

TEST(SumState, rounding_up_carries_into_the_exponent) {
  EXPECT_EQ(sum_of(0x1.fffffep0F, 0x1p-24F).to_float(), 2.0F);
  EXPECT_EQ(sum_of(0x1p53F, -0x1p-1F, 0x1p-2F, 0x1p-4F).to_double(), 0x1p53);
}

TEST(SumState, denormal_results) {
  EXPECT_EQ(bits_of(sum_of(0x1p-149F, 0x1p-149F).to_float()), 2U);
  EXPECT_EQ(bits_of(sum_of(0x1.fffffcp-127F, 0x1p-149F).to_float()), 0x00800000U);
  SumState state;
  state.add_product(0x1p-75F, 0x1p-75F);  // half of the smallest float32: a tie with zero
  EXPECT_EQ(bits_of(state.to_float()), 0U);
  EXPECT_EQ(state.to_double(), 0x1p-150);
  state.add_product(0x1p-149F, 0x1p-149F);
  EXPECT_EQ(bits_of(state.to_float()), 1U);
  SumState negative;
  negative.add_product(-0x1p-75F, 0x1p-75F);
  EXPECT_EQ(bits_of(negative.to_float()), 0x80000000U);
}

TEST(SumState, overflow_is_rounded_once) {
  EXPECT_EQ(sum_of(float_max, float_max).to_float(), float_infinity);
  EXPECT_EQ(sum_of(float_max, float_max).to_double(), 2 * double{float_max});
  EXPECT_EQ(sum_of(-float_max, -float_max).to_float(), -float_infinity);
  // Half of the last place above the largest number is the first sum that overflows.
  EXPECT_EQ(sum_of(float_max, 0x1p103F).to_float(), float_infinity);
  EXPECT_EQ(sum_of(float_max, 0x1p103F, -0x1p-149F).to_float(), float_max);
}

TEST(SumState, products_keep_all_bits) {
  SumState state;
  state.add_product(0x1.fffffep0F, 0x1.fffffep0F);
  EXPECT_EQ(state.to_double(), 0x1.fffffep0 * 0x1.fffffep0);
  state.add_product(float_max, -float_max);
  EXPECT_EQ(state.to_float(), -float_infinity);
  state.add_product(float_max, float_max);
  EXPECT_EQ(state.to_double(), 0x1.fffffep0 * 0x1.fffffep0);
  SumState special;
  special.add_product(float_infinity, -2.0F);
  EXPECT_EQ(special.to_float(), -float_infinity);
  special.add_product(0.0F, float_infinity);
  EXPECT_EQ(bits_of(special.to_float()), 0x7fc00000U);
}

TEST(SumState, integers_are_exact) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sum_of(most).to_integer(), most);
  EXPECT_EQ(sum_of(most).to_double(), 0x1p64);
  EXPECT_EQ(static_cast<std::int64_t>(sum_of(least).to_integer()), least);
  EXPECT_EQ(static_cast<std::int64_t>(sum_of(least, std::int64_t{1}, std::uint32_t{5}).to_integer()), least + 6);
  EXPECT_EQ(sum_of(most, std::uint64_t{1}).to_integer(), 0U);  // modulo 2^64
  EXPECT_EQ(sum_of(most, std::uint64_t{1}).to_double(), 0x1p64);
  EXPECT_EQ(static_cast<std::int32_t>(sum_of(2147483647, 1).to_integer()), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(static_cast<std::int64_t>(sum_of(-1.5F).to_integer()), -2);  // towards minus infinity
  SumState squares;
  squares.add_square(std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(squares.to_integer(), std::uint64_t{1} << 62);
  squares.add_square(std::numeric_limits<std::uint32_t>::max());
  EXPECT_EQ(squares.to_integer(), 0xfffffffe00000001U + (std::uint64_t{1} << 62));
}

// Doubling a state 64 times stands for 2^64 equal terms.
template <class State>
State doubled_64_times(State state) {
  for (int i = 0; i < 64; ++i) state.merge(State(state));
  return state;
}

TEST(SumState, holds_two_to_the_64_terms) {
  SumState products;
  products.add_product(float_max, float_max);
  EXPECT_EQ(doubled_64_times(products).to_double(), double{float_max} * double{float_max} * 0x1p64);
  SumState negative;
  negative.add_product(-float_max, float_max);
  EXPECT_EQ(doubled_64_times(negative).to_double(), -double{float_max} * double{float_max} * 0x1p64);
  EXPECT_EQ(doubled_64_times(sum_of(std::numeric_limits<std::int64_t>::min())).to_double(), -0x1p127);
  WideSumState wide;
  wide.add(-double_max);
  WideSumState cancelled = doubled_64_times(wide);
  EXPECT_EQ(cancelled.to_double(), -std::numeric_limits<double>::infinity());
  WideSumState opposite;
  opposite.add(double_max);
  cancelled.merge(doubled_64_times(opposite));
  EXPECT_EQ(bits_of(cancelled.to_double()), 0U);
  WideSquareSumState square;
  square.add_square(double_max);
  square = doubled_64_times(square);
  EXPECT_EQ(square.limbs().back() >> 31, 0U);
  EXPECT_EQ(square.count(), 0U);  // 2^64, modulo 2^64
}

TEST(SumState, random_floats_match_the_reference) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const Spread spread : {Spread::finite, Spread::moderate, Spread::with_special}) {
      const std::size_t count = 1 + seed % 50;
      const std::vector<float> values = test::random_values<float>(count, seed, spread);
      SumState sum;
      SumState products;
      WideSumState wide;
      reference::ExactSum expected_sum;
      reference::ExactSum expected_products;
      for (std::size_t i = 0; i < count; ++i) {
        sum.add(values[i]);
        wide.add(values[i]);
        products.add_product(values[i], values[count - 1 - i]);
        expected_sum.add(double{values[i]});
        expected_products.add_product(double{values[i]}, double{values[count - 1 - i]});
      }
      expect_same(sum, expected_sum);
      expect_same(wide, expected_sum);
      expect_same(products, expected_products);
    }
  }
}

// Sums that almost cancel, so that the rounding position moves through all exponents, denormal ones included.
TEST(SumState, random_cancellation_matches_the_reference) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    RandomBits random(seed);
    SumState state;
    reference::ExactSum expected;
    for (int i = 0; i < 6; ++i) {
      const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()) & 0xbfffffffU);
      const auto b = std::bit_cast<float>(static_cast<std::uint32_t>(random.next()) & 0x9fffffffU);
      state.add_product(a, b);
      expected.add_product(double{a}, double{b});
      if (random.below(2) != 0) continue;
      state.add_product(-a, std::nextafter(b, 0.0F));
      expected.add_product(-double{a}, double{std::nextafter(b, 0.0F)});
    }
    expect_same(state, expected);
  }
}

TEST(SumState, every_pair_of_special_values_matches_the_reference) {
  const std::vector<float> values = test::special_values<float>();
  for (const float a : values) {
    for (const float b : values) {
      SumState state = sum_of(a, b);
      reference::ExactSum expected;
      expected.add(double{a});
      expected.add(double{b});
      expect_same(state, expected);
      state.add_product(a, b);
      expected.add_product(double{a}, double{b});
      expect_same(state, expected);
    }
  }
}

TEST(SumState, mixed_integers_match_the_reference) {
  const std::vector<std::int64_t> signed_values = test::random_values<std::int64_t>(500, 3, Spread::all_bits);
  const std::vector<std::uint64_t> unsigned_values = test::random_values<std::uint64_t>(500, 4, Spread::all_bits);
  SumState state;
  WideSumState wide;
  reference::ExactSum expected;
  for (std::size_t i = 0; i < signed_values.size(); ++i) {
    state.add(signed_values[i]);
    state.add(unsigned_values[i]);
    wide.add(signed_values[i]);
    wide.add(unsigned_values[i]);
    expected.add_integer(signed_values[i]);
    expected.add_integer(unsigned_values[i]);
    expect_same(state, expected);
    expect_same(wide, expected);
    ASSERT_EQ(state.to_integer(), expected.to_integer());
  }
}

TEST(SumState, partition_and_order_leave_the_bits_alone) {
  const std::vector<float> values = test::random_values<float>(5000, 11, Spread::finite);
  SumState whole;
  for (const float value : values) whole.add(value);
  for (const test::Partition& partition : test::standard_partitions(values.size(), 5)) {
    SCOPED_TRACE(partition.name);
    SumState forward;
    SumState backward;
    for (const auto chunk : reference::split<float>(values, partition)) {
      SumState part;
      for (const float value : chunk) part.add(value);
      forward.merge(part);
      part.merge(backward);
      backward = part;
    }
    EXPECT_EQ(forward, whole);
    EXPECT_EQ(backward, whole);
    EXPECT_EQ(forward.bytes(), whole.bytes());
  }
}

TEST(SumState, merge_is_associative_and_commutative) {
  std::array<SumState, 3> parts = {sum_of(1e38F, -3.5F), sum_of(-1e38F, float_infinity), sum_of(std::uint64_t{7})};
  SumState left = parts[0];
  left.merge(parts[1]);
  left.merge(parts[2]);
  SumState right = parts[1];
  right.merge(parts[2]);
  right.merge(parts[0]);
  EXPECT_EQ(left, right);
  EXPECT_EQ(left.count(), 5U);
  EXPECT_FALSE(left.is_finite());
  left.merge(left);
  EXPECT_EQ(left.count(), 10U);
}

TEST(SumState, bytes_have_the_device_layout) {
  SumState state = sum_of(-0x1p-149F, float_infinity);
  const SumState::Bytes bytes = state.bytes();
  std::array<std::uint32_t, 24> words = std::bit_cast<std::array<std::uint32_t, 24>>(bytes);
  EXPECT_EQ(words[4], std::uint32_t{1} + ~(std::uint32_t{1} << 21));  // -2^149 in units of 2^-298
  EXPECT_EQ(words[3], 0U);
  for (std::size_t i = 5; i < 20; ++i) EXPECT_EQ(words[i], 0xffffffffU);
  EXPECT_EQ(words[20], 2U);
  EXPECT_EQ(words[21], 0U);
  EXPECT_EQ(words[22], 2U);
  EXPECT_EQ(words[23], 0U);
  EXPECT_EQ(SumState::from_bytes(bytes), state);
  EXPECT_EQ(SumState::byte_size, 96U);
  EXPECT_EQ(WideSumState::byte_size, 288U);
  EXPECT_EQ(WideSquareSumState::byte_size, 552U);
}

TEST(SumState, wrong_bytes_are_rejected) {
  SumState::Bytes bytes = SumState().bytes();
  const auto code_of = [](auto&& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of([&] { SumState::from_bytes(std::span(bytes).first(95)); }), ErrorCode::length_mismatch);
  EXPECT_EQ(code_of([&] { WideSumState::from_bytes(bytes); }), ErrorCode::length_mismatch);
  bytes[80] = std::byte{8};
  EXPECT_EQ(code_of([&] { SumState::from_bytes(bytes); }), ErrorCode::invalid_argument);
}

TEST(WideSumState, random_doubles_match_the_reference) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const Spread spread : {Spread::finite, Spread::moderate, Spread::with_special}) {
      WideSumState sum;
      WideSquareSumState squares;
      reference::ExactSum expected_sum;
      reference::ExactSum expected_squares;
      for (const double value : test::random_values<double>(1 + seed % 40, seed, spread)) {
        sum.add(value);
        squares.add_square(value);
        expected_sum.add(value);
        expected_squares.add_square(value);
      }
      expect_same(sum, expected_sum);
      expect_same(squares, expected_squares);
    }
  }
}

TEST(WideSumState, extremes) {
  WideSumState state;
  state.add(double_max);
  state.add(0x1p970);  // half of the last place of the largest number
  EXPECT_EQ(state.to_double(), std::numeric_limits<double>::infinity());
  state.add(-0x1p-1074);
  EXPECT_EQ(state.to_double(), double_max);
  state.add(-double_max);
  state.add(-0x1p970);
  EXPECT_EQ(state.to_double(), -0x1p-1074);
  EXPECT_EQ(bits_of(state.to_float()), 0x80000000U);
}

TEST(Mean, is_rounded_once) {
  EXPECT_EQ(mean(SumState(), 0), 0.0);
  EXPECT_EQ(mean(sum_of(1.0F, 1.0F, -1.0F), 3), 1.0 / 3.0);
  EXPECT_EQ(mean(sum_of(-1.0F), 3), -1.0 / 3.0);
  EXPECT_EQ(mean(sum_of(float_infinity), 3), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(mean(sum_of(float_nan), 1)));
  EXPECT_EQ(mean(sum_of(std::numeric_limits<std::uint64_t>::max()), std::numeric_limits<std::uint64_t>::max()), 1.0);
  WideSumState tiny;
  tiny.add(0x1p-1074);
  EXPECT_EQ(bits_of(mean(tiny, 2)), 0U);  // a tie with zero
  tiny.add(0x1p-1074);
  tiny.add(0x1p-1074);
  EXPECT_EQ(bits_of(mean(tiny, 2)), 2U);  // 1.5 goes to even
  WideSumState large;
  large.add(double_max);
  large.add(double_max);
  EXPECT_EQ(mean(large, 2), double_max);
}

TEST(PopulationDeviation, known_values) {
  SumState sum;
  SumState squares;
  for (const int value : {2, 4, 4, 4, 5, 5, 7, 9}) {
    sum.add(value);
    squares.add_square(value);
  }
  EXPECT_EQ(mean(sum, 8), 5.0);
  EXPECT_EQ(population_deviation(sum, squares, 8), 2.0);
  EXPECT_EQ(population_deviation(SumState(), SumState(), 0), 0.0);
  EXPECT_EQ(population_deviation(SumState(), SumState(), 5), 0.0);
}

TEST(PopulationDeviation, cancellation_loses_nothing) {
  SumState sum;
  SumState squares;
  for (const float value : {16777216.0F, 16777214.0F, 16777215.0F, 16777215.0F}) {
    sum.add(value);
    squares.add_square(value);
  }
  EXPECT_EQ(population_deviation(sum, squares, 4), std::sqrt(0.5));
  WideSumState wide;
  WideSquareSumState wide_squares;
  for (const double value : {1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3}) {
    wide.add(value);
    wide_squares.add_square(value);
  }
  EXPECT_EQ(population_deviation(wide, wide_squares, 4), std::sqrt(1.25));
}

TEST(PopulationDeviation, extremes) {
  WideSumState sum;
  WideSquareSumState squares;
  for (const double value : {double_max, -double_max}) {
    sum.add(value);
    squares.add_square(value);
  }
  EXPECT_EQ(population_deviation(sum, squares, 2), double_max);
  WideSumState tiny;
  WideSquareSumState tiny_squares;
  for (const double value : {0x1p-1074, -0x1p-1074}) {
    tiny.add(value);
    tiny_squares.add_square(value);
  }
  EXPECT_EQ(population_deviation(tiny, tiny_squares, 2), 0x1p-1074);
}

TEST(PopulationDeviation, terms_that_are_not_finite_and_states_that_do_not_belong_together) {
  SumState sum = sum_of(1.0F, float_infinity);
  SumState squares;
  squares.add_square(1.0F);
  squares.add_square(float_infinity);
  EXPECT_TRUE(std::isnan(population_deviation(sum, squares, 2)));
  EXPECT_THROW(population_deviation(sum_of(10.0F), sum_of(1.0F), 1), Error);
  EXPECT_THROW(population_deviation(sum_of(1.0F), sum_of(-1.0F), 1), Error);
}

template <class T, class Sum, class Squares>
void expect_statistics(const std::vector<T>& values) {
  Sum sum;
  Squares squares;
  for (const T value : values) {
    sum.add(value);
    squares.add_square(value);
  }
  const auto expected = reference::statistics<T>(values);
  EXPECT_EQ(bits_of(mean(sum, values.size())), bits_of(expected.mean));
  const double deviation = population_deviation(sum, squares, values.size());
  const double one_place = std::nextafter(deviation, std::numeric_limits<double>::infinity()) - deviation;
  EXPECT_LE(std::fabs(deviation - expected.population_deviation), one_place);
}

TEST(PopulationDeviation, random_values_match_the_reference) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::size_t count = 1 + 7 * seed;
    for (const Spread spread : {Spread::finite, Spread::moderate}) {
      expect_statistics<float, SumState, SumState>(test::random_values<float>(count, seed, spread));
      expect_statistics<double, WideSumState, WideSquareSumState>(test::random_values<double>(count, seed, spread));
      expect_statistics<std::uint32_t, SumState, SumState>(test::random_values<std::uint32_t>(count, seed, spread));
      expect_statistics<std::int32_t, SumState, SumState>(test::random_values<std::int32_t>(count, seed, spread));
    }
  }
}

}  // namespace
}  // namespace tessera
