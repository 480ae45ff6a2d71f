#include <bit>
#include <cmath>
#include <limits>

#include <tessera/raster/pixel.hpp>

#include "reference/raster.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

class NdviTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector vector_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }

  struct Result {
    std::vector<float> values;
    std::vector<std::uint32_t> validity;
  };
  static Result ndvi(const raster::Band& near_infrared, const raster::Band& red,
                     std::optional<std::array<float, 2>> clamp = std::nullopt) {
    const std::uint64_t pixels = near_infrared.source().length();
    const Vector output = vector_of(std::vector<float>(pixels, 7.0F));
    const Vector validity = vector_of(std::vector<std::uint32_t>(pixels, 7));
    tessera::run(
        device(),
        raster::Ndvi{
            .near_infrared = near_infrared, .red = red, .output = output, .output_validity = validity, .clamp = clamp});
    return {tessera::download<float>(output), tessera::download<std::uint32_t>(validity)};
  }
};

TEST_F(NdviTest, keeps_missing_data_missing) {
  using raster::SampleType;
  const raster::NoData no_data = raster::NoData::of_unsigned(SampleType::uint16, 65535);
  const raster::Band red{
      .id = "red", .values = vector_of<std::uint16_t>({2000, 65535, 0, 3000}), .no_data = no_data, .scale = 0.0001};
  const raster::Band near_infrared{
      .id = "nir", .values = vector_of<std::uint16_t>({6000, 5000, 0, 3000}), .no_data = no_data, .scale = 0.0001};
  const Result result = ndvi(near_infrared, red);
  EXPECT_EQ(result.validity, (std::vector<std::uint32_t>{1, 0, 0, 1}));
  EXPECT_NEAR(result.values[0], 0.5F, 1e-6F);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(result.values[1]), 0x7fc00000U);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(result.values[2]), 0x7fc00000U);
  EXPECT_EQ(result.values[3], 0.0F);
}

TEST_F(NdviTest, clamps_only_where_asked) {
  const raster::Band red{.id = "red", .values = vector_of<float>({-0.1F})};
  const raster::Band near_infrared{.id = "nir", .values = vector_of<float>({0.3F})};
  EXPECT_NEAR(ndvi(near_infrared, red).values[0], 2.0F, 1e-5F);
  EXPECT_EQ(ndvi(near_infrared, red, std::array{-1.0F, 1.0F}).values[0], 1.0F);
}

TEST_F(NdviTest, agrees_with_the_reference_over_every_partition) {
  const std::size_t pixels = 9001;
  const auto near_infrared = random_values<std::uint16_t>(pixels, 1, Spread::all_bits);
  const auto red = random_values<std::uint16_t>(pixels, 2, Spread::all_bits);
  const std::vector<std::uint32_t> mask = random_mask(pixels, 3, 0.8);
  const reference::Pixels left = reference::calibrated<std::uint16_t>(
      {.samples = near_infrared, .mask = mask, .no_data = near_infrared[5], .scale = 0.0001F, .offset = -0.1F});
  const reference::Pixels right =
      reference::calibrated<std::uint16_t>({.samples = red, .scale = 0.0002F, .offset = 0.01F});
  const reference::Pixels expected = reference::ndvi(right, left);
  const std::vector<double> exact = reference::ndvi_in_double(right, left);
  std::optional<Result> first;
  for (const Partition& partition : standard_partitions(pixels, 6)) {
    SCOPED_TRACE(partition.name);
    raster::Band on_device{.id = "nir",
                           .values = GuardedRows<std::uint16_t>(device(), partition, near_infrared).vector(),
                           .validity = Validity{.rows = vector_of(mask)},
                           .no_data = raster::NoData::of_unsigned(raster::SampleType::uint16, near_infrared[5]),
                           .scale = 0.0001,
                           .offset = -0.1};
    const Result result = ndvi(on_device, {.id = "red", .values = vector_of(red), .scale = 0.0002, .offset = 0.01});
    EXPECT_EQ(result.validity, expected.validity);
    for (std::size_t i = 0; i < pixels; ++i) {
      if (expected.validity[i] == 0)
        EXPECT_EQ(std::bit_cast<std::uint32_t>(result.values[i]), 0x7fc00000U) << i;
      else
        ASSERT_NEAR(result.values[i], exact[i], 4e-7 * std::abs(exact[i]) + 1e-7) << i;
    }
    if (!first) first = result;
    for (std::size_t i = 0; i < pixels; ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(result.values[i]), std::bit_cast<std::uint32_t>(first->values[i])) << i;
  }
}

TEST_F(NdviTest, rejects_options_and_bands_that_do_not_fit) {
  const raster::Band band{.id = "band", .values = vector_of<float>({1, 2})};
  const raster::Band shorter{.id = "band", .values = vector_of<float>({1})};
  const Vector output = vector_of<float>({0, 0});
  const auto rejects = [&](ErrorCode code, const raster::Ndvi& operation) {
    Graph graph(device());
    try {
      graph.add(operation);
      ADD_FAILURE() << "accepted; expected " << name_of(code);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
    }
  };
  rejects(ErrorCode::length_mismatch, {.near_infrared = band, .red = shorter, .output = output});
  rejects(ErrorCode::invalid_argument, {.near_infrared = band, .red = band, .output = output, .epsilon = -1.0F});
  rejects(ErrorCode::invalid_argument,
          {.near_infrared = band, .red = band, .output = output, .clamp = std::array{1.0F, -1.0F}});
  const raster::Band wrong{.id = "band",
                           .values = vector_of<float>({1, 2}),
                           .no_data = raster::NoData::of_unsigned(raster::SampleType::uint8, 0)};
  EXPECT_THROW((void)wrong.source(), Error);
}

}  // namespace
}  // namespace tessera::test
