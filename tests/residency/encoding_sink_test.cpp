#include <tessera/residency/encoding_sink.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/memory_raster.hpp"
#include "support/raster_reads.hpp"

namespace tessera::residency {
namespace {

using raster::BandInfo;
using raster::NoData;
using raster::SampleType;
using testing::code_of;
using testing::MemorySink;

constexpr float missing = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

BandInfo band_of(SampleType type, NoData no_data = {}) {
  BandInfo info;
  info.type = type;
  info.no_data = no_data;
  return info;
}

/// Writes one row of results into one band.
void write_row(EncodingSink& sink, const std::vector<float>& values) {
  const BandSamples samples{.band = 1, .samples = std::as_bytes(std::span(values))};
  sink.write({.window = {0, 0, static_cast<std::int64_t>(values.size()), 1}, .bands = {&samples, 1}});
}

template <class Sample>
std::vector<Sample> encoded(SampleType type, const std::vector<float>& values, std::uint64_t clamped,
                            NoData no_data = {}) {
  MemorySink inner({static_cast<std::int64_t>(values.size()), 1}, {band_of(type, no_data)});
  EncodingSink sink(inner);
  write_row(sink, values);
  EXPECT_EQ(sink.clamped(1), clamped);
  return inner.samples<Sample>(1);
}

TEST(EncodingSink, takes_float32_with_nan_for_missing) {
  MemorySink inner({4, 1}, {band_of(SampleType::uint8, NoData::of(SampleType::uint8, 255))});
  const EncodingSink sink(inner);
  ASSERT_EQ(sink.bands().size(), 1u);
  EXPECT_EQ(sink.bands()[0].type, SampleType::float32);
  EXPECT_EQ(sink.bands()[0].no_data.text(), "nan");
}

TEST(EncodingSink, rounds_halves_away_from_zero_and_clamps) {
  EXPECT_EQ((encoded<std::uint8_t>(
                SampleType::uint8,
                {0.0F, 0.5F, 0.49999997F, 1.5F, 254.5F, 255.49F, 255.5F, -0.4F, -0.5F, 1e9F, infinity}, 4)),
            (std::vector<std::uint8_t>{0, 1, 0, 2, 255, 255, 255, 0, 0, 255, 255}));
  EXPECT_EQ((encoded<std::int8_t>(SampleType::sint8, {-0.5F, -1.5F, -128.4F, -128.5F, 127.5F}, 2)),
            (std::vector<std::int8_t>{-1, -2, -128, -128, 127}));
  EXPECT_EQ((encoded<std::int16_t>(SampleType::sint16, {-2.5F, 2.5F, -40000.0F, 40000.0F}, 2)),
            (std::vector<std::int16_t>{-3, 3, -32768, 32767}));
  EXPECT_EQ((encoded<std::uint16_t>(SampleType::uint16, {65534.5F, 65536.0F}, 1)),
            (std::vector<std::uint16_t>{65535, 65535}));
  EXPECT_EQ((encoded<std::int32_t>(SampleType::sint32, {8388607.5F, -8388607.5F, 2147483648.0F, -2147483648.0F}, 1)),
            (std::vector<std::int32_t>{8388608, -8388608, 2147483647, -2147483647 - 1}));
  EXPECT_EQ((encoded<std::uint32_t>(SampleType::uint32, {4294967040.0F, 4294967296.0F, -1.0F}, 2)),
            (std::vector<std::uint32_t>{4294967040u, 4294967295u, 0u}));
  EXPECT_EQ((encoded<std::int64_t>(SampleType::sint64, {9223371487098961920.0F, 9223372036854775808.0F, -infinity}, 2)),
            (std::vector<std::int64_t>{9223371487098961920, std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::lowest()}));
  EXPECT_EQ((encoded<std::uint64_t>(SampleType::uint64, {1e18F, 2e19F}, 1)),
            (std::vector<std::uint64_t>{999999984306749440u, std::numeric_limits<std::uint64_t>::max()}));
}

TEST(EncodingSink, float_types_keep_values) {
  EXPECT_EQ((encoded<double>(SampleType::float64, {0.1F, -0.0F, infinity}, 0)),
            (std::vector<double>{0.10000000149011612, -0.0, std::numeric_limits<double>::infinity()}));
  const std::vector<float> same =
      encoded<float>(SampleType::float32, {0.1F, missing}, 0, NoData::of(SampleType::float32, -9999.0));
  EXPECT_EQ(same, (std::vector<float>{0.1F, -9999.0F}));
}

TEST(EncodingSink, missing_becomes_nodata_and_is_counted) {
  MemorySink inner({4, 1}, {band_of(SampleType::uint8, NoData::of(SampleType::uint8, 255))});
  EncodingSink sink(inner);
  write_row(sink, {missing, 0.0F, 1.0F, missing});
  sink.finish();
  EXPECT_TRUE(inner.finished());
  EXPECT_EQ(inner.samples<std::uint8_t>(1), (std::vector<std::uint8_t>{255, 0, 1, 255}));
  EXPECT_EQ(sink.missing(1), 2u);
  EXPECT_EQ(sink.collisions(1), 0u);
  EXPECT_FALSE(inner.got_validity());
}

TEST(EncodingSink, nan_as_nodata_stays) {
  const NoData nan = NoData::of(SampleType::float32, std::numeric_limits<double>::quiet_NaN());
  MemorySink inner({2, 1}, {band_of(SampleType::float32, nan)});
  EncodingSink sink(inner);
  write_row(sink, {missing, 2.0F});
  sink.finish();
  EXPECT_TRUE(std::isnan(inner.samples<float>(1)[0]));
  EXPECT_EQ(inner.samples<float>(1)[1], 2.0F);
  EXPECT_FALSE(inner.got_validity());
}

TEST(EncodingSink, a_collision_is_found_after_rounding_and_finishes_nothing) {
  MemorySink inner({5, 1}, {band_of(SampleType::uint8, NoData::of(SampleType::uint8, 255))});
  EncodingSink sink(inner);
  write_row(sink, {254.6F, 255.0F, 1000.0F, missing, 254.4F});
  EXPECT_EQ(sink.collisions(1), 3u);
  std::string message;
  EXPECT_EQ(code_of([&] { sink.finish(); }, &message), ErrorCode::invalid_argument);
  EXPECT_NE(message.find("3 in band 1 equal 255"), std::string::npos) << message;
  EXPECT_FALSE(inner.finished());
}

TEST(EncodingSink, collisions_can_be_allowed) {
  MemorySink inner({2, 1}, {band_of(SampleType::float32, NoData::of(SampleType::float32, 0.0))});
  EncodingSink sink(inner, {.collisions = CollisionPolicy::allow});
  write_row(sink, {-0.0F, missing});
  EXPECT_EQ(sink.collisions(1), 1u);
  sink.finish();
  EXPECT_TRUE(inner.finished());
  EXPECT_EQ(inner.samples<float>(1), (std::vector<float>{0.0F, 0.0F}));
}

TEST(EncodingSink, without_nodata_missing_pixels_go_on_as_validity) {
  MemorySink inner({3, 2}, {band_of(SampleType::uint8), band_of(SampleType::float32)});
  EncodingSink sink(inner);
  const std::vector<float> whole{1.0F, 2.0F, 3.0F};
  const std::vector<float> holes{missing, 2.0F, 3.0F};
  const auto write = [&](std::int64_t row, const std::vector<float>& first, const std::vector<float>& second) {
    const BandSamples samples[] = {{1, std::as_bytes(std::span(first))}, {2, std::as_bytes(std::span(second))}};
    sink.write({.window = {0, row, 3, 1}, .bands = samples});
  };
  write(0, whole, whole);
  EXPECT_FALSE(inner.got_validity());
  write(1, holes, {1.0F, 2.0F, missing});
  sink.finish();
  EXPECT_EQ(inner.validity(), (std::vector<std::uint8_t>{1, 1, 1, 0, 1, 0}));
  EXPECT_EQ(inner.samples<std::uint8_t>(1), (std::vector<std::uint8_t>{1, 2, 3, 0, 2, 3}));
  EXPECT_TRUE(std::isnan(inner.samples<float>(2)[5]));
  EXPECT_EQ(sink.missing(1), 1u);
  EXPECT_EQ(sink.missing(2), 1u);
}

TEST(EncodingSink, rejects_a_nodata_value_that_the_type_can_not_hold) {
  for (const double value : {-9999.0, 3.5, std::numeric_limits<double>::quiet_NaN()}) {
    MemorySink inner({1, 1}, {band_of(SampleType::uint8, NoData::of(SampleType::uint8, value))});
    EXPECT_EQ(code_of([&] { EncodingSink sink(inner); }), ErrorCode::invalid_argument) << value;
  }
  MemorySink inner({1, 1}, {band_of(SampleType::uint8)});
  const EncodingSink sink(inner);
  EXPECT_EQ(code_of([&] { sink.missing(2); }), ErrorCode::band_out_of_range);
  EXPECT_EQ(code_of([&] { sink.missing(0); }), ErrorCode::band_out_of_range);
}

TEST(EncodingSink, validity_must_fit_the_window) {
  MemorySink inner({2, 1}, {band_of(SampleType::uint8)});
  EncodingSink sink(inner);
  const std::vector<std::uint8_t> validity(3, 1);
  EXPECT_EQ(code_of([&] {
              sink.write({.window = {0, 0, 2, 1}, .bands = {}, .validity = validity});
            }),
            ErrorCode::length_mismatch);
}

}  // namespace
}  // namespace tessera::residency
