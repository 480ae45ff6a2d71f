#include <cmath>
#include <limits>

#include <tessera/raster/statistics.hpp>

#include "reference/threshold.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class MissingCountsTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector rows_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }
  static Words counts(const Source& band, const std::optional<Validity>& quality = {}) {
    const Vector output = rows_of(Words(5, 99));
    tessera::run(device(), raster::MissingCounts{.band = band, .quality = quality, .output = output});
    return tessera::download<std::uint32_t>(output);
  }
};

TEST_F(MissingCountsTest, counts_each_pixel_by_its_first_reason) {
  const raster::Band band{.id = "band",
                          .values = rows_of(std::vector<float>{1, nan, -9999, 2, -9999, nan}),
                          .validity = Validity{.rows = rows_of(Words{1, 0, 7, 1, 0, 1})},
                          .no_data = raster::NoData::of(raster::SampleType::float32, -9999)};
  EXPECT_EQ(counts(band), (Words{2, 2, 1, 1, 0}));
  const Validity bytes{.rows = rows_of(std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0}), .kind = ValidityKind::byte};
  EXPECT_EQ(counts(band, bytes), (Words{1, 2, 1, 1, 1}));
  EXPECT_EQ(counts(band, Validity{.rows = rows_of(Words{1, 1, 0, 0, 0, 0})}), (Words{1, 2, 1, 1, 1}));
}

TEST_F(MissingCountsTest, a_nan_is_nodata_where_nodata_is_nan) {
  const Vector values = rows_of(std::vector<float>{1, nan, infinity, -nan, 0});
  EXPECT_EQ(counts(values), (Words{2, 0, 0, 3, 0}));
  const raster::Band band{
      .id = "band", .values = values, .no_data = raster::NoData::of(raster::SampleType::float32, nan)};
  EXPECT_EQ(counts(band), (Words{2, 0, 2, 1, 0}));
  const raster::Band wide{.id = "band",
                          .values = rows_of(std::vector<double>{1, nan, infinity, 1e300, 0}),
                          .no_data = raster::NoData::of(raster::SampleType::float64, nan)};
  EXPECT_EQ(counts(wide), (Words{3, 0, 1, 1, 0}));
}

TEST_F(MissingCountsTest, compares_every_bit_of_the_stored_sample) {
  using raster::SampleType;
  const std::int64_t sentinel = std::numeric_limits<std::int64_t>::min();
  const raster::Band longs{.id = "band",
                           .values = rows_of(std::vector<std::int64_t>{sentinel, sentinel + 1, 0, 1}),
                           .no_data = raster::NoData::of_signed(SampleType::sint64, sentinel)};
  EXPECT_EQ(counts(longs), (Words{3, 0, 1, 0, 0}));
  const raster::Band unsigned_longs{
      .id = "band",
      .values = rows_of(std::vector<std::uint64_t>{0, std::uint64_t{1} << 32, 0xffffffffU, 0}),
      .no_data = raster::NoData::of_unsigned(SampleType::uint64, 0)};
  EXPECT_EQ(counts(unsigned_longs), (Words{2, 0, 2, 0, 0}));
  const raster::Band doubles{.id = "band",
                             .values = rows_of(std::vector<double>{0.1, std::nextafter(0.1, 1.0), -0.0, 1e-300}),
                             .no_data = raster::NoData::of(SampleType::float64, 0.1)};
  EXPECT_EQ(counts(doubles), (Words{3, 0, 1, 0, 0}));
  const raster::Band zeros{.id = "band",
                           .values = rows_of(std::vector<double>{0.0, -0.0, 1e-300}),
                           .no_data = raster::NoData::of(SampleType::float64, 0)};
  EXPECT_EQ(counts(zeros), (Words{1, 0, 2, 0, 0}));
  const raster::Band negative{.id = "band",
                              .values = rows_of(std::vector<std::int8_t>{-1, 1, -1}),
                              .no_data = raster::NoData::of_signed(SampleType::sint8, -1),
                              .scale = 3e38,
                              .offset = 3e38};
  EXPECT_EQ(counts(negative), (Words{1, 0, 2, 0, 0})) << "calibration plays no part";
}

