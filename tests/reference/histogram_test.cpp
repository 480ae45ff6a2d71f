#include "reference/histogram.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

// The references against the contracts' worked examples.
namespace tessera::reference {
namespace {

using Words = std::vector<std::uint32_t>;
using Counts = std::vector<std::uint64_t>;
using Floats = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(ReferenceHistogram, integers) {
  const Words values = {9, 10, 19, 20, 29, 30, 39, 40, 49, 50, 51};
  EXPECT_EQ(histogram<std::uint32_t>(values, 10, 50, 4), (Counts{2, 2, 2, 3}));
  EXPECT_EQ(histogram<std::uint32_t>(Words{0, 1, 2, 3, 4, 5, 6, 7}, 0, 7, 3), (Counts{3, 2, 3}));
  EXPECT_EQ(histogram<std::uint32_t>(Words{16777216, 16777217, 16777218}, 16777216, 16777218, 2), (Counts{1, 2}));
  constexpr auto least = std::numeric_limits<std::int32_t>::min();
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(histogram<std::int32_t>(std::vector<std::int32_t>{least, -1, most}, least, most, 2), (Counts{2, 1}));
  EXPECT_EQ(histogram<std::uint32_t>(values, 50, 10, 2), (Counts{0, 0}));
  EXPECT_EQ(histogram<std::uint32_t>(values, 50, 50, 2), (Counts{1, 0}));
}

TEST(ReferenceHistogram, floats) {
  EXPECT_EQ(histogram<float>(Floats{0, 0.2F, 0.25F, 0.74F, 0.75F, 1, 1.5F}, 0, 1, 4), (Counts{2, 1, 1, 2}));
  EXPECT_EQ(histogram<float>(Floats{-5, 0, 10, nan}, 0, 10, 2), (Counts{1, 1}));
  EXPECT_EQ(histogram<float>(Floats{7, 7, 7}, 7, 7, 3), (Counts{3, 0, 0}));
  EXPECT_EQ(histogram<float>(Floats{1, 2}, nan, 3, 2), (Counts{0, 0}));
  EXPECT_EQ(histogram<float>(Floats{1, 2, infinity}, 0, infinity, 2), (Counts{0, 0}));
}

TEST(ReferenceHistogram, explicit_edges) {
  const Floats edges = {0, 2, 2.5F, 8};
  const Floats values = {-0.1F, 0, 1.9F, 2, 2.49F, 2.5F, 7.9F, 8, 8.1F};
  EXPECT_EQ(histogram<float>(values, std::span<const float>(edges)), (Counts{2, 2, 3}));
  EXPECT_EQ(histogram<float>(values, std::span<const float>(Floats{0, 2, 2, 8})), (Counts{0, 0, 0}));
  EXPECT_EQ(histogram<float>(values, std::span<const float>(Floats{0, nan, 8})), (Counts{0, 0}));
}

TEST(ReferenceHistogram, automatic_domain_ignores_the_mask_but_not_the_validity) {
  const Words values = {2, 4, 10, 6};
  const Words words = {1, 1, 0, 1};
  const auto domain = automatic_domain<std::uint32_t>(values, {.mask = words});
  EXPECT_EQ(domain, (std::array<std::uint32_t, 2>{2, 10}));
  EXPECT_EQ(histogram<std::uint32_t>(values, domain[0], domain[1], 4, {.mask = words}), (Counts{1, 1, 1, 0}));
  EXPECT_EQ(automatic_domain<std::uint32_t>(values, {.validity = words}), (std::array<std::uint32_t, 2>{2, 6}));
}

}  // namespace
}  // namespace tessera::reference
