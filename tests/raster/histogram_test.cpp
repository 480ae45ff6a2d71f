#include <tessera/raster/histogram.hpp>

#include <limits>

#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;

class RasterHistogramTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector rows_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }
  /// Counts and the automatic domain.
  template <class T>
  static void expect(const raster::Band& band, const Words& counts, const std::vector<T>& domain) {
    const Vector output = rows_of(Words(counts.size(), 99));
    const Vector published = rows_of(std::vector<T>(2, T{99}));
    run(device(), raster::Histogram{.band = band, .output = output, .domain_output = published});
    EXPECT_EQ(tessera::download<std::uint32_t>(output), counts);
    EXPECT_EQ(tessera::download<T>(published), domain);
  }
};

TEST_F(RasterHistogramTest, TakesTheDomainOfValidSamples) {
  expect<float>({.values = rows_of(std::vector<float>{0, 1, 2, 3, 4})}, {1, 1, 1, 2}, {0, 4});
  expect<float>({.values = rows_of(std::vector<float>{7, 7, 7})}, {3, 0, 0}, {7, 7});
  expect<float>({.values = rows_of(std::vector<float>{-9999, 1, 3}),
                 .no_data = raster::NoData::of(raster::SampleType::float32, -9999)},
                {1, 1}, {1, 3});
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  expect<float>({.values = rows_of(std::vector<float>{not_a_number, not_a_number})}, {0, 0}, {0, 0});
}

TEST_F(RasterHistogramTest, CountsIntegersExactly) {
  expect<std::uint32_t>({.values = rows_of(Words{16777216, 16777217, 16777218})}, {1, 2}, {16777216, 16777218});
  const std::int32_t smallest = std::numeric_limits<std::int32_t>::min();
  const std::int32_t largest = std::numeric_limits<std::int32_t>::max();
  expect<std::int32_t>({.values = rows_of(std::vector<std::int32_t>{smallest, -1, largest})}, {2, 1},
                       {smallest, largest});
}

TEST_F(RasterHistogramTest, LeavesOutMaskedPixels) {
  const raster::Band band{.values = rows_of(Words{1, 50, 3, 2}),
                          .validity = Validity{.rows = rows_of(Words{1, 0, 7, 1})}};
  expect<std::uint32_t>(band, {1, 2}, {1, 3});
}

TEST_F(RasterHistogramTest, IgnoresCalibrationUnlessAsked) {
  const raster::Band band{.values = rows_of(std::vector<std::uint16_t>{0, 10, 20}), .scale = 2.0, .offset = -7.0};
  expect<std::uint32_t>(band, {1, 2}, {0, 20});
  const Vector output = rows_of(Words(2, 99));
  const Vector domain = rows_of(std::vector<float>{99, 99});
  run(device(),
      raster::Histogram{
          .band = band, .output = output, .domain_output = domain, .values = tessera::Histogram::Values::calibrated});
  EXPECT_EQ(tessera::download<std::uint32_t>(output), (Words{1, 2}));
  EXPECT_EQ(tessera::download<float>(domain), (std::vector<float>{-7, 33}));
}

}  // namespace
}  // namespace tessera::test
