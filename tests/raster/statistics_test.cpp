#include <limits>

#include <tessera/raster/statistics.hpp>

#include "reference/raster.hpp"
#include "reference/statistics.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

template <class Value>
struct Figures {
  std::uint64_t count = 0;
  double sum = 0;
  double mean = 0;
  std::array<Value, 2> extent{};
};

class StatisticsTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector vector_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }

  template <class Value>
  static Figures<Value> statistics(const raster::Band& band, raster::BandValues values) {
    const Vector count = vector_of<std::uint64_t>({7});
    const Vector sum = vector_of<double>({7});
    const Vector mean = vector_of<double>({7});
    const Vector extent = vector_of<Value>({7, 7});
    tessera::run(device(),
                 raster::Statistics{
                     .input = band, .values = values, .count = count, .sum = sum, .mean = mean, .extent = extent});
    const std::vector<Value> bounds = tessera::download<Value>(extent);
    return {tessera::download<std::uint64_t>(count)[0],
            tessera::download<double>(sum)[0],
            tessera::download<double>(mean)[0],
            {bounds[0], bounds[1]}};
  }
};

TEST_F(StatisticsTest, calibrates_and_leaves_out_what_is_missing) {
  const raster::Band band{.id = "band",
                          .values = vector_of<float>({2, -9999, std::numeric_limits<float>::quiet_NaN(), 4, 6, 10}),
                          .validity = Validity{.rows = vector_of<std::uint32_t>({1, 1, 1, 1, 0, 1})},
                          .no_data = raster::NoData::of(raster::SampleType::float32, -9999),
                          .scale = 0.5,
                          .offset = 1};
  const auto figures = statistics<float>(band, raster::BandValues::calibrated);
  EXPECT_EQ(figures.count, 3U);
  EXPECT_EQ(figures.sum, 11.0);
  EXPECT_DOUBLE_EQ(figures.mean, 11.0 / 3.0);
  EXPECT_EQ(figures.extent, (std::array{2.0F, 6.0F}));
  EXPECT_EQ(statistics<float>(band, raster::BandValues::raw).sum, 16.0);
}

TEST_F(StatisticsTest, gives_zeros_where_nothing_is_valid) {
  const raster::Band band{.id = "band",
                          .values = vector_of<std::uint16_t>({9, 9, 9}),
                          .no_data = raster::NoData::of_unsigned(raster::SampleType::uint16, 9)};
  const auto figures = statistics<std::uint32_t>(band, raster::BandValues::raw);
  EXPECT_EQ(figures.count, 0U);
  EXPECT_EQ(figures.sum, 0.0);
  EXPECT_EQ(figures.mean, 0.0);
  EXPECT_EQ(figures.extent, (std::array<std::uint32_t, 2>{0, 0}));
}

TEST_F(StatisticsTest, is_exact_to_the_bit_over_every_partition) {
  const std::size_t pixels = 9001;
  const auto samples = random_values<float>(pixels, 4, Spread::with_special);
  const auto expected = reference::statistics<float>(samples, reference::raw_validity<float>({.samples = samples}));
  for (const Partition& partition : standard_partitions(pixels, 8)) {
    SCOPED_TRACE(partition.name);
    const raster::Band band{.id = "band", .values = GuardedRows<float>(device(), partition, samples).vector()};
    const auto figures = statistics<float>(band, raster::BandValues::raw);
    EXPECT_EQ(figures.count, expected.count);
    EXPECT_EQ(figures.sum, expected.sum.to_double());
    EXPECT_EQ(figures.mean, expected.mean);
    EXPECT_EQ(figures.extent, (std::array{expected.minimum, expected.maximum}));
  }
}

TEST_F(StatisticsTest, sums_integers_of_every_width_exactly) {
  const std::size_t pixels = 70001;
  const auto check = [&]<class Sample, class Value>(Sample, Value) {
    const auto samples = random_values<Sample>(pixels, 5, Spread::all_bits);
    const auto expected = reference::statistics<Sample>(samples);
    const auto figures = statistics<Value>({.id = "band", .values = vector_of(samples)}, raster::BandValues::raw);
    EXPECT_EQ(figures.count, pixels);
    EXPECT_EQ(figures.sum, expected.sum.to_double());
    EXPECT_EQ(figures.mean, expected.mean);
    EXPECT_EQ(figures.extent[0], static_cast<Value>(expected.minimum));
    EXPECT_EQ(figures.extent[1], static_cast<Value>(expected.maximum));
  };
  check(std::uint8_t{}, std::uint32_t{});
  check(std::int8_t{}, std::int32_t{});
  check(std::uint16_t{}, std::uint32_t{});
  check(std::int16_t{}, std::int32_t{});
  check(std::uint32_t{}, std::uint32_t{});
  check(std::int32_t{}, std::int32_t{});
}

TEST_F(StatisticsTest, asks_for_at_least_one_output) {
  Graph graph(device());
  try {
    graph.add(raster::Statistics{.input = Source(vector_of<float>({1})).as_observations()});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::missing_operand);
  }
}

}  // namespace
}  // namespace tessera::test
