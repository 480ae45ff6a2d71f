#include <tessera/raster/threshold.hpp>

#include <bit>
#include <cmath>
#include <limits>

#include "reference/threshold.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;
using Operation = raster::Threshold::Operation;
using Bounds = raster::Threshold::Bounds;
using Limits = decltype(raster::Threshold::threshold);
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

Words bits_of(const std::vector<float>& values) {
  Words bits;
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

class ThresholdTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector rows_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }
  static Words select(const Source& band, Operation operation, const Limits& threshold,
                      Bounds bounds = Bounds::inclusive) {
    const Vector output = rows_of(Words(band.length(), 99));
    run(device(),
        raster::Threshold{
            .operation = operation, .bounds = bounds, .band = band, .output = output, .threshold = threshold});
    return tessera::download<std::uint32_t>(output);
  }
  static Limits between(double low, double high) { return std::array{low, high}; }
};

TEST_F(ThresholdTest, selects_as_the_examples_say) {
  const Vector band = rows_of(std::vector<float>{0, .25F, .5F, .75F, 1});
  EXPECT_EQ(select(band, Operation::above, 0.5), (Words{0, 0, 1, 1, 1}));
  EXPECT_EQ(select(band, Operation::above, 0.5, Bounds::exclusive), (Words{0, 0, 0, 1, 1}));
  EXPECT_EQ(select(band, Operation::below, 0.5), (Words{1, 1, 1, 0, 0}));
  EXPECT_EQ(select(band, Operation::below, 0.5, Bounds::exclusive), (Words{1, 1, 0, 0, 0}));
  EXPECT_EQ(select(band, Operation::range, between(.25, .75)), (Words{0, 1, 1, 1, 0}));
  EXPECT_EQ(select(band, Operation::range, between(.25, .75), Bounds::exclusive), (Words{0, 0, 1, 0, 0}));
}

TEST_F(ThresholdTest, missing_pixels_are_zero_as_words_and_nan_as_floats) {
  const raster::Band band{.id = "band",
                          .values = rows_of(std::vector<std::int16_t>{-5, 10, 20, 30, 20}),
                          .validity = Validity{.rows = rows_of(Words{1, 1, 1, 1, 0})},
                          .no_data = raster::NoData::of_signed(raster::SampleType::sint16, 30),
                          .scale = 0.5,
                          .offset = 1};
  EXPECT_EQ(select(band, Operation::above, 6.0), (Words{0, 1, 1, 0, 0}));
  const Vector output = rows_of(std::vector<float>(5, 9.0F));
  run(device(), raster::Threshold{.band = band, .output = output, .threshold = 6.0});
  EXPECT_EQ(bits_of(tessera::download<float>(output)), (Words{0, 0x3f800000, 0x3f800000, 0x7fc00000, 0x7fc00000}));
}

TEST_F(ThresholdTest, values_that_are_not_finite_are_missing) {
  const Vector band = rows_of(std::vector<float>{nan, infinity, -infinity, 1});
  EXPECT_EQ(select(band, Operation::above, -1.0), (Words{0, 0, 0, 1}));
  EXPECT_EQ(select(band, Operation::below, 1.0), (Words{0, 0, 0, 1}));
  const raster::Band calibrated{.id = "band", .values = rows_of(std::vector<float>{3e38F, 1}), .scale = 2};
  EXPECT_EQ(select(calibrated, Operation::above, 0.0), (Words{0, 1}));
}

TEST_F(ThresholdTest, both_zeros_are_equal_and_denormals_are_values) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  const Vector band = rows_of(std::vector<float>{-denormal, -0.0F, 0.0F, denormal});
  for (const double zero : {0.0, -0.0}) {
    EXPECT_EQ(select(band, Operation::above, zero), (Words{0, 1, 1, 1}));
    EXPECT_EQ(select(band, Operation::above, zero, Bounds::exclusive), (Words{0, 0, 0, 1}));
    EXPECT_EQ(select(band, Operation::below, zero), (Words{1, 1, 1, 0}));
    EXPECT_EQ(select(band, Operation::below, zero, Bounds::exclusive), (Words{1, 0, 0, 0}));
    EXPECT_EQ(select(band, Operation::range, between(zero, zero)), (Words{0, 1, 1, 0}));
    EXPECT_EQ(select(band, Operation::range, between(zero, zero), Bounds::exclusive), (Words{0, 0, 0, 0}));
  }
}

