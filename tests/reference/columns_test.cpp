#include "reference/columns.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

// The references against the contracts' worked examples.
namespace tessera::reference {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(ReferenceScan, examples) {
  const Words values = {5, 0, 2, 9, 1};
  const Words flags = {0, 0, 1, 0, 7};
  EXPECT_EQ(scan(values, ScanMode::exclusive), (Words{0, 5, 5, 7, 16}));
  EXPECT_EQ(scan(values, ScanMode::inclusive), (Words{5, 5, 7, 16, 17}));
  EXPECT_EQ(scan(values, ScanMode::exclusive, flags), (Words{0, 5, 0, 2, 0}));
  EXPECT_EQ(scan(values, ScanMode::inclusive, flags), (Words{5, 5, 2, 11, 1}));
  EXPECT_EQ(scan(Words{0xfffffffe, 3, 5}, ScanMode::inclusive), (Words{4294967294, 1, 6}));
  EXPECT_EQ(scan(values, ScanMode::inclusive, {}, Words{1, 1, 0, 1, 1}), (Words{5, 5, 5, 14, 15}));
  EXPECT_TRUE(scan(Words{}, ScanMode::inclusive).empty());
}

TEST(ReferenceElementwise, integers_wrap) {
  const Words a = {4294967295, 7};
  EXPECT_EQ(elementwise<std::uint32_t>(ElementwiseOperation::add, a, Words{1, 5}), (Words{0, 12}));
  const std::vector<std::int32_t> least = {std::numeric_limits<std::int32_t>::min()};
  const std::vector<std::int32_t> one = {1};
  EXPECT_EQ(elementwise<std::int32_t>(ElementwiseOperation::subtract, least, one),
            (std::vector<std::int32_t>{2147483647}));
  EXPECT_EQ(elementwise<std::int32_t>(ElementwiseOperation::multiply, least, least), (std::vector<std::int32_t>{0}));
  EXPECT_EQ(elementwise<std::uint32_t>(ElementwiseOperation::multiply_add, Words{1, 2}, Words{3, 4}, Words{5, 6}),
            (Words{8, 14}));
}

TEST(ReferenceElementwise, float_minimum_and_maximum) {
  const std::vector<float> a = {-0.0F, 0.0F, nan, 2.0F, nan, -infinity};
  const std::vector<float> b = {0.0F, -0.0F, 1.0F, nan, nan, 1.0F};
  const auto low = elementwise<float>(ElementwiseOperation::minimum, a, b);
  const auto high = elementwise<float>(ElementwiseOperation::maximum, a, b);
  EXPECT_EQ(bits_of(low[0]), 0x80000000U);
  EXPECT_EQ(bits_of(low[1]), 0x80000000U);
  EXPECT_EQ(bits_of(high[0]), 0U);
  EXPECT_EQ(bits_of(high[1]), 0U);
  EXPECT_EQ(low[2], 1.0F);
  EXPECT_EQ(high[3], 2.0F);
  EXPECT_TRUE(low[4] != low[4]);
  EXPECT_EQ(low[5], -infinity);
  // Two roundings: the product alone is 1 + 2^-11 + 2^-24, a tie.
  const std::vector<float> x = {1.0F + 0x1p-12F};
  EXPECT_EQ(elementwise<float>(ElementwiseOperation::multiply_add, x, x, std::vector<float>{-1.0F})[0], 0x1p-11F);
}

TEST(ReferenceMask, examples) {
  const Words a = {0, 3, 0, 1};
  const Words b = {9, 0, 0, 1};
  const std::vector<std::span<const std::uint32_t>> both = {a, b};
  EXPECT_EQ(combine_masks(MaskOperation::conjunction, both), (Words{0, 0, 0, 1}));
  EXPECT_EQ(combine_masks(MaskOperation::disjunction, both), (Words{1, 1, 0, 1}));
  EXPECT_EQ(combine_masks(MaskOperation::exclusive_disjunction, both), (Words{1, 1, 0, 0}));
  EXPECT_EQ(combine_masks(MaskOperation::difference, both), (Words{0, 1, 0, 0}));
  const std::vector<std::span<const std::uint32_t>> first = {a};
  EXPECT_EQ(combine_masks(MaskOperation::negation, first), (Words{1, 0, 1, 0}));
  EXPECT_EQ(combine_masks(MaskOperation::difference, first), (Words{0, 1, 0, 1}));
}

TEST(ReferenceReduction, examples) {
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::sum, Words{4294967290, 10}), (Words{4}));
  EXPECT_EQ(reduce<std::int32_t>(ReductionOperation::sum, std::vector<std::int32_t>{2147483647, 1}),
            (std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()}));
  EXPECT_EQ(reduce<float>(ReductionOperation::extent, std::vector<float>{nan, -0.5F, infinity, 3}),
            (std::vector<float>{-0.5F, 3}));
  const Words values = {9, 5, 7};
  const Words mask = {0, 1, 2};
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::minimum, values, {.mask = mask}), (Words{5}));
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::maximum, values, {.mask = mask}), (Words{7}));
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::sum, values, {.mask = mask}), (Words{12}));
  const Words none = {0, 0, 0};
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::extent, values, {.mask = none}), (Words{0, 0}));
  EXPECT_EQ(reduce<std::uint32_t>(ReductionOperation::sum, values, {.validity = none}), (Words{0}));
}

TEST(ReferenceReduction, float_sums_filter_only_with_a_mask_or_validity) {
  const std::vector<float> values = {1, nan, 2, infinity};
  const Words all = {1, 1, 1, 1};
  EXPECT_EQ(bits_of(reduce<float>(ReductionOperation::sum, values)[0]), 0x7fc00000U);
  EXPECT_EQ(reduce<float>(ReductionOperation::sum, values, {.mask = all})[0], 3.0F);
  EXPECT_EQ(reduce<float>(ReductionOperation::sum, values, {.validity = all})[0], 3.0F);
  EXPECT_EQ(reduce<float>(ReductionOperation::sum, std::vector<float>{infinity, 1})[0], infinity);
  EXPECT_EQ(bits_of(reduce<float>(ReductionOperation::extent, std::vector<float>{0.0F, -0.0F})[0]), 0x80000000U);
}

}  // namespace
}  // namespace tessera::reference
