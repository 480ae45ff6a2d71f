#include <tessera/io/area.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "support/memory_raster.hpp"
#include "support/raster_reads.hpp"

namespace tessera::io {
namespace {

using residency::Window;
using testing::code_of;
using testing::MemorySource;

/// 10 x 8 pixels without bands.
MemorySource raster_of(const std::array<double, 6>& affine, const std::string& authority = {},
                       raster::PixelInterpretation interpretation = raster::PixelInterpretation::area) {
  MemorySource source({10, 8}, {10, 1});
  source.edit_metadata().georeferencing = raster::Georeferencing::present;
  source.edit_metadata().affine = affine;
  source.edit_metadata().pixel_interpretation = interpretation;
  if (!authority.empty())
    source.edit_metadata().coordinate_reference_system = raster::CoordinateReferenceSystem{.authority = authority};
  return source;
}

/// Pixels of 100 x 100 from 500000, 4000800 down and to the right.
MemorySource north_up() { return raster_of({100.0, 0.0, 500000.0, 0.0, -100.0, 4000800.0}, "EPSG:32633"); }

TEST(WindowOfBox, covers_whole_pixels_that_the_box_touches) {
  const MemorySource raster = north_up();
  EXPECT_EQ(window_of_box(raster, {500100.0, 4000300.0, 500400.0, 4000500.0}), (Window{1, 3, 3, 2}));
  EXPECT_EQ(window_of_box(raster, {500199.0, 4000299.0, 500401.0, 4000501.0}), (Window{1, 2, 4, 4}));
  EXPECT_EQ(window_of_box(raster, {500150.0, 4000350.0, 500151.0, 4000351.0}), (Window{1, 4, 1, 1}));
}

TEST(WindowOfBox, an_edge_close_to_a_border_is_on_it) {
  const MemorySource raster = north_up();
  EXPECT_EQ(window_of_box(raster, {500099.95, 4000299.95, 500400.05, 4000500.05}), (Window{1, 3, 3, 2}));
  EXPECT_EQ(window_of_box(raster, {500099.8, 4000300.0, 500400.2, 4000500.0}), (Window{0, 3, 5, 2}));
}

TEST(WindowOfBox, ends_at_the_raster) {
  const MemorySource raster = north_up();
  EXPECT_EQ(window_of_box(raster, {0.0, 0.0, 1e7, 1e7}), (Window{0, 0, 10, 8}));
  EXPECT_EQ(window_of_box(raster, {500850.0, 3999000.0, 600000.0, 4000150.0}), (Window{8, 6, 2, 2}));
}

TEST(WindowOfBox, south_up_rotated_and_point_rasters) {
  EXPECT_EQ(window_of_box(raster_of({100.0, 0.0, 0.0, 0.0, 100.0, 0.0}), {100.0, 200.0, 300.0, 500.0}),
            (Window{1, 2, 2, 3}));
  // Columns run along y, rows along x.
  EXPECT_EQ(window_of_box(raster_of({0.0, 10.0, 0.0, 10.0, 0.0, 0.0}), {20.0, 30.0, 50.0, 40.0}), (Window{3, 2, 1, 3}));
  // The affine of a point raster names the middle of the first pixel.
  EXPECT_EQ(window_of_box(raster_of({10.0, 0.0, 5.0, 0.0, -10.0, 75.0}, {}, raster::PixelInterpretation::point),
                          {10.0, 50.0, 30.0, 70.0}),
            (Window{1, 1, 2, 2}));
}

TEST(WindowOfBox, transforms_boxes_of_other_reference_systems) {
  // Whole degrees from 0 east, 4 north.
  const MemorySource raster = raster_of({1.0, 0.0, 0.0, 0.0, -1.0, 4.0}, "EPSG:4326");
  const auto x = [](double degrees) { return 6378137.0 * degrees * std::numbers::pi / 180.0; };
  const auto y = [](double degrees) {
    return 6378137.0 * std::log(std::tan(std::numbers::pi / 4.0 + degrees * std::numbers::pi / 360.0));
  };
  EXPECT_EQ(window_of_box(raster, {x(2), y(-2), x(5), y(3)}, "EPSG:3857"), (Window{2, 1, 3, 5}));
  EXPECT_EQ(window_of_box(raster, {2.0, -2.0, 5.0, 3.0}, "EPSG:4326"), (Window{2, 1, 3, 5}));
}

TEST(WindowOfBox, rejects_what_has_no_place) {
  const MemorySource raster = north_up();
  const Box box{500100.0, 4000300.0, 500400.0, 4000500.0};
  std::string message;
  EXPECT_EQ(code_of([&] { window_of_box(raster, {0.0, 0.0, 10.0, 10.0}); }, &message), ErrorCode::range_out_of_bounds);
  EXPECT_NE(message.find("0,0,10,10"), std::string::npos) << message;
  EXPECT_NE(message.find("500000,4000000,501000,4000800"), std::string::npos) << message;
  // Only an edge is shared.
  EXPECT_EQ(code_of([&] {
              window_of_box(raster, {501000.0, 4000000.0, 502000.0, 4000800.0});
            }),
            ErrorCode::range_out_of_bounds);
  for (const Box& bad :
       {Box{1.0, 0.0, 0.0, 1.0}, Box{0.0, 1.0, 1.0, 1.0}, Box{NAN, 0.0, 1.0, 1.0}, Box{0.0, 0.0, INFINITY, 1.0}})
    EXPECT_EQ(code_of([&] { window_of_box(raster, bad); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { window_of_box(raster, box, "no such system"); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { window_of_box(raster, box, "EPSG:4326"); }), ErrorCode::invalid_argument);
  const MemorySource without_system = raster_of({1.0, 0.0, 0.0, 0.0, -1.0, 4.0});
  EXPECT_EQ(code_of([&] {
              window_of_box(without_system, {0.0, 0.0, 1.0, 1.0}, "EPSG:4326");
            }),
            ErrorCode::invalid_argument);
  const MemorySource nowhere({10, 8}, {10, 1});
  EXPECT_EQ(code_of([&] { window_of_box(nowhere, {0.0, 0.0, 1.0, 1.0}); }), ErrorCode::invalid_argument);
}

TEST(ExtentOf, surrounds_all_pixels) {
  const Box box =
      extent_of(raster_of({10.0, 0.0, 5.0, 0.0, -10.0, 75.0}, {}, raster::PixelInterpretation::point).metadata());
  EXPECT_EQ(box.minimum_x, 0.0);
  EXPECT_EQ(box.maximum_x, 100.0);
  EXPECT_EQ(box.minimum_y, 0.0);
  EXPECT_EQ(box.maximum_y, 80.0);
}

}  // namespace
}  // namespace tessera::io
