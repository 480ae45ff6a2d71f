#include <tessera/residency/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include <tessera/ops/aggregation.hpp>
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

/// A raster of 8 x 40 pixels in windows of 8 x 2, of which all but the windows from row 10 and from row 30 hold 3 and
/// are called blank. The mask takes out column 2.
class BlankStreamTest : public test::DeviceFixture {
 protected:
  static constexpr Extent extent{8, 40};
  static constexpr std::uint64_t windows = 20;
  static bool is_blank(const Window& window) { return window.row != 10 && window.row != 30; }

  struct Outcome {
    std::vector<float> sums;
    std::vector<bool> has_samples;
    std::uint64_t missing_by_mask = 0;
    std::uint64_t missing_by_unreadable = 0;
    std::uint64_t reads = 0;
  };

  static void fill(MemorySource& source) {
    const std::uint32_t plane = source.add_plane([](std::int64_t column, std::int64_t) { return column == 2 ? 0 : 1; });
    source.add_band<float>(SampleType::float32,
                           [](std::int64_t column, std::int64_t row) {
                             const Window window{0, row / 2 * 2, 8, 2};
                             return is_blank(window) ? 3.0F : static_cast<float>(row * 8 + column);
                           },
                           {.validity = raster::ValiditySource::mask, .validity_plane = plane});
    source.blank = is_blank;
  }

  Outcome run(const MemorySource& counted, const TileSource& source, BlankWindows blank_windows,
              StreamPlace place = StreamPlace::device) {
    StreamJob job{.inputs = {{.source = &source, .place = place}}, .grid = WindowGrid(extent, {8, 2})};
    job.blank_windows = blank_windows;
    if (place == StreamPlace::device) {
      job.result_bytes = 4;
      job.build = [](Graph& graph, const StreamViews& views) {
        graph.add(Reduction{.input = views.inputs[0],
                            .output = views.results.view(Format::float32, 1),
                            .operation = Reduction::Operation::sum});
      };
    }
    Outcome outcome;
    job.accept = [&](const StreamedWindow& window) {
      float sum = 0;
      if (!window.results.empty()) std::memcpy(&sum, window.results.data(), sizeof(sum));
      outcome.sums.push_back(sum);
      outcome.has_samples.push_back(!window.samples.at(0).empty());
      EXPECT_EQ(window.validity.at(0).empty(), window.samples.at(0).empty());
      EXPECT_EQ(window.window.row, static_cast<std::int64_t>(2 * outcome.sums.size()) - 2);
      outcome.missing_by_mask += window.missing_by_mask.at(0);
      outcome.missing_by_unreadable += window.missing_by_unreadable.at(0);
    };
    stream(device(), job, {});
    outcome.reads = counted.reads();
    return outcome;
  }
};

TEST_F(BlankStreamTest, blank_windows_give_what_their_pixels_would) {
  std::vector<float> expected;
  for (std::int64_t row = 0; row < extent.height; row += 2) {
    // 14 of 16 pixels are valid.
    float sum = 14 * 3.0F;
    if (!is_blank({0, row, 8, 2})) {
      sum = 0;
      for (std::int64_t pixel = 0; pixel < 16; ++pixel)
        sum += pixel % 8 == 2 ? 0.0F : static_cast<float>((row + pixel / 8) * 8 + pixel % 8);
    }
    expected.push_back(sum);
  }
  for (const BlankWindows blank_windows : {BlankWindows::compute, BlankWindows::reuse}) {
    MemorySource source(extent, {8, 2});
    fill(source);
    const Outcome outcome = run(source, source, blank_windows);
    EXPECT_EQ(outcome.sums, expected);
    EXPECT_EQ(outcome.missing_by_mask, 2 * windows);
    const auto with_samples = static_cast<std::uint64_t>(std::ranges::count(outcome.has_samples, true));
    EXPECT_EQ(outcome.reads, with_samples);
    if (blank_windows == BlankWindows::compute) {
      EXPECT_EQ(outcome.reads, windows);
      continue;
    }
    // Both windows that hold something, and blank ones until the first has passed: three slots.
    EXPECT_GE(outcome.reads, 3u);
    EXPECT_LE(outcome.reads, 5u);
    EXPECT_TRUE(outcome.has_samples.at(5) && outcome.has_samples.at(15));
    EXPECT_FALSE(outcome.has_samples.at(4) || outcome.has_samples.at(19));
  }
}

TEST_F(BlankStreamTest, derived_sources_pass_the_answer_on) {
  MemorySource source(extent, {8, 2});
  fill(source);
  const SkippingSource skipping(source);
  const Outcome outcome = run(source, skipping, BlankWindows::reuse);
  EXPECT_LE(outcome.reads, 5u);
  EXPECT_EQ(outcome.missing_by_mask, 2 * windows);
}

TEST_F(BlankStreamTest, what_could_not_be_read_is_no_example) {
  MemorySource source(extent, {8, 2});
  fill(source);
  // The first window is called blank and fails all the same.
  source.broken = [](std::uint32_t band, std::int64_t, std::int64_t row) { return band == 1 && row < 2; };
  const SkippingSource skipping(source);
  const Outcome outcome = run(source, skipping, BlankWindows::reuse);
  EXPECT_EQ(outcome.missing_by_unreadable, 16u);
  EXPECT_EQ(outcome.sums.at(0), 0.0F);
  EXPECT_EQ(outcome.sums.at(1), 14 * 3.0F);
  EXPECT_EQ(outcome.sums.at(19), 14 * 3.0F);
}

TEST_F(BlankStreamTest, samples_on_the_host_are_always_read) {
  MemorySource source(extent, {8, 2});
  fill(source);
  const Outcome outcome = run(source, source, BlankWindows::reuse, StreamPlace::host);
  EXPECT_EQ(outcome.reads, windows);
  EXPECT_EQ(std::ranges::count(outcome.has_samples, true), static_cast<std::ptrdiff_t>(windows));
}

}  // namespace
}  // namespace tessera::residency
