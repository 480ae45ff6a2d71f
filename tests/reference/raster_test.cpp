#include "reference/raster.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "reference/statistics.hpp"

// The references against the contracts' worked examples.
namespace tessera::reference {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(ReferenceBand, nodata_is_compared_before_calibration) {
  const Words samples = {0, 10000, 65535};
  const Pixels pixels = calibrated<std::uint32_t>({.samples = samples, .no_data = 65535, .scale = 1e-4F, .offset = -1});
  EXPECT_EQ(pixels.validity, (Words{1, 1, 0}));
  EXPECT_EQ(pixels.values[0], -1.0F);
  EXPECT_NEAR(pixels.values[1], 0.0F, 1e-7F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(pixels.values[2]), 0x7fc00000U);
}

TEST(ReferenceBand, float_rules) {
  const std::vector<float> samples = {-0.0F, 3e38F, nan, -infinity, 5.0F};
  const Words mask = {1, 1, 1, 1, 0};
  EXPECT_EQ(raw_validity<float>({.samples = samples, .mask = mask, .no_data = 0.0F}), (Words{0, 1, 0, 0, 0}));
  EXPECT_EQ(raw_validity<float>({.samples = samples, .no_data = nan}), (Words{1, 1, 0, 0, 1}));
  EXPECT_EQ(calibrated<float>({.samples = samples, .scale = 2}).validity, (Words{1, 0, 0, 0, 1}));
  const std::vector<double> wide = {1e300, 1.0};
  EXPECT_EQ(raw_validity<double>({.samples = wide}), (Words{1, 1}));
  EXPECT_EQ(calibrated<double>({.samples = wide}).validity, (Words{0, 1}));
}

TEST(ReferenceNdvi, examples) {
  const Words red_samples = {2000, 65535, 0, 3000};
  const Words near_infrared_samples = {6000, 5000, 0, 3000};
  const Pixels red = calibrated<std::uint32_t>({.samples = red_samples, .no_data = 65535, .scale = 1e-4F});
  const Pixels near_infrared =
      calibrated<std::uint32_t>({.samples = near_infrared_samples, .no_data = 65535, .scale = 1e-4F});
  const Pixels result = ndvi(red, near_infrared);
  EXPECT_EQ(result.validity, (Words{1, 0, 0, 1}));
  EXPECT_NEAR(result.values[0], 0.5F, 1e-7F);
  EXPECT_EQ(result.values[3], 0.0F);
  EXPECT_NEAR(ndvi_in_double(red, near_infrared)[0], 0.5, 1e-7);
}

TEST(ReferenceNdvi, limits) {
  // Negative reflectance leaves [-1, 1]; epsilon itself is rejected; an overflowing sum too, before clamping.
  const Pixels red{{-0.1F, -1.0F, 3e38F}, {1, 1, 1}};
  const Pixels near_infrared{{0.3F, 2.0F, 3e38F}, {1, 1, 1}};
  EXPECT_NEAR(ndvi(red, near_infrared).values[0], 2.0F, 1e-6F);
  const Pixels clamped = ndvi(red, near_infrared, {.epsilon = 1, .clamp = NdviOptions::Clamp{-1, 1}});
  EXPECT_EQ(clamped.validity, (Words{0, 0, 0}));
  EXPECT_EQ(ndvi(red, near_infrared, {.clamp = NdviOptions::Clamp{-1, 1}}).values[0], 1.0F);
  EXPECT_EQ(ndvi(red, near_infrared).validity, (Words{1, 1, 0}));
}

TEST(ReferenceStatistics, examples) {
  const std::vector<float> samples = {2, -9999, nan, 4, 6, 10};
  const Words mask = {1, 1, 1, 1, 0, 1};
  const Pixels pixels =
      calibrated<float>({.samples = samples, .mask = mask, .no_data = -9999.0F, .scale = 0.5F, .offset = 1});
  const auto result = statistics<float>(pixels.values, pixels.validity);
  EXPECT_EQ(result.count, 3U);
  EXPECT_EQ(result.sum.to_double(), 11.0);
  EXPECT_EQ(result.mean, 11.0 / 3.0);
  EXPECT_EQ(result.minimum, 2.0F);
  EXPECT_EQ(result.maximum, 6.0F);
  EXPECT_NEAR(result.population_deviation, 1.699673171197595, 1e-15);
  const auto none = statistics<float>(pixels.values, Words(6, 0));
  EXPECT_EQ(none.count, 0U);
  EXPECT_EQ(none.mean, 0.0);
  EXPECT_EQ(none.minimum, 0.0F);
  EXPECT_EQ(none.population_deviation, 0.0);
}

TEST(ReferenceStatistics, integer_extremes) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  const auto result = statistics<std::int64_t>(std::vector<std::int64_t>{least, least});
  EXPECT_EQ(result.mean, -0x1p63);
  EXPECT_EQ(result.population_deviation, 0.0);
  const auto bytes = statistics<std::uint8_t>(std::vector<std::uint8_t>{0, 255});
  EXPECT_EQ(bytes.sum.to_integer(), 255U);
  EXPECT_EQ(bytes.population_deviation, 127.5);
}

}  // namespace
}  // namespace tessera::reference
