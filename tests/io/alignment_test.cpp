#include <tessera/io/alignment.hpp>

#include <gtest/gtest.h>
#include <ogr_srs_api.h>

#include <cmath>
#include <numbers>
#include <thread>

#include "support/memory_raster.hpp"
#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using raster::SampleType;
using raster::ValiditySource;
using testing::code_of;
using testing::make_raster;
using testing::MemorySource;
using testing::RasterSpec;
using testing::read_band;
using testing::read_validity;

std::function<void(GDALDatasetH)> placed(std::array<double, 6> transform, int epsg) {
  return [=](GDALDatasetH dataset) mutable {
    GDALSetGeoTransform(dataset, transform.data());
    const OGRSpatialReferenceH system = OSRNewSpatialReference(nullptr);
    OSRImportFromEPSG(system, epsg);
    GDALSetSpatialRef(dataset, system);
    OSRDestroySpatialReference(system);
  };
}

double position(int band, int column, int row) { return 100 * (band - 1) + 10 * row + column; }

class AlignmentTest : public ::testing::Test {
 protected:
  /// 8 x 6 pixels of 10 x 10 from (1000, 2000), values 10 * row + column, in zone 33 north.
  static RasterSpec base() {
    RasterSpec spec;
    spec.width = 8;
    spec.height = 6;
    spec.prepare = placed({1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0}, 32633);
    spec.value = position;
    return spec;
  }

  RasterFile opened(const RasterSpec& spec, const std::string& name = "a.tif") {
    make_raster(folder_.file(name), spec);
    return RasterFile::open(folder_.file(name));
  }

  /// A grid to align to, in the same reference system.
  static MemorySource grid(residency::Extent extent, const std::array<double, 6>& affine) {
    MemorySource source(extent, {extent.width, 1});
    source.edit_metadata().georeferencing = raster::Georeferencing::present;
    source.edit_metadata().affine = affine;
    source.edit_metadata().coordinate_reference_system = raster::CoordinateReferenceSystem{.authority = "EPSG:32633"};
    return source;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(AlignmentTest, nearest_moves_whole_pixels_and_the_rest_is_missing) {
  RasterSpec spec = base();
  spec.bands = 2;
  spec.type = GDT_Int32;
  const auto value = [](int band, int column, int row) {
    return column == 4 ? 2147483646.0 : position(band, column, row);
  };
  spec.value = value;
  const RasterFile file = opened(spec);
  // Two columns to the left, one row up.
  const MemorySource reference = grid({8, 6}, {10.0, 0.0, 980.0, 0.0, -10.0, 2010.0});
  const RasterFile aligned = align(file, reference);
  EXPECT_EQ(aligned.name(), file.name());
  EXPECT_EQ(aligned.bands().size(), 2u);
  EXPECT_TRUE(aligned.metadata().is_compatible_with(reference.metadata()));
  EXPECT_EQ(aligned.band(2).validity, ValiditySource::mask);
  const auto samples = read_band<std::int32_t>(aligned, 2);
  const auto validity = read_validity(aligned, 2);
  std::uint64_t outside = 0;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 8; ++column) {
      const auto pixel = static_cast<std::size_t>(row * 8 + column);
      const bool covered = column >= 2 && row >= 1;
      outside += covered ? 0 : 1;
      EXPECT_EQ(validity[pixel], covered ? 1 : 0) << column << ", " << row;
      if (!covered) continue;
      EXPECT_EQ(samples[pixel], value(2, column - 2, row - 1));
    }
  }
  EXPECT_EQ(testing::read_plane(aligned, 0).missing_by_mask, outside);
}

