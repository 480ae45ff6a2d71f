#include <tessera/raster/no_data.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace tessera::raster {
namespace {

using Kind = NoData::Kind;

template <typename Sample>
bool matches(const NoData& no_data, Sample sample) {
  // Samples inside a row of bytes need not be aligned.
  char bytes[sizeof(Sample) + 1];
  std::memcpy(bytes + 1, &sample, sizeof(Sample));
  return no_data.matches(bytes + 1);
}

TEST(NoData, integers_match_exactly_in_their_own_type) {
  EXPECT_TRUE(matches(NoData::of(SampleType::uint8, 255.0), std::uint8_t{255}));
  EXPECT_FALSE(matches(NoData::of(SampleType::uint8, 255.0), std::uint8_t{254}));
  EXPECT_TRUE(matches(NoData::of(SampleType::sint16, -32768.0), std::int16_t{-32768}));
  EXPECT_TRUE(matches(NoData::of(SampleType::sint8, -1.0), std::int8_t{-1}));
  EXPECT_TRUE(matches(NoData::of(SampleType::sint32, 2147483647.0), std::int32_t{2147483647}));
  EXPECT_FALSE(matches(NoData::of(SampleType::sint32, 2147483647.0), std::int32_t{2147483646}));
  EXPECT_TRUE(matches(NoData::of(SampleType::uint32, 4294967295.0), std::uint32_t{4294967295}));
  // Equal as float32, different as integers.
  EXPECT_FALSE(matches(NoData::of(SampleType::uint32, 16777216.0), std::uint32_t{16777217}));
}

TEST(NoData, sixty_four_bits_keep_the_last_digit) {
  constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_TRUE(matches(NoData::of_signed(SampleType::sint64, lowest), lowest));
  EXPECT_FALSE(matches(NoData::of_signed(SampleType::sint64, lowest), lowest + 1));
  EXPECT_TRUE(matches(NoData::of_unsigned(SampleType::uint64, highest), highest));
  EXPECT_FALSE(matches(NoData::of_unsigned(SampleType::uint64, highest), highest - 1));
  EXPECT_EQ(NoData::of_unsigned(SampleType::uint64, highest).text(), "18446744073709551615");
  EXPECT_EQ(NoData::of_signed(SampleType::sint64, lowest).text(), "-9223372036854775808");
}

TEST(NoData, values_outside_the_type_match_nothing_but_are_remembered) {
  for (const double value : {-1.0, -9999.0, 256.0, 3.5, 1e300, std::nan("")}) {
    const NoData no_data = NoData::of(SampleType::uint8, value);
    EXPECT_EQ(no_data.kind(), Kind::unmatchable) << value;
    EXPECT_FALSE(no_data.needs_comparison());
    for (int sample = 0; sample < 256; ++sample) {
      EXPECT_FALSE(matches(no_data, static_cast<std::uint8_t>(sample)));
    }
  }
  EXPECT_EQ(NoData::of(SampleType::uint8, -9999.0).text(), "-9999");
  EXPECT_EQ(NoData::of(SampleType::uint8, std::nan("")).text(), "nan");
  EXPECT_EQ(NoData::of(SampleType::sint16, 32768.0).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of(SampleType::sint16, -32769.0).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of(SampleType::sint64, 9223372036854775808.0).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of(SampleType::uint64, 18446744073709551616.0).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of_signed(SampleType::uint64, -1).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of_unsigned(SampleType::sint64, std::uint64_t{1} << 63).kind(), Kind::unmatchable);
}

TEST(NoData, floats_compare_in_the_type_of_the_band) {
  constexpr float lowest = std::numeric_limits<float>::lowest();
  for (const double declared : {-3.4028234663852886e+38, -3.4028235e+38, -3.402823466e+38}) {
    EXPECT_TRUE(matches(NoData::of(SampleType::float32, declared), lowest)) << declared;
  }
  EXPECT_FALSE(matches(NoData::of(SampleType::float32, -3.4028234663852886e+38), std::nextafter(lowest, 0.0f)));
  EXPECT_TRUE(matches(NoData::of(SampleType::float32, 0.1), 0.1f));
  EXPECT_FALSE(matches(NoData::of(SampleType::float64, 0.1), static_cast<double>(0.1f)));
  EXPECT_TRUE(matches(NoData::of(SampleType::float32, 0.0), -0.0f));
  EXPECT_TRUE(matches(NoData::of(SampleType::float64, -0.0), 0.0));
  EXPECT_EQ(NoData::of(SampleType::float32, -3.4028234663852886e+38).text(), "-3.4028235e+38");
}

TEST(NoData, infinity_and_nan) {
  EXPECT_EQ(NoData::of(SampleType::float32, 1e39).kind(), Kind::unmatchable);
  EXPECT_EQ(NoData::of(SampleType::float64, 1e39).kind(), Kind::floating);
  EXPECT_EQ(NoData::of(SampleType::float64, std::numeric_limits<double>::infinity()).kind(), Kind::unmatchable);
  const NoData nan = NoData::of(SampleType::float32, std::nan(""));
  EXPECT_EQ(nan.kind(), Kind::not_a_number);
  EXPECT_FALSE(nan.needs_comparison());
  EXPECT_EQ(nan.text(), "nan");
}

TEST(NoData, equality) {
  EXPECT_EQ(NoData(), NoData());
  EXPECT_EQ(NoData::of(SampleType::float32, std::nan("")), NoData::of(SampleType::float32, std::nan("")));
  EXPECT_FALSE(NoData::of(SampleType::float32, 0.0) == NoData::of(SampleType::float32, -0.0));
  EXPECT_FALSE(NoData::of(SampleType::uint8, 0.0) == NoData());
  EXPECT_FALSE(NoData::of(SampleType::uint8, 0.0) == NoData::of(SampleType::uint16, 0.0));
  EXPECT_EQ(NoData::of(SampleType::uint8, 7.0), NoData::of_unsigned(SampleType::uint8, 7));
}

}  // namespace
}  // namespace tessera::raster
