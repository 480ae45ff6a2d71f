#include <tessera/residency/derived_sources.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <thread>

#include "support/memory_raster.hpp"
#include "support/raster_reads.hpp"

namespace tessera::residency {
namespace {

using raster::BandInfo;
using raster::NoData;
using raster::SampleType;
using raster::ValiditySource;
using testing::code_of;
using testing::MemorySource;
using testing::read_band;
using testing::read_plane;

std::uint16_t position(std::int64_t column, std::int64_t row) { return static_cast<std::uint16_t>(100 * row + column); }

/// 10 x 6 pixels of 100 * row + column in blocks of 4 x 4, masked in column 1 and by alpha in column 2.
MemorySource scene() {
  MemorySource source({10, 6}, {4, 4});
  const std::uint32_t plane = source.add_plane([](std::int64_t column, std::int64_t) {
    return column == 1 ? 0 : column == 2 ? 2 : 1;
  });
  source.add_band<std::uint16_t>(SampleType::uint16, position);
  source.add_band<std::uint16_t>(SampleType::uint16, position,
                                 {.validity = ValiditySource::mask_and_alpha, .validity_plane = plane});
  return source;
}

// ---- subset

TEST(SubsetSource, is_the_window_as_a_raster) {
  MemorySource source = scene();
  source.edit_metadata().georeferencing = raster::Georeferencing::present;
  source.edit_metadata().affine = {10.0, 2.0, 1000.0, -3.0, -20.0, 5000.0};
  source.edit_metadata().level_zero_origin = {5.0, 6.0};
  const SubsetSource subset(source, {1, 2, 3, 4});
  EXPECT_EQ(subset.extent(), (Extent{3, 4}));
  // The same pixel lies at the same place.
  EXPECT_EQ(subset.metadata().world_position(0, 0), source.metadata().world_position(1, 2));
  EXPECT_EQ(subset.metadata().world_position(2, 3), source.metadata().world_position(3, 5));
  EXPECT_EQ(*subset.metadata().level_zero_origin, (std::array<double, 2>{6.0, 8.0}));
  EXPECT_EQ(read_band<std::uint16_t>(subset, 2, {1, 0, 2, 2}), (std::vector<std::uint16_t>{202, 203, 302, 303}));
  EXPECT_EQ(read_plane(subset, 0, {0, 0, 3, 1}).bytes, (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_EQ(read_plane(subset, 0).missing_by_mask, 4u);
}

TEST(SubsetSource, without_georeferencing_keeps_the_identity) {
  const MemorySource source = scene();
  const SubsetSource subset(source, {1, 2, 3, 4});
  EXPECT_EQ(subset.metadata().affine, (std::array<double, 6>{1.0, 0.0, 0.0, 0.0, 1.0, 0.0}));
  EXPECT_EQ(subset.metadata().georeferencing, raster::Georeferencing::absent);
}

TEST(SubsetSource, rejects_windows_that_leave_the_raster) {
  const MemorySource source = scene();
  for (const Window& window : {Window{0, 0, 0, 1}, {-1, 0, 2, 2}, {9, 0, 2, 2}, {0, 5, 1, 2}, {11, 0, 1, 1}})
    EXPECT_EQ(code_of([&] { SubsetSource(source, window); }), ErrorCode::range_out_of_bounds) << window.text();
  const SubsetSource subset(source, {1, 2, 3, 4});
  EXPECT_EQ(code_of([&] { read_band<std::uint16_t>(subset, 1, {0, 0, 4, 1}); }), ErrorCode::range_out_of_bounds);
}

// ---- descriptions

TEST(RedescribedSource, changes_descriptions_and_no_pixel) {
  const MemorySource source = scene();
  std::vector<BandInfo> bands(source.bands().begin(), source.bands().end());
  bands[0].no_data = NoData::of(SampleType::uint16, 7);
  bands[0].scale = 0.0;
  bands[1].scale = -2.0;
  bands[1].validity = ValiditySource::none;
  const RedescribedSource redescribed(source, bands);
  EXPECT_EQ(redescribed.band(1).no_data.text(), "7");
  EXPECT_FALSE(redescribed.band(1).scale.has_value());
  EXPECT_EQ(redescribed.band(2).scale_or_default(), -2.0);
  EXPECT_EQ(redescribed.band(2).validity, ValiditySource::mask_and_alpha);
  EXPECT_EQ(read_band<std::uint16_t>(redescribed, 1), read_band<std::uint16_t>(source, 1));
}

TEST(RedescribedSource, rejects_what_would_change_pixels) {
  const MemorySource source = scene();
  std::vector<BandInfo> bands(source.bands().begin(), source.bands().end());
  const auto code = [&](const auto& change) {
    std::vector<BandInfo> changed = bands;
    change(changed);
    return code_of([&] { RedescribedSource(source, changed); });
  };
  EXPECT_EQ(code([](auto& all) { all.pop_back(); }), ErrorCode::length_mismatch);
  EXPECT_EQ(code([](auto& all) { all[1].type = SampleType::sint16; }), ErrorCode::format_mismatch);
  EXPECT_EQ(code([](auto& all) { all[1].no_data = NoData::of(SampleType::uint8, 1); }), ErrorCode::format_mismatch);
  EXPECT_EQ(code([](auto& all) { all[0].offset = std::numeric_limits<double>::infinity(); }),
            ErrorCode::invalid_argument);
}

// ---- quality

/// A quality band of one type over `scene()`.
template <class Sample>
MemorySource quality_of(SampleType type, const std::function<Sample(std::int64_t, std::int64_t)>& value,
                        const BandInfo& info = {}) {
  MemorySource mask({10, 6}, {10, 1});
  mask.add_band<Sample>(type, value, info);
  return mask;
}

TEST(QualityMaskedSource, planes_combine_and_count_each_pixel_once) {
  const MemorySource source = scene();
  // Bit 3 in columns 1 and 4, value 9 in column 5.
  const MemorySource mask = quality_of<std::uint8_t>(SampleType::uint8, [](std::int64_t column, std::int64_t) {
    return static_cast<std::uint8_t>(column == 1 || column == 4 ? 8 + 2 : column == 5 ? 5 : column == 6 ? 2 : 0);
  });
  const QualityMaskedSource masked(source, mask, 1, {.bits = {3}, .values = {5, -1, 300}});
  EXPECT_EQ(masked.validity_plane_count(), 3u);
  EXPECT_EQ(masked.quality_plane(), 2u);
  EXPECT_EQ(masked.band(1).validity, ValiditySource::quality);
  EXPECT_EQ(masked.band(1).validity_plane, 2u);
  EXPECT_EQ(masked.band(2).validity, ValiditySource::mask_and_alpha);
  EXPECT_EQ(masked.band(2).validity_plane, 1u);
  EXPECT_EQ(masked.unmasked_plane(1), std::nullopt);
  EXPECT_EQ(masked.unmasked_plane(2), 0u);

  const Window row{0, 3, 10, 1};
  EXPECT_EQ(read_plane(masked, 0, row).bytes, (std::vector<std::uint8_t>{1, 0, 0, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(read_plane(masked, 1, row).bytes, (std::vector<std::uint8_t>{1, 0, 0, 1, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(read_plane(masked, 2, row).bytes, (std::vector<std::uint8_t>{1, 0, 1, 1, 0, 0, 1, 1, 1, 1}));

  const auto combined = read_plane(masked, 1);
  EXPECT_EQ(combined.missing_by_mask, 6u);
  EXPECT_EQ(combined.missing_by_alpha, 6u);
  EXPECT_EQ(combined.missing_by_quality, 12u);
  EXPECT_EQ(read_plane(masked, 0).missing_by_quality, 0u);
  EXPECT_EQ(read_plane(masked, 2).missing_by_quality, 18u);
  EXPECT_EQ(read_band<std::uint16_t>(masked, 1), read_band<std::uint16_t>(source, 1));
}

TEST(QualityMaskedSource, one_read_delivers_every_plane) {
  const MemorySource source = scene();
  const MemorySource mask = quality_of<std::uint8_t>(
      SampleType::uint8, [](std::int64_t column, std::int64_t) { return static_cast<std::uint8_t>(column == 4); });
  const QualityMaskedSource masked(source, mask, 1, {.values = {1}});
  std::vector<std::vector<std::uint8_t>> bytes(4, std::vector<std::uint8_t>(60));
  std::vector<ValidityDestination> planes;
  const std::uint32_t numbers[] = {1, 0, 2, 0};
  for (std::size_t i = 0; i < 4; ++i) planes.push_back({.plane = numbers[i], .bytes = bytes[i]});
  masked.read({.window = {0, 0, 10, 6}, .bands = {}, .validity = planes});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(bytes[i], read_plane(masked, numbers[i]).bytes) << i;
    EXPECT_EQ(planes[i].missing_by_quality, read_plane(masked, numbers[i]).missing_by_quality) << i;
  }
}

TEST(QualityMaskedSource, missing_pixels_of_the_mask_are_bad) {
  const MemorySource source = scene();
  MemorySource mask({10, 6}, {4, 4});
  const std::uint32_t plane = mask.add_plane([](std::int64_t column, std::int64_t) { return column == 9 ? 0 : 1; });
  mask.add_band<std::uint8_t>(
      SampleType::uint8, [](std::int64_t column, std::int64_t) { return static_cast<std::uint8_t>(column); },
      {.no_data = NoData::of(SampleType::uint8, 8), .validity = ValiditySource::mask, .validity_plane = plane});
  const QualityMaskedSource masked(source, mask, 1, {.values = {3}});
  EXPECT_EQ(read_plane(masked, 2, {0, 0, 10, 1}).bytes, (std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1, 1, 1, 0, 0}));
}

TEST(QualityMaskedSource, every_integer_type_compares_bit_patterns) {
  const MemorySource source = scene();
  const auto expect = [&](const MemorySource& mask, const QualityRule& rule, std::vector<std::uint8_t> expected) {
    const QualityMaskedSource masked(source, mask, 1, rule);
    EXPECT_EQ(read_plane(masked, 2, {0, 0, 4, 1}).bytes, expected) << name_of(mask.band(1).type);
  };
  const auto cycle = [](auto first, auto second, auto third, auto fourth) {
    return [=](std::int64_t column, std::int64_t) {
      const decltype(first) all[] = {first, second, third, fourth};
      return all[column % 4];
    };
  };
  using Bytes = std::vector<std::uint8_t>;
  expect(quality_of<std::int8_t>(SampleType::sint8,
                                 cycle(std::int8_t{-1}, std::int8_t{1}, std::int8_t{-128}, std::int8_t{127})),
         {.values = {-1, 127, 255}}, Bytes{0, 1, 1, 0});
  expect(quality_of<std::int16_t>(SampleType::sint16,
                                  cycle(std::int16_t{-32768}, std::int16_t{0}, std::int16_t{-1}, std::int16_t{2})),
         {.bits = {15}}, Bytes{0, 1, 0, 1});
  expect(quality_of<std::uint32_t>(SampleType::uint32, cycle(1u << 31, 5u, 4294967295u, 7u)),
         {.bits = {31}, .values = {7}}, Bytes{0, 1, 0, 0});
  expect(quality_of<std::int32_t>(SampleType::sint32, cycle(-5, 5, 6, 7)), {.values = {-5, 4294967291}},
         Bytes{0, 1, 1, 1});
  expect(quality_of<std::uint64_t>(
             SampleType::uint64, cycle(std::uint64_t{1} << 63, std::uint64_t{3}, ~std::uint64_t{0}, std::uint64_t{4})),
         {.values = {-1, 4}}, Bytes{1, 1, 1, 0});
  expect(quality_of<std::int64_t>(SampleType::sint64,
                                  cycle(std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 40, std::int64_t{4})),
         {.bits = {40}, .values = {3}}, Bytes{0, 0, 0, 1});
}

TEST(QualityMaskedSource, reads_large_windows_in_strips) {
  MemorySource source({2000, 1100}, {256, 256});
  source.add_band<std::uint8_t>(SampleType::uint8, [](std::int64_t, std::int64_t) { return std::uint8_t{1}; });
  MemorySource mask({2000, 1100}, {2000, 3});
  mask.add_band<std::uint8_t>(SampleType::uint8, [](std::int64_t column, std::int64_t row) {
    return static_cast<std::uint8_t>((column * 7 + row * 13) % 5);
  });
  const QualityMaskedSource masked(source, mask, 1, {.values = {2}});
  const Window window{3, 1, 1990, 1099};
  const auto plane = read_plane(masked, 0, window);
  std::uint64_t bad = 0;
  std::size_t pixel = 0;
  for (std::int64_t row = 1; row < 1100; ++row) {
    for (std::int64_t column = 3; column < 1993; ++column, ++pixel) {
      const bool is_bad = (column * 7 + row * 13) % 5 == 2;
      bad += is_bad ? 1 : 0;
      ASSERT_EQ(plane.bytes[pixel], is_bad ? 0 : 1) << column << ", " << row;
    }
  }
  EXPECT_EQ(plane.missing_by_quality, bad);
}

TEST(QualityMaskedSource, rejects_masks_and_rules_that_do_not_fit) {
  const MemorySource source = scene();
  const auto zero = [](std::int64_t, std::int64_t) { return std::uint8_t{0}; };
  const MemorySource mask = quality_of<std::uint8_t>(SampleType::uint8, zero);
  const auto code = [&](const TileSource& by, std::uint32_t band, const QualityRule& rule) {
    return code_of([&] { QualityMaskedSource(source, by, band, rule); });
  };
  EXPECT_EQ(code(mask, 1, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(mask, 1, {.bits = {8}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(mask, 2, {.bits = {1}}), ErrorCode::band_out_of_range);
  MemorySource small({10, 5}, {4, 4});
  small.add_band<std::uint8_t>(SampleType::uint8, zero);
  EXPECT_EQ(code(small, 1, {.bits = {1}}), ErrorCode::grid_mismatch);
  const MemorySource fractions =
      quality_of<float>(SampleType::float32, [](std::int64_t, std::int64_t) { return 0.0F; });
  EXPECT_EQ(code(fractions, 1, {.bits = {1}}), ErrorCode::format_mismatch);
}

// ---- unreadable blocks

TEST(SkippingSource, a_whole_source_stays_as_it_is) {
  const MemorySource source = scene();
  const SkippingSource skipping(source);
  EXPECT_EQ(skipping.validity_plane_count(), 3u);
  EXPECT_EQ(skipping.band(1).validity, ValiditySource::unreadable);
  EXPECT_EQ(skipping.band(1).validity_plane, 1u);
  EXPECT_EQ(skipping.band(2).validity, ValiditySource::mask_and_alpha);
  EXPECT_EQ(read_plane(skipping, 1).bytes, std::vector<std::uint8_t>(60, 1));
  EXPECT_EQ(read_plane(skipping, 2).bytes, read_plane(source, 0).bytes);
  EXPECT_EQ(read_plane(skipping, 2).missing_by_alpha, 6u);
  EXPECT_EQ(skipping.skipped_count(), 0u);
}

TEST(SkippingSource, a_broken_block_is_missing_and_listed_once) {
  MemorySource source = scene();
  source.broken = [](std::uint32_t band, std::int64_t column, std::int64_t row) {
    return band == 1 && column == 5 && row == 4;
  };
  const SkippingSource skipping(source);
  for (int round = 0; round < 2; ++round) {
    const std::vector<std::uint16_t> samples = read_band<std::uint16_t>(skipping, 1);
    const auto own = read_plane(skipping, 1);
    for (std::int64_t row = 0; row < 6; ++row) {
      for (std::int64_t column = 0; column < 10; ++column) {
        const auto pixel = static_cast<std::size_t>(row * 10 + column);
        const bool lost = row >= 4 && column >= 4 && column < 8;
        EXPECT_EQ(samples[pixel], lost ? 0 : position(column, row));
        EXPECT_EQ(own.bytes[pixel], lost ? 0 : 1);
      }
    }
    EXPECT_EQ(own.missing_by_unreadable, 8u);
  }
  // The other band is whole.
  EXPECT_EQ(read_band<std::uint16_t>(skipping, 2), read_band<std::uint16_t>(source, 2));
  EXPECT_EQ(read_plane(skipping, 2).missing_by_unreadable, 0u);
  EXPECT_EQ(skipping.skipped_count(), 1u);
  ASSERT_EQ(skipping.skipped().size(), 1u);
  EXPECT_EQ(skipping.skipped()[0].window, (Window{4, 4, 4, 2}));
  EXPECT_EQ(skipping.skipped()[0].band, 1u);
  EXPECT_NE(skipping.skipped()[0].cause.find("is broken here"), std::string::npos);
}

TEST(SkippingSource, counts_pixels_by_their_first_reason) {
  MemorySource source = scene();
  source.broken = [](std::uint32_t band, std::int64_t column, std::int64_t row) {
    return band == 2 && column == 0 && row == 0;
  };
  const SkippingSource skipping(source);
  const auto plane = read_plane(skipping, 2);
  EXPECT_EQ(plane.missing_by_unreadable, 16u);  // 4 x 4, masked or not
  EXPECT_EQ(plane.missing_by_mask, 2u);         // column 1 below the block
  EXPECT_EQ(plane.missing_by_alpha, 2u);
  EXPECT_EQ(std::ranges::count(plane.bytes, 0), 20);
}

TEST(SkippingSource, a_broken_mask_takes_out_the_bands_that_use_it) {
  MemorySource source = scene();
  source.broken = [](std::uint32_t band, std::int64_t column, std::int64_t row) {
    return band == 0 && column == 9 && row == 0;
  };
  const SkippingSource skipping(source);
  EXPECT_EQ(read_plane(skipping, 2).missing_by_unreadable, 8u);
  EXPECT_EQ(read_plane(skipping, 1).missing_by_unreadable, 0u);
  EXPECT_EQ(skipping.skipped_count(), 1u);
  EXPECT_EQ(skipping.skipped().at(0).band, 2u);
}

TEST(SkippingSource, lists_no_more_than_allowed_and_counts_all) {
  MemorySource source = scene();
  source.broken = [](std::uint32_t, std::int64_t, std::int64_t) { return true; };
  const SkippingSource skipping(source, 2);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { read_band<std::uint16_t>(skipping, 1); });
  threads.clear();
  EXPECT_EQ(skipping.skipped_count(), 6u);
  EXPECT_EQ(skipping.skipped().size(), 2u);
}

TEST(SkippingSource, other_errors_stay_errors) {
  MemorySource source = scene();
  source.broken = [](std::uint32_t, std::int64_t, std::int64_t) { return true; };
  source.failure = ErrorCode::limit_exceeded;
  const SkippingSource skipping(source);
  EXPECT_EQ(code_of([&] { read_band<std::uint16_t>(skipping, 1); }), ErrorCode::limit_exceeded);
  EXPECT_EQ(skipping.skipped_count(), 0u);
}

TEST(SkippingSource, a_broken_quality_mask_makes_pixels_bad) {
  const MemorySource source = scene();
  MemorySource mask = quality_of<std::uint8_t>(SampleType::uint8, [](auto, auto) { return std::uint8_t{0}; });
  mask.broken = [](std::uint32_t, std::int64_t, std::int64_t row) { return row == 3; };
  const SkippingSource skipping(mask);
  const QualityMaskedSource masked(source, skipping, 1, {.bits = {0}});
  EXPECT_EQ(read_plane(masked, 2).missing_by_quality, 10u);
  EXPECT_EQ(read_plane(masked, 2, {0, 3, 10, 1}).bytes, std::vector<std::uint8_t>(10, 0));
}

TEST(DerivedSources, are_blank_where_all_that_they_read_is) {
  MemorySource scene({40, 30}, {10, 10});
  const std::uint32_t plane = scene.add_plane([](std::int64_t, std::int64_t) { return 1; });
  const auto zero = [](std::int64_t, std::int64_t) { return std::uint8_t{0}; };
  scene.add_band<std::uint8_t>(SampleType::uint8, zero,
                               {.validity = raster::ValiditySource::mask, .validity_plane = plane});
  scene.add_band<std::uint8_t>(SampleType::uint8, zero);
  MemorySource mask({40, 30}, {10, 10});
  mask.add_band<std::uint8_t>(SampleType::uint8, zero);
  const std::vector<std::uint32_t> bands{1, 2};
  const Window window{10, 10, 20, 10};
  const auto asks = [&](const TileSource& source, const Window& of, const std::vector<std::uint32_t>& planes) {
    return source.is_blank(of, bands, planes);
  };
  EXPECT_FALSE(asks(scene, window, {0}));
  scene.blank = [&](const Window& asked) { return asked == window; };
  EXPECT_TRUE(asks(scene, window, {0}));

  const SubsetSource subset(scene, {10, 0, 30, 30});
  EXPECT_TRUE(asks(subset, {0, 10, 20, 10}, {0}));
  EXPECT_FALSE(asks(subset, {10, 10, 20, 10}, {0}));
  const RedescribedSource redescribed(scene, {scene.bands().begin(), scene.bands().end()});
  EXPECT_TRUE(asks(redescribed, window, {0}));
  const SkippingSource skipping(scene);
  EXPECT_TRUE(asks(skipping, window, {1, 2}));
  EXPECT_FALSE(asks(skipping, {0, 0, 20, 10}, {1, 2}));

  const QualityMaskedSource masked(scene, mask, 1, {.values = {1}});
  EXPECT_TRUE(asks(masked, window, {0}));
  EXPECT_FALSE(asks(masked, window, {1}));
  EXPECT_FALSE(asks(masked, window, {2}));
  mask.blank = [&](const Window& asked) { return asked == window; };
  EXPECT_TRUE(asks(masked, window, {1, 2}));

  EXPECT_EQ(code_of([&] { asks(scene, {0, 0, 41, 1}, {}); }), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code_of([&] { asks(scene, window, {1}); }), ErrorCode::unknown_id);
  EXPECT_EQ(code_of([&] { asks(mask, window, {}); }), ErrorCode::band_out_of_range);
}

}  // namespace
}  // namespace tessera::residency