TEST_F(AlignmentTest, nearest_repeats_pixels_on_finer_south_up_and_point_grids) {
  const RasterFile file = opened(base());
  const auto fine = read_band<std::uint8_t>(align(file, grid({16, 12}, {5.0, 0.0, 1000.0, 0.0, -5.0, 2000.0})), 1);
  const auto flipped = read_band<std::uint8_t>(align(file, grid({8, 6}, {10.0, 0.0, 1000.0, 0.0, 10.0, 1940.0})), 1);
  MemorySource points = grid({8, 6}, {10.0, 0.0, 1005.0, 0.0, -10.0, 1995.0});
  points.edit_metadata().pixel_interpretation = raster::PixelInterpretation::point;
  const auto of_points = read_band<std::uint8_t>(align(file, points), 1);
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 16; ++column)
      EXPECT_EQ(fine[static_cast<std::size_t>(row * 16 + column)], position(1, column / 2, row / 2));
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 8; ++column) {
      EXPECT_EQ(flipped[static_cast<std::size_t>(row * 8 + column)], position(1, column, 5 - row));
      EXPECT_EQ(of_points[static_cast<std::size_t>(row * 8 + column)], position(1, column, row));
    }
  }
}

TEST_F(AlignmentTest, average_leaves_missing_pixels_out_band_by_band) {
  RasterSpec spec = base();
  spec.bands = 2;
  spec.type = GDT_Float32;
  spec.no_data = -3.4028234663852886e+38;
  // Missing: in band 1 the first pixel, in band 2 the first block of 2 x 2.
  spec.value = [](int band, int column, int row) {
    const bool is_missing = band == 1 ? column == 0 && row == 0 : column < 2 && row < 2;
    return is_missing ? -3.4028234663852886e+38 : position(band, column, row);
  };
  const RasterFile file = opened(spec);
  const RasterFile aligned = align(file, grid({4, 3}, {20.0, 0.0, 1000.0, 0.0, -20.0, 2000.0}), Resampling::average);
  EXPECT_EQ(aligned.band(1).no_data, file.band(1).no_data);
  const auto first = read_band<float>(aligned, 1);
  const auto second = read_band<float>(aligned, 2);
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 4; ++column) {
      const auto pixel = static_cast<std::size_t>(row * 4 + column);
      const float mean = static_cast<float>(10 * (2 * row + 0.5) + 2 * column + 0.5);
      if (pixel == 0) {
        EXPECT_FLOAT_EQ(first[pixel], (1.0F + 10.0F + 11.0F) / 3.0F);
        EXPECT_TRUE(file.band(2).no_data.matches(&second[pixel])) << second[pixel];
      } else {
        EXPECT_FLOAT_EQ(first[pixel], mean);
        EXPECT_FLOAT_EQ(second[pixel], 100.0F + mean);
      }
    }
  }
}

TEST_F(AlignmentTest, the_mask_of_the_dataset_is_kept) {
  RasterSpec spec = base();
  spec.value = [](int, int column, int row) { return column == 3 && row == 2 ? 255.0 : 7.0; };
  const auto place = spec.prepare;
  spec.prepare = [&](GDALDatasetH dataset) {
    place(dataset);
    GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET);
    const GDALRasterBandH mask = GDALGetMaskBand(GDALGetRasterBand(dataset, 1));
    GDALFillRaster(mask, 255.0, 0.0);
    std::uint8_t zero = 0;
    EXPECT_EQ(GDALRasterIO(mask, GF_Write, 3, 2, 1, 1, &zero, 1, 1, GDT_Byte, 0, 0), CE_None);
  };
  const RasterFile file = opened(spec);
  const RasterFile shifted = align(file, grid({8, 6}, {10.0, 0.0, 1010.0, 0.0, -10.0, 2000.0}));
  auto expected = std::vector<std::uint8_t>(48, 1);
  expected[2 * 8 + 2] = 0;
  for (std::size_t row = 0; row < 6; ++row) expected[row * 8 + 7] = 0;
  EXPECT_EQ(read_validity(shifted, 1), expected);
  // 255 is masked, so that no mean contains it.
  const RasterFile coarse = align(file, grid({4, 3}, {20.0, 0.0, 1000.0, 0.0, -20.0, 2000.0}), Resampling::average);
  EXPECT_EQ(read_band<std::uint8_t>(coarse, 1), std::vector<std::uint8_t>(12, 7));
}