TEST_F(ThresholdTest, reads_thresholds_on_the_device_at_every_execution) {
  const Vector band = rows_of(std::vector<float>{0, 1, 2, 3});
  const Vector limits = rows_of(std::vector<float>{-7, 1, 2});
  const Vector output = rows_of(Words(4, 99));
  Graph graph(device());
  const VectorView pair = graph.import(limits).view().slice(1, 2);
  graph.add(raster::Threshold{.operation = Operation::range, .band = band, .output = output, .threshold = pair});
  CompiledGraph compiled = graph.compile();
  const auto with = [&](float low, float high) {
    const std::array values{low, high};
    Buffer buffer = limits.chunks()[0].buffer;
    device().write(buffer, limits.chunks()[0].byte_offset + 4, std::as_bytes(std::span<const float>(values)));
    Encoder encoder = device().encoder();
    compiled.encode(encoder);
    device().submit(std::move(encoder)).wait();
    return tessera::download<std::uint32_t>(output);
  };
  EXPECT_EQ(with(1, 2), (Words{0, 1, 1, 0}));
  EXPECT_EQ(with(0, 9), (Words{1, 1, 1, 1}));
  EXPECT_EQ(with(2, 1), Words(4, 0));
  EXPECT_EQ(with(nan, 2), Words(4, 0));
  EXPECT_EQ(with(0, infinity), Words(4, 0));
  for (const float value : {nan, infinity, -infinity}) {
    EXPECT_EQ(select(band, Operation::above, Source(rows_of(std::vector<float>{value}))), Words(4, 0)) << value;
    EXPECT_EQ(select(band, Operation::below, Source(rows_of(std::vector<float>{value}))), Words(4, 0)) << value;
  }
}

TEST_F(ThresholdTest, agrees_with_the_reference_over_every_partition) {
  const std::size_t pixels = 9001;
  const auto samples = random_values<std::uint16_t>(pixels, 1, Spread::all_bits);
  const Words mask = random_mask(pixels, 2, 0.8);
  const reference::Pixels values = reference::calibrated<std::uint16_t>(
      {.samples = samples, .mask = mask, .no_data = samples[5], .scale = 0.001F, .offset = -20.0F});
  const std::vector<float> expected =
      reference::threshold(values, reference::ThresholdOperation::range, true, -3.5F, 17.0F);
  for (const Partition& partition : standard_partitions(pixels, 3)) {
    SCOPED_TRACE(partition.name);
    const raster::Band band{.id = "band",
                            .values = GuardedRows<std::uint16_t>(device(), partition, samples).vector(),
                            .validity = Validity{.rows = rows_of(mask)},
                            .no_data = raster::NoData::of_unsigned(raster::SampleType::uint16, samples[5]),
                            .scale = 0.001,
                            .offset = -20};
    const GuardedRows<std::uint32_t> bits(device(), partition);
    Graph graph(device());
    const VectorView output = graph.import(bits.vector()).view().reinterpret(Format::float32);
    graph.add(raster::Threshold{
        .operation = Operation::range, .band = band, .output = output, .threshold = between(-3.5, 17)});
    CompiledGraph compiled = graph.compile();
    Encoder encoder = device().encoder();
    compiled.encode(encoder);
    device().submit(std::move(encoder)).wait();
    bits.expect_rows(bits_of(expected));
  }
}

TEST_F(ThresholdTest, rejects_thresholds_that_do_not_fit) {
  const Vector band = rows_of(std::vector<float>{1, 2});
  const Vector output = rows_of(Words(2));
  const auto add = [&](Operation operation, const Limits& threshold) {
    return [this, band, output, operation, threshold] {
      Graph graph(device());
      graph.add(raster::Threshold{.operation = operation, .band = band, .output = output, .threshold = threshold});
    };
  };
  expect_error(ErrorCode::invalid_argument, add(Operation::range, 1.0));
  expect_error(ErrorCode::invalid_argument, add(Operation::above, between(1, 2)));
  expect_error(ErrorCode::invalid_argument, add(Operation::range, between(2, 1)));
  expect_error(ErrorCode::invalid_argument, add(Operation::below, std::numeric_limits<double>::quiet_NaN()));
  expect_error(ErrorCode::invalid_argument, add(Operation::above, 1e39));
  const Source one{rows_of(std::vector<float>{1})};
  expect_error(ErrorCode::length_mismatch, add(Operation::range, one));
  expect_error(ErrorCode::length_mismatch, add(Operation::above, Source(band)));
  expect_error(ErrorCode::format_mismatch, add(Operation::above, Source(rows_of(Words{1}))));
  expect_error(ErrorCode::alias, [&] {
    Graph graph(device());
    graph.add(raster::Threshold{.band = band, .output = band, .threshold = 1.0});
  });
  expect_error(ErrorCode::missing_operand, [&] {
    Graph graph(device());
    Request request = to_request(raster::Threshold{.band = band, .output = output, .threshold = one});
    request.inputs.pop_back();
    graph.add(tessera::Operation::from_request(request));
  });
}

}  // namespace
}  // namespace tessera::test
