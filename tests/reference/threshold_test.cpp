#include "reference/threshold.hpp"

#include <limits>

#include <gtest/gtest.h>

// The references against the contracts' worked examples.
namespace tessera::reference {
namespace {

TEST(ReferenceThreshold, examples) {
  const std::vector<float> samples = {0, .25F, .5F, .75F, 1};
  const Pixels pixels = calibrated<float>({.samples = samples});
  using enum ThresholdOperation;
  EXPECT_EQ(threshold(pixels, above, true, .5F), (std::vector<float>{0, 0, 1, 1, 1}));
  EXPECT_EQ(threshold(pixels, above, false, .5F), (std::vector<float>{0, 0, 0, 1, 1}));
  EXPECT_EQ(threshold(pixels, below, true, .5F), (std::vector<float>{1, 1, 1, 0, 0}));
  EXPECT_EQ(threshold(pixels, range, true, .25F, .75F), (std::vector<float>{0, 1, 1, 1, 0}));
  EXPECT_EQ(threshold(pixels, range, false, .25F, .75F), (std::vector<float>{0, 0, 1, 0, 0}));
}

TEST(ReferenceOtsu, examples) {
  const auto of = [](const std::vector<std::uint64_t>& counts, float low, float high) {
    return otsu_threshold(counts, low, high);
  };
  EXPECT_EQ(of({4, 0, 0, 4}, 0, 8), 2.0F);
  EXPECT_EQ(of({3, 1, 0, 2}, 0, 4), 2.0F);
  EXPECT_EQ(of({1, 2, 6, 1, 0, 4}, -3, 3), 1.0F);
  EXPECT_EQ(of({5}, 2, 3), 2.0F);
  EXPECT_EQ(of({0, 3, 0}, 1, 4), 1.0F);
  EXPECT_EQ(of({16777216, 1}, 0, 1), 0.5F);
  EXPECT_EQ(of({0, 0}, 5, 6), 0.0F);
}

TEST(ReferenceMissingCounts, the_first_reason_counts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> samples = {1, nan, -9999, 2, -9999, nan};
  const std::vector<std::uint32_t> mask = {1, 0, 1, 1, 0, 1};
  const std::vector<std::uint32_t> quality = {1, 1, 0, 0, 0, 0};
  using Counts = std::array<std::uint32_t, 5>;
  EXPECT_EQ(missing_counts<float>({.samples = samples, .mask = mask, .no_data = -9999.0F}, quality),
            (Counts{1, 2, 1, 1, 1}));
  EXPECT_EQ(missing_counts<float>({.samples = samples, .no_data = nan}), (Counts{4, 0, 2, 0, 0}));
}

}  // namespace
}  // namespace tessera::reference