TEST_F(AlignmentTest, alpha_is_kept_wherever_it_is) {
  RasterSpec spec = base();
  spec.bands = 3;
  const auto place = spec.prepare;
  spec.options = {"ALPHA=NO", "PHOTOMETRIC=MINISBLACK"};
  spec.prepare = [&](GDALDatasetH dataset) {
    place(dataset);
    testing::set_role(dataset, 1, GCI_GrayIndex);
    testing::set_role(dataset, 2, GCI_AlphaBand);
    testing::set_role(dataset, 3, GCI_Undefined);
  };
  spec.value = [](int band, int column, int row) {
    return band == 2 ? (column == 5 ? 0.0 : 255.0) : position(1, column, row) + (band == 3 ? 100.0 : 0.0);
  };
  const RasterFile file = opened(spec);
  ASSERT_EQ(file.band(3).validity, ValiditySource::alpha);
  const RasterFile aligned = align(file, grid({8, 6}, {10.0, 0.0, 990.0, 0.0, -10.0, 2000.0}));
  ASSERT_EQ(aligned.bands().size(), 3u);
  EXPECT_EQ(aligned.band(1).validity, ValiditySource::alpha);
  EXPECT_EQ(aligned.band(2).validity, ValiditySource::none);
  const auto validity = read_validity(aligned, 3);
  const auto samples = read_band<std::uint8_t>(aligned, 3);
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 8; ++column) {
      const auto pixel = static_cast<std::size_t>(row * 8 + column);
      const bool covered = column != 0 && column != 6;
      EXPECT_EQ(validity[pixel], covered ? 1 : 0);
      if (!covered) continue;
      EXPECT_EQ(samples[pixel], 100 + position(1, column - 1, row));
    }
  }
}

TEST_F(AlignmentTest, transforms_between_reference_systems) {
  RasterSpec spec;
  spec.width = 40;
  spec.height = 40;
  spec.type = GDT_UInt16;
  spec.prepare = placed({10.0, 0.5, 0.0, 60.0, 0.0, -0.5}, 4326);
  spec.value = [](int, int column, int row) { return 100.0 * row + column; };
  const RasterFile file = opened(spec);
  MemorySource reference({30, 50}, {30, 1});
  reference.edit_metadata().georeferencing = raster::Georeferencing::present;
  reference.edit_metadata().affine = {50000.0, 0.0, 1200000.0, 0.0, -50000.0, 8000000.0};
  reference.edit_metadata().coordinate_reference_system = raster::CoordinateReferenceSystem{.authority = "EPSG:3857"};
  const RasterFile aligned = align(file, reference);
  const auto samples = read_band<std::uint16_t>(aligned, 1);
  const auto validity = read_validity(aligned, 1);
  std::size_t covered = 0;
  for (int row = 0; row < 50; ++row) {
    for (int column = 0; column < 30; ++column) {
      const double radius = 6378137.0;
      const double x = 1200000.0 + 50000.0 * (column + 0.5);
      const double y = 8000000.0 - 50000.0 * (row + 0.5);
      const double longitude = x / radius * 180.0 / std::numbers::pi;
      const double latitude = 360.0 / std::numbers::pi * std::atan(std::exp(y / radius)) - 90.0;
      const double u = (longitude - 10.0) / 0.5;
      const double v = (60.0 - latitude) / 0.5;
      const bool is_covered = u >= 0.0 && u < 40.0 && v >= 0.0 && v < 40.0;
      const auto pixel = static_cast<std::size_t>(row * 30 + column);
      ASSERT_EQ(validity[pixel], is_covered ? 1 : 0) << column << ", " << row;
      if (!is_covered) continue;
      ++covered;
      ASSERT_EQ(samples[pixel], 100 * static_cast<int>(v) + static_cast<int>(u)) << column << ", " << row;
    }
  }
  EXPECT_GT(covered, 500u);
}

