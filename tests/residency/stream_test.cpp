#include <tessera/residency/stream.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include <tessera/ops/arithmetic.hpp>
#include <tessera/residency/derived_sources.hpp>

#include "support/device_fixture.hpp"
#include "support/memory_raster.hpp"

namespace tessera::residency {
namespace {

using raster::SampleType;
using testing::MemorySink;
using testing::MemorySource;

class StreamTest : public test::DeviceFixture {
 protected:
  StreamTest() : scene_({6, 5}, {6, 2}), mask_({6, 5}, {6, 5}) {
    const std::uint32_t plane = scene_.add_plane([](std::int64_t column, std::int64_t) { return column == 1 ? 0 : 1; });
    scene_.add_band<float>(SampleType::float32,
                           [](std::int64_t column, std::int64_t row) { return static_cast<float>(10 * row + column); },
                           {.validity = raster::ValiditySource::mask, .validity_plane = plane});
    mask_.add_band<std::uint8_t>(SampleType::uint8, [](std::int64_t column, std::int64_t row) {
      return static_cast<std::uint8_t>(column == 1 || (column == 3 && row > 0));
    });
  }

  MemorySource scene_;
  MemorySource mask_;
};

TEST_F(StreamTest, delivers_a_band_with_and_without_quality) {
  const QualityMaskedSource masked(scene_, mask_, 1, {.values = {1}});
  MemorySink sink({6, 5}, std::vector<raster::BandInfo>(2, {.type = SampleType::float32}));
  StreamJob job{.inputs = {{.source = &masked, .band = 1, .unmasked_plane = masked.unmasked_plane(1)}},
                .grid = WindowGrid({6, 5}, {6, 2})};
  job.output_bands = 2;
  job.sink = &sink;
  job.build = [](Graph& graph, const StreamViews& views) {
    ASSERT_EQ(views.unmasked.size(), 1u);
    ASSERT_TRUE(views.unmasked[0].has_value());
    raster::Band plain = views.inputs[0];
    plain.validity = views.unmasked[0];
    graph.add(Elementwise{.a = views.inputs[0], .output = views.outputs[0]});
    graph.add(Elementwise{.a = plain, .output = views.outputs[1]});
  };
  std::uint64_t by_mask = 0;
  std::uint64_t by_quality = 0;
  job.accept = [&](const StreamedWindow& window) {
    by_mask += window.missing_by_mask.at(0);
    by_quality += window.missing_by_quality.at(0);
    EXPECT_EQ(window.missing_by_alpha.at(0) + window.missing_by_unreadable.at(0), 0u);
    EXPECT_EQ(window.unmasked.at(0)[3], 1);
    EXPECT_EQ(window.validity.at(0)[3], window.window.row == 0 ? 1 : 0);
  };
  stream(device(), job, {});
  EXPECT_EQ(by_mask, 5u);
  EXPECT_EQ(by_quality, 4u);
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 6; ++column) {
      const auto pixel = static_cast<std::size_t>(row * 6 + column);
      const float value = static_cast<float>(10 * row + column);
      const float with_quality = sink.samples<float>(1)[pixel];
      const float without = sink.samples<float>(2)[pixel];
      if (column == 1 || (column == 3 && row > 0))
        EXPECT_TRUE(std::isnan(with_quality)) << pixel;
      else
        EXPECT_EQ(with_quality, value);
      if (column == 1)
        EXPECT_TRUE(std::isnan(without)) << pixel;
      else
        EXPECT_EQ(without, value);
    }
  }
}

TEST_F(StreamTest, inputs_without_planes_count_nothing) {
  const QualityMaskedSource masked(mask_, mask_, 1, {.values = {1}});
  StreamJob job{
      .inputs = {{.source = &masked, .place = StreamPlace::host}, {.source = &mask_, .place = StreamPlace::host}},
      .grid = WindowGrid({6, 5}, {6, 5})};
  job.accept = [&](const StreamedWindow& window) {
    EXPECT_EQ(window.missing_by_quality, (std::vector<std::uint64_t>{9, 0}));
    EXPECT_TRUE(window.unmasked.at(0).empty());
    EXPECT_TRUE(window.validity.at(1).empty());
  };
  stream(device(), job, {});
}

TEST_F(StreamTest, a_plane_that_does_not_exist_is_rejected) {
  StreamJob job{.inputs = {{.source = &scene_, .place = StreamPlace::host, .unmasked_plane = 7}},
                .grid = WindowGrid({6, 5}, {6, 5})};
  test::expect_error(ErrorCode::unknown_id, [&] { stream(device(), job, {}); });
}

}  // namespace
}  // namespace tessera::residency
