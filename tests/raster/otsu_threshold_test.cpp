#include <bit>
#include <limits>

#include <tessera/raster/histogram.hpp>
#include <tessera/raster/threshold.hpp>

#include "reference/threshold.hpp"
#include "support/device_fixture.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;
using Longs = std::vector<std::uint64_t>;
using Domain = decltype(raster::OtsuThreshold::domain);

class OtsuThresholdTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector rows_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }
  static float threshold(const Vector& histogram, const Domain& domain) {
    const Vector output = rows_of(std::vector<float>{99});
    run(device(), raster::OtsuThreshold{.histogram = histogram, .domain = domain, .output = output});
    return tessera::download<float>(output).front();
  }
  static float threshold(const Words& counts, double low, double high) {
    return threshold(rows_of(counts), std::array{low, high});
  }
  /// Both widths of counts, against the reference.
  static void expect_reference(const Longs& counts, float low, float high) {
    const float expected = reference::otsu_threshold(counts, low, high);
    EXPECT_EQ(threshold(rows_of(counts), std::array<double, 2>{low, high}), expected);
    Words words;
    for (const std::uint64_t count : counts) words.push_back(static_cast<std::uint32_t>(count));
    for (std::size_t bin = 0; bin < counts.size(); ++bin)
      if (words[bin] != counts[bin]) return;
    EXPECT_EQ(threshold(words, low, high), expected);
  }
};

TEST_F(OtsuThresholdTest, gives_the_examples) {
  EXPECT_EQ(threshold({4, 0, 0, 4}, 0, 8), 2.0F);
  EXPECT_EQ(threshold({3, 1, 0, 2}, 0, 4), 2.0F);
  EXPECT_EQ(threshold({1, 2, 6, 1, 0, 4}, -3, 3), 1.0F);
  EXPECT_EQ(threshold({5}, 2, 3), 2.0F);
  EXPECT_EQ(threshold({0, 3, 0}, 1, 4), 1.0F);
  EXPECT_EQ(threshold({16777216, 1}, 0, 1), 0.5F);
  EXPECT_EQ(threshold({0, 0}, 5, 6), 0.0F);
  EXPECT_EQ(threshold({1, 1}, 3, 3), 3.0F);
}

TEST_F(OtsuThresholdTest, agrees_with_the_reference_around_every_size_of_run) {
  for (const std::size_t bins : {2, 3, 63, 64, 65, 255, 256, 257, 4097}) {
    SCOPED_TRACE(bins);
    RandomBits random(bins);
    Longs counts(bins);
    for (std::uint64_t& count : counts) count = random.below(3) == 0 ? 0 : random.below(100000);
    expect_reference(counts, -1.5F, 7.25F);
  }
}

TEST_F(OtsuThresholdTest, takes_65536_bins) {
  RandomBits random(7);
  Longs counts(65536);
  for (std::size_t bin = 0; bin < counts.size(); ++bin)
    counts[bin] = random.below(bin < 20000 || bin > 50000 ? 60000 : 900);
  expect_reference(counts, 0.0F, 65535.0F);
}

TEST_F(OtsuThresholdTest, ties_and_near_ties_are_decided_exactly) {
  // Symmetric: two borders with equal scores, far apart; and one count that tips the scale.
  Longs counts(300);
  counts[0] = counts[299] = 1000000007;
  counts[100] = counts[199] = 1;
  expect_reference(counts, 0, 300);
  ++counts[100];
  expect_reference(counts, 0, 300);
  --counts[100];
  ++counts[199];
  expect_reference(counts, 0, 300);
  // Equal everywhere: the middle, with a plateau of nearly equal scores in float32.
  expect_reference(Longs(65536, 65535), 0, 1);
  expect_reference(Longs(65535, 65535), 0, 1);
}

TEST_F(OtsuThresholdTest, counts_may_be_as_large_as_they_get) {
  const std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();
  expect_reference(Longs{largest, 0, largest, 1, largest}, 0, 1);
  expect_reference(Longs(65536, largest), 0, 1);
  Longs counts(65536);
  counts[0] = (std::uint64_t{1} << 47) - 2;
  counts[65534] = std::uint64_t{1} << 47;
  counts[65535] = 1;
  expect_reference(counts, -3e38F, 3e38F);
  counts[1] = 1;
  EXPECT_EQ(threshold(rows_of(counts), std::array{5.0, 6.0}), 0.0F) << "a total of 2^48";
  EXPECT_EQ(threshold(rows_of(Longs{~std::uint64_t{0}, 2}), std::array{5.0, 6.0}), 0.0F) << "a total that wraps";
}

TEST_F(OtsuThresholdTest, takes_a_domain_on_the_device) {
  const Vector counts = rows_of(Words{4, 0, 0, 4});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto over = [&](float low, float high) {
    return threshold(counts, Source(rows_of(std::vector<float>{low, high})));
  };
  EXPECT_EQ(over(0, 8), 2.0F);
  EXPECT_EQ(over(-8, 0), -6.0F);
  EXPECT_EQ(over(8, 0), 0.0F);
  EXPECT_EQ(over(nan, 8), 0.0F);
  EXPECT_EQ(over(1, std::numeric_limits<float>::infinity()), 0.0F);
}

TEST_F(OtsuThresholdTest, splits_a_band_in_one_graph) {
  const std::vector<float> samples{1, 2, 1, 2, -9999, 8, 9, 8, 2};
  const raster::Band band{
      .id = "band", .values = rows_of(samples), .no_data = raster::NoData::of(raster::SampleType::float32, -9999)};
  const Vector output = rows_of(Words(samples.size(), 99));
  Graph graph(device());
  const VectorView counts = graph.import(rows_of(Words(256)));
  const VectorView domain = graph.import(rows_of(std::vector<float>(2)));
  const VectorView limit = graph.import(rows_of(std::vector<float>(1)));
  graph.add(raster::Histogram{.band = band, .output = counts, .domain_output = domain});
  graph.add(raster::OtsuThreshold{.histogram = counts, .domain = domain, .output = limit});
  graph.add(raster::Threshold{.band = band, .output = output, .threshold = limit});
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  compiled.encode(encoder);
  device().submit(std::move(encoder)).wait();
  EXPECT_EQ(tessera::download<std::uint32_t>(output), (Words{0, 0, 0, 0, 0, 1, 1, 1, 0}));
}

TEST_F(OtsuThresholdTest, rejects_histograms_and_domains_that_do_not_fit) {
  const Vector output = rows_of(std::vector<float>(1));
  const auto add = [&](const Vector& histogram, const Domain& domain) {
    return [this, output, histogram, domain] {
      Graph graph(device());
      graph.add(raster::OtsuThreshold{.histogram = histogram, .domain = domain, .output = output});
    };
  };
  const Domain unit = std::array{0.0, 1.0};
  expect_error(ErrorCode::length_mismatch, add(rows_of(Words{}), unit));
  expect_error(ErrorCode::limit_exceeded, add(rows_of(Words(65537)), unit));
  expect_error(ErrorCode::format_mismatch, add(rows_of(std::vector<float>(2)), unit));
  expect_error(ErrorCode::invalid_argument, add(rows_of(Words(2)), std::array{1.0, 0.0}));
  expect_error(ErrorCode::invalid_argument, add(rows_of(Words(2)), std::array{0.0, 1e39}));
  expect_error(ErrorCode::length_mismatch, add(rows_of(Words(2)), Source(output)));
}

}  // namespace
}  // namespace tessera::test