TEST_F(AlignmentTest, reads_concurrently) {
  RasterSpec spec = base();
  spec.width = 700;
  spec.height = 500;
  spec.type = GDT_UInt16;
  spec.value = [](int, int column, int row) { return (row * 700 + column) % 65521; };
  const RasterFile file = opened(spec);
  const RasterFile aligned = align(file, grid({1400, 1000}, {5.0, 0.0, 1000.0, 0.0, -5.0, 2000.0}));
  const residency::WindowGrid windows({1400, 1000}, {300, 200});
  std::vector<std::jthread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = thread; i < windows.size(); i += 4) {
        const auto samples = read_band<std::uint16_t>(aligned, 1, windows[i]);
        for (std::size_t pixel = 0; pixel < samples.size(); ++pixel) {
          const auto width = static_cast<std::size_t>(windows[i].width);
          const auto column = (static_cast<std::size_t>(windows[i].column) + pixel % width) / 2;
          const auto row = (static_cast<std::size_t>(windows[i].row) + pixel / width) / 2;
          wrong[thread] += samples[pixel] == (row * 700 + column) % 65521 ? 0 : 1;
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST_F(AlignmentTest, rejects_what_has_no_exact_result) {
  const MemorySource reference = grid({8, 6}, {10.0, 0.0, 1000.0, 0.0, -10.0, 2000.0});
  RasterSpec nowhere = base();
  nowhere.prepare = {};
  EXPECT_EQ(code_of([&] { align(opened(nowhere, "nowhere.tif"), reference); }), ErrorCode::invalid_argument);
  const RasterFile file = opened(base());
  const MemorySource pixels({8, 6}, {8, 1});
  EXPECT_EQ(code_of([&] { align(file, pixels); }), ErrorCode::invalid_argument);
  RasterSpec wide = base();
  wide.type = GDT_Int64;
  EXPECT_EQ(code_of([&] { align(opened(wide, "wide.tif"), reference); }), ErrorCode::file_unsupported);
  MemorySource engineering = grid({8, 6}, {10.0, 0.0, 1000.0, 0.0, -10.0, 2000.0});
  engineering.edit_metadata().coordinate_reference_system =
      raster::CoordinateReferenceSystem{.well_known_text = "LOCAL_CS[\"ship\",UNIT[\"metre\",1]]"};
  EXPECT_EQ(code_of([&] { align(file, engineering); }), ErrorCode::invalid_argument);
}

TEST_F(AlignmentTest, chooses_grids_by_the_area_of_a_pixel) {
  const auto square = [&](const std::string& name, double size, int epsg) {
    RasterSpec spec = base();
    spec.prepare = epsg == 4326 ? placed({15.0, size, 0.0, 10.0, 0.0, -size}, epsg)
                                : placed({500000.0, size, 0.0, 1100000.0, 0.0, -size}, epsg);
    return opened(spec, name);
  };
  const RasterFile ten = square("ten.tif", 10.0, 32633);
  const RasterFile sixty = square("sixty.tif", 60.0, 32633);
  const RasterFile degrees = square("degrees.tif", 0.0003, 4326);  // about 33 m
  const RasterFile* files[] = {&degrees, &ten, &sixty, &ten};
  EXPECT_EQ(choose_grid(files, GridChoice::first), 0u);
  EXPECT_EQ(choose_grid(files, GridChoice::finest), 1u);
  EXPECT_EQ(choose_grid(files, GridChoice::coarsest), 2u);
  EXPECT_EQ(code_of([&] { choose_grid({}, GridChoice::first); }), ErrorCode::missing_operand);
}

}  // namespace
}  // namespace tessera::io
