#include <tessera/raster/metadata.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include <tessera/error.hpp>

namespace tessera::raster {
namespace {

RasterMetadata sheared() {
  RasterMetadata metadata;
  metadata.width = 10;
  metadata.height = 5;
  metadata.affine = {2.0, 0.5, 100.0, -0.25, -3.0, 200.0};
  metadata.pixel_interpretation = PixelInterpretation::area;
  metadata.coordinate_reference_system = CoordinateReferenceSystem{.authority = "EPSG:32633"};
  return metadata;
}

using Change = std::function<void(RasterMetadata&)>;

void expect_rejected(const char* field, const Change& change) {
  RasterMetadata metadata = sheared();
  change(metadata);
  try {
    metadata.validate();
    ADD_FAILURE() << "accepted: " << field;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.detail().operand, field);
  }
}

TEST(RasterMetadata, maps_pixels_by_interpretation) {
  RasterMetadata metadata = sheared();
  EXPECT_EQ(metadata.world_position(3, 1), (std::array<double, 2>{107.75, 194.625}));
  metadata.pixel_interpretation = PixelInterpretation::point;
  EXPECT_EQ(metadata.world_position(3, 1), (std::array<double, 2>{106.5, 196.25}));
  EXPECT_EQ(metadata.pixel_area(), 5.875);
}

TEST(RasterMetadata, accepts_more_than_32_bits_of_pixels) {
  RasterMetadata metadata = sheared();
  metadata.width = 1 << 20;
  metadata.height = 1 << 20;
  EXPECT_NO_THROW(metadata.validate());
  EXPECT_EQ(metadata.pixel_count(), std::uint64_t{1} << 40);
}

TEST(RasterMetadata, rejects_by_field) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_rejected("width", [](RasterMetadata& m) { m.width = 0; });
  expect_rejected("height", [](RasterMetadata& m) { m.height = -1; });
  expect_rejected("width", [](RasterMetadata& m) { m.width = m.height = std::int64_t{1} << 32; });
  expect_rejected("affine", [](RasterMetadata& m) { m.affine[2] = std::numeric_limits<double>::quiet_NaN(); });
  expect_rejected("affine", [](RasterMetadata& m) { m.affine[5] = infinity; });
  expect_rejected("affine", [](RasterMetadata& m) { m.affine = {1, 2, 0, 2, 4, 0}; });
  expect_rejected("affine", [](RasterMetadata& m) { m.affine = {1e200, 0, 0, 0, 1e200, 0}; });
  expect_rejected("pixel_interpretation",
                  [](RasterMetadata& m) { m.pixel_interpretation = PixelInterpretation::unspecified; });
  expect_rejected("pixel_interpretation",
                  [](RasterMetadata& m) { m.pixel_interpretation = static_cast<PixelInterpretation>(7); });
  expect_rejected("level_zero_origin", [](RasterMetadata& m) { m.level_zero_origin = {{0.0, infinity}}; });
}

TEST(RasterMetadata, compatibility_names_the_field) {
  const std::vector<std::pair<const char*, Change>> changes = {
      {"width", [](RasterMetadata& m) { ++m.width; }},
      {"height", [](RasterMetadata& m) { ++m.height; }},
      {"affine", [](RasterMetadata& m) { m.affine[1] = 0.25; }},
      {"pixel_interpretation", [](RasterMetadata& m) { m.pixel_interpretation = PixelInterpretation::point; }},
      {"level", [](RasterMetadata& m) { m.level = 0; }},
      {"coordinate_reference_system", [](RasterMetadata& m) { m.coordinate_reference_system.reset(); }},
      {"coordinate_reference_system", [](RasterMetadata& m) { m.coordinate_reference_system->well_known_text = "X"; }},
      {"level_zero_origin",
       [](RasterMetadata& m) {
         m.level_zero_origin = {{0.0, 0.0}};
       }},
  };
  for (const auto& [field, change] : changes) {
    RasterMetadata other = sheared();
    change(other);
    EXPECT_FALSE(sheared().is_compatible_with(other)) << field;
    try {
      sheared().assert_compatible_with(other);
      ADD_FAILURE() << "accepted: " << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::grid_mismatch);
      EXPECT_EQ(error.detail().operand, field);
      EXPECT_NE(error.detail().values.find(" and "), std::string::npos);
    }
  }
}

TEST(RasterMetadata, compatibility_ignores_what_is_no_part_of_the_grid) {
  RasterMetadata left = sheared();
  RasterMetadata right = sheared();
  right.georeferencing = Georeferencing::absent;
  EXPECT_TRUE(left.is_compatible_with(right));
  left.coordinate_reference_system.reset();
  right.coordinate_reference_system.reset();
  EXPECT_NO_THROW(left.assert_compatible_with(right));
}

}  // namespace
}  // namespace tessera::raster
