#include "operand/histogram_edges.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "reference/histogram.hpp"
#include "support/random_data.hpp"

namespace tessera {
namespace {

constexpr float float_max = std::numeric_limits<float>::max();

TEST(HistogramEdges, known_values) {
  EXPECT_EQ(detail::uniform_edges(0, 1, 4), (std::vector<float>{0, 0.25F, 0.5F, 0.75F, 1}));
  EXPECT_EQ(detail::uniform_edges(0, 1, 3), (std::vector<float>{0, 0x1.555556p-2F, 0x1.555556p-1F, 1}));
  EXPECT_EQ(detail::uniform_edges(-1, 1, 2), (std::vector<float>{-1, 0, 1}));
  EXPECT_EQ(detail::uniform_edges(-float_max, float_max, 2), (std::vector<float>{-float_max, 0, float_max}));
  EXPECT_EQ(detail::uniform_edges(7, 7, 2), (std::vector<float>{7, 7, 7}));
  // 0.5 and 1.5 of the smallest denormal are ties: to 0 and to 2.
  EXPECT_EQ(detail::uniform_edges(0, 0x1p-149F, 2), (std::vector<float>{0, 0, 0x1p-149F}));
  EXPECT_EQ(detail::uniform_edges(0x1p-149F, 0x1p-148F, 2), (std::vector<float>{0x1p-149F, 0x1p-148F, 0x1p-148F}));
}

TEST(HistogramEdges, special_domains_match_the_reference) {
  const std::vector<float> bounds = test::finite_special_values<float>();
  for (const float lo : bounds) {
    for (const float hi : bounds) {
      if (!(lo <= hi)) continue;
      for (const std::uint32_t bins : {1U, 2U, 3U, 7U}) {
        ASSERT_EQ(detail::uniform_edges(lo, hi, bins), reference::uniform_edges(lo, hi, bins))
            << lo << " to " << hi << ", " << bins << " bins";
      }
    }
  }
}

TEST(HistogramEdges, random_domains_match_the_reference) {
  const std::vector<float> bounds = test::random_values<float>(400, 17, test::Spread::finite);
  test::RandomBits random(23);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const auto [lo, hi] = std::minmax(bounds[i], bounds[i + 1]);
    const auto bins = static_cast<std::uint32_t>(1 + random.below(300));
    const std::vector<float> edges = detail::uniform_edges(lo, hi, bins);
    ASSERT_EQ(edges, reference::uniform_edges(lo, hi, bins)) << lo << " to " << hi << ", " << bins << " bins";
    EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
  }
}

}  // namespace
}  // namespace tessera