TEST_F(MissingCountsTest, agrees_with_the_reference_over_every_partition) {
  const std::size_t pixels = 9001;
  const auto samples = random_values<float>(pixels, 1, Spread::with_special);
  const Words mask = random_mask(pixels, 2, 0.8);
  const Words quality = random_mask(pixels, 3, 0.6);
  const reference::Band<float> on_host{.samples = samples, .mask = mask, .no_data = samples[5]};
  const auto expected = reference::missing_counts(on_host, quality);
  for (const Partition& partition : standard_partitions(pixels, 4)) {
    SCOPED_TRACE(partition.name);
    const raster::Band band{.id = "band",
                            .values = GuardedRows<float>(device(), partition, samples, Placement::shifted).vector(),
                            .validity = Validity{.rows = rows_of(mask)},
                            .no_data = raster::NoData::of(raster::SampleType::float32, samples[5])};
    const GuardedRows<std::uint32_t> output(device(), {.name = "one", .lengths = {5}});
    tessera::run(device(), raster::MissingCounts{
                               .band = band, .quality = Validity{.rows = rows_of(quality)}, .output = output.vector()});
    output.expect_rows(expected);
  }
}

TEST_F(MissingCountsTest, counts_more_rows_than_one_round_of_workgroups_takes) {
  const std::size_t pixels = 3'000'017;
  std::vector<std::uint8_t> samples(pixels);
  std::uint32_t zeros = 0;
  for (std::size_t i = 0; i < pixels; ++i) {
    samples[i] = static_cast<std::uint8_t>(i * i % 7);
    zeros += samples[i] == 0 ? 1 : 0;
  }
  const raster::Band band{
      .id = "band", .values = rows_of(samples), .no_data = raster::NoData::of_unsigned(raster::SampleType::uint8, 0)};
  EXPECT_EQ(counts(band), (Words{static_cast<std::uint32_t>(pixels) - zeros, 0, zeros, 0, 0}));
}

TEST_F(MissingCountsTest, counts_nothing_without_pixels_and_starts_anew_every_time) {
  EXPECT_EQ(counts(rows_of(std::vector<float>{})), Words(5, 0));
  Graph graph(device());
  const Vector output = rows_of(Words(5, 99));
  graph.add(raster::MissingCounts{.band = rows_of(std::vector<float>{1, nan}), .output = output});
  CompiledGraph compiled = graph.compile();
  for (int round = 0; round < 2; ++round) {
    Encoder encoder = device().encoder();
    compiled.encode(encoder);
    device().submit(std::move(encoder)).wait();
    EXPECT_EQ(tessera::download<std::uint32_t>(output), (Words{1, 0, 0, 1, 0}));
  }
}

TEST_F(MissingCountsTest, counts_the_rows_that_a_word_on_the_device_leaves) {
  const std::vector<float> samples(5000, nan);
  const Buffer count = DeviceFixture::upload<std::uint32_t>(Words{4097});
  const Vector whole = rows_of(samples);
  const Vector band(Format::float32, {whole.chunks().begin(), whole.chunks().end()}, CountWord{.buffer = count});
  EXPECT_EQ(counts(band), (Words{0, 0, 0, 4097, 0}));
}

TEST_F(MissingCountsTest, rejects_what_does_not_fit) {
  const Vector band = rows_of(std::vector<float>{1, 2});
  const auto add = [&](const raster::MissingCounts& operation) {
    return [this, operation] {
      Graph graph(device());
      graph.add(operation);
    };
  };
  const Vector output = rows_of(Words(5));
  expect_error(ErrorCode::length_mismatch, add({.band = band, .output = rows_of(Words(4))}));
  expect_error(ErrorCode::length_mismatch,
               add({.band = band, .quality = Validity{.rows = rows_of(Words{1})}, .output = output}));
  expect_error(ErrorCode::format_mismatch, add({.band = band, .quality = Validity{.rows = band}, .output = output}));
  const Validity bits = bit_validity({{.buffer = device().allocate(4), .bit_offset = 3, .length = 1}});
  expect_error(ErrorCode::format_mismatch, add({.band = band, .quality = bits, .output = output}));
  expect_error(ErrorCode::alias, add({.band = output, .output = output}));
}

}  // namespace
}  // namespace tessera::test
