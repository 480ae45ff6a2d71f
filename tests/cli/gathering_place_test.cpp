#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/typed_raster.hpp"
#include "raster_job.hpp"
#include "statistics/band_statistics.hpp"
#include "support/device_fixture.hpp"

namespace tessera::testing {
namespace {

constexpr int width = 75;
constexpr int height = 49;
constexpr std::size_t pixels = std::size_t{width} * height;

/// Which place works on samples follows from the device; here both do beside one.
template <class Sample>
class GatheringPlace : public test::DeviceFixture {
 protected:
  static constexpr Sample no_data = 7;

  GatheringPlace() {
    PlainRandom random(8 * sizeof(Sample) + (std::numeric_limits<Sample>::is_signed ? 1 : 0));
    for (std::size_t i = 0; i < pixels; ++i) {
      samples_.push_back(random.one_in(4) ? no_data : value_of(random));
      mask_.push_back(random.one_in(5) ? 0 : 255);
      quality_.push_back(random.one_in(3) ? 8 : 0);
    }
  }

  /// Floats are of any bits, NaN and denormals among them.
  static Sample value_of(PlainRandom& random) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    if constexpr (std::is_floating_point_v<Sample>) {
      return random.one_in(2) ? std::bit_cast<Sample>(bits) : static_cast<Sample>(bits % 9) - 4;
    } else {
      return static_cast<Sample>(random.one_in(2) ? bits : bits % 30000 - 15000);
    }
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  void write(const std::vector<std::uint8_t>& mask) const {
    make_typed<Sample>(
        file("a.tif"),
        {.width = width, .height = height, .bands = {samples_}, .mask = mask, .prepare = [](auto dataset) {
           set_no_data<Sample>(dataset, no_data);
         }});
    make_typed<std::uint8_t>(file("quality.tif"), {.width = width, .height = height, .bands = {quality_}});
  }

  cli::BandFigures figures(residency::StreamPlace place, bool with_quality) {
    cli::InputOptions options;
    if (with_quality) {
      options.mask = file("quality.tif");
      options.mask_bits = {3};
    }
    cli::InputRasters inputs(options);
    const cli::BandChoice band = inputs.band(inputs.open(file("a.tif")), 1);
    inputs.prepare();
    const auto statistics =
        cli::BandStatistics::create(inputs.info(band), {.percentiles = {{.text = "50", .percent = 50}},
                                                        .has_quality_mask = inputs.has_quality_mask(),
                                                        .place = place});
    EXPECT_EQ(statistics->on_host(), place == residency::StreamPlace::host);
    cli::RunOptions run;
    run.quiet = true;
    cli::gather({this->device(), run, inputs}, {band}, {statistics.get()}, "test");
    return statistics->figures();
  }

  /// By the first reason in the order that the figures name them in.
  void expect_reasons(const cli::BandFigures& found, bool with_mask, bool with_quality) const {
    cli::MissingPixels expected;
    std::uint64_t valid = 0;
    for (std::size_t i = 0; i < pixels; ++i) {
      if (with_mask && mask_[i] == 0)
        ++expected.mask;
      else if (samples_[i] == no_data)
        ++expected.no_data;
      else if (!std::isfinite(static_cast<double>(samples_[i])))
        ++expected.not_finite;
      else if (with_quality && quality_[i] != 0)
        ++expected.quality;
      else
        ++valid;
    }
    EXPECT_EQ(found.valid, valid);
    EXPECT_EQ(found.missing.json(), expected.json());
  }

  TemporaryFolder folder_;
  std::vector<Sample> samples_;
  std::vector<std::uint8_t> mask_;
  std::vector<std::uint8_t> quality_;
};

using DeviceTypes =
    ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t, float>;
TYPED_TEST_SUITE(GatheringPlace, DeviceTypes);

TYPED_TEST(GatheringPlace, gives_the_same_figures) {
  for (const bool with_mask : {false, true}) {
    this->write(with_mask ? this->mask_ : std::vector<std::uint8_t>());
    for (const bool with_quality : {false, true}) {
      SCOPED_TRACE((with_mask ? "mask" : "no mask") + std::string(with_quality ? " and quality" : ""));
      const cli::BandFigures on_device = this->figures(residency::StreamPlace::device, with_quality);
      const cli::BandFigures on_host = this->figures(residency::StreamPlace::host, with_quality);
      EXPECT_EQ(on_host.json(), on_device.json());
      this->expect_reasons(on_device, with_mask, with_quality);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
