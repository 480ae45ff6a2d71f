#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/operand/sum_state.hpp>
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

/// Sum and sum of squares in `double`, from the device's exact states and from the host's.
struct ExactSums {
  double sum = 0;
  double squares = 0;
  friend bool operator==(const ExactSums&, const ExactSums&) = default;
};

class LongStatisticsTest : public StatisticsTest {
 protected:
  static ExactSums on_device(const std::vector<float>& values) {
    const Vector sum = vector_of<double>({7});
    const Vector squares = vector_of<double>({7});
    tessera::run(device(), raster::Statistics{.input = Source(vector_of(values)).as_observations(),
                                              .values = raster::BandValues::raw,
                                              .sum = sum,
                                              .sum_of_squares = squares});
    return {tessera::download<double>(sum)[0], tessera::download<double>(squares)[0]};
  }
  static ExactSums on_host(const std::vector<float>& values) {
    SumState sum;
    SumState squares;
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      sum.add(value);
      squares.add_square(value);
    }
    return {sum.to_double(), squares.to_double()};
  }
};

TEST_F(LongStatisticsTest, stays_exact_while_magnitudes_change_along_the_rows) {
  std::vector<float> values = random_values<float>(600003, 11, Spread::moderate);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t part = i / 5000 % 12;
    if (part == 1) values[i] *= 0x1p20F;                                                    // larger than before
    if (part == 3) values[i] *= 0x1p-60F;                                                   // far smaller
    if (part == 4 && i % 7 == 0) values[i] *= 0x1p-100F;                                    // both side by side
    if (part == 5) values[i] = i % 3 == 0 ? 0x1p-149F : -0x1.8p-130F;                       // denormals
    if (part == 6) values[i] = i % 2 == 0 ? 0.0F : -0.0F;                                   // nothing to add
    if (part == 7) values[i] = i % 4 == 0 ? std::numeric_limits<float>::max() : values[i];  // the largest
    if (part == 8) values[i] = i % 5 == 0 ? std::numeric_limits<float>::quiet_NaN() : values[i] * 0x1p-30F;
    if (part == 9) values[i] = i % 5 == 0 ? std::numeric_limits<float>::infinity() : values[i];
  }
  EXPECT_EQ(on_device(values), on_host(values));
}

TEST_F(LongStatisticsTest, does_not_overflow_over_many_equal_rows) {
  // The first tiles settle what the kernel expects; then every value is as large as that allows.
  std::vector<float> values(9000001, 0x1.fffffep0F);
  std::fill_n(values.begin(), 600000, 0x1.fffffep-4F);
  EXPECT_EQ(on_device(values), on_host(values));
  for (float& value : values) value = -value;
  EXPECT_EQ(on_device(values), on_host(values));
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
