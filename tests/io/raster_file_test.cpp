#include <tessera/io/raster_file.hpp>

#include <cpl_conv.h>
#include <gtest/gtest.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using raster::NoData;
using raster::SampleType;
using raster::ValiditySource;
using testing::make_raster;
using testing::RasterSpec;
using testing::read_band;

double gradient(int band, int column, int row) { return (band * 31 + column * 7 + row * 3) % 251; }

class RasterFileTest : public ::testing::Test {
 protected:
  /// Makes a raster and opens it.
  RasterFile opened(const RasterSpec& spec, const std::string& name = "a.tif") {
    make_raster(folder_.file(name), spec);
    return RasterFile::open(folder_.file(name));
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RasterFileTest, every_sample_type_arrives_as_stored) {
  const std::vector<std::pair<GDALDataType, SampleType>> types = {
      {GDT_Byte, SampleType::uint8},    {GDT_UInt16, SampleType::uint16},   {GDT_Int16, SampleType::sint16},
      {GDT_UInt32, SampleType::uint32}, {GDT_Int32, SampleType::sint32},    {GDT_UInt64, SampleType::uint64},
      {GDT_Int64, SampleType::sint64},  {GDT_Float32, SampleType::float32}, {GDT_Float64, SampleType::float64},
  };
  for (const auto& [stored, type] : types) {
    RasterSpec spec;
    spec.type = stored;
    spec.value = gradient;
    const RasterFile file = opened(spec);
    EXPECT_EQ(file.band(1).type, type) << name_of(type);
    EXPECT_EQ(raster::size_of(type), static_cast<std::size_t>(GDALGetDataTypeSizeBytes(stored)));
  }
}

TEST_F(RasterFileTest, integers_beyond_double_keep_every_digit) {
  constexpr std::uint64_t sentinel = std::numeric_limits<std::uint64_t>::max() - 1;
  RasterSpec spec;
  spec.type = GDT_UInt64;
  spec.prepare = [](GDALDatasetH dataset) {
    std::uint64_t pixel = sentinel;
    GDALSetRasterNoDataValueAsUInt64(GDALGetRasterBand(dataset, 1), sentinel);
    ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 1), GF_Write, 3, 2, 1, 1, &pixel, 1, 1, GDT_UInt64, 0, 0),
              CE_None);
  };
  const RasterFile file = opened(spec);
  const std::vector<std::uint64_t> samples = read_band<std::uint64_t>(file, 1);
  EXPECT_EQ(samples[2 * 8 + 3], sentinel);
  EXPECT_TRUE(file.band(1).no_data.matches(&samples[2 * 8 + 3]));
}

TEST_F(RasterFileTest, signed_bytes) {
  RasterSpec spec;
  spec.no_data = -1.0;
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 7, 0)
  spec.type = GDT_Int8;
#else
  spec.options = {"PIXELTYPE=SIGNEDBYTE"};
#endif
  spec.prepare = [](GDALDatasetH dataset) {
    std::int8_t pixel = -1;
    ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 1), GF_Write, 0, 0, 1, 1, &pixel, 1, 1,
                           GDALGetRasterDataType(GDALGetRasterBand(dataset, 1)), 0, 0),
              CE_None);
  };
  const RasterFile file = opened(spec);
  EXPECT_EQ(file.band(1).type, SampleType::sint8);
  const std::vector<std::int8_t> samples = read_band<std::int8_t>(file, 1);
  EXPECT_EQ(samples[0], -1);
  EXPECT_TRUE(file.band(1).no_data.matches(samples.data()));
}

TEST_F(RasterFileTest, any_window_of_any_layout) {
  const std::vector<std::vector<std::string>> layouts = {
      {},
      {"INTERLEAVE=BAND", "COMPRESS=DEFLATE"},
      {"TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32", "COMPRESS=LZW"},
      {"TILED=YES", "BLOCKXSIZE=128", "BLOCKYSIZE=128", "INTERLEAVE=BAND"},
      {"BLOCKYSIZE=7"},
  };
  for (const auto& layout : layouts) {
    RasterSpec spec;
    spec.width = 61;
    spec.height = 47;
    spec.bands = 3;
    spec.type = GDT_Int16;
    spec.options = layout;
    spec.value = gradient;
    const RasterFile file = opened(spec);
    for (const residency::Window window : {residency::Window{0, 0, 61, 47}, {60, 46, 1, 1}, {5, 9, 40, 20}}) {
      for (std::uint32_t band = 1; band <= 3; ++band) {
        const std::vector<std::int16_t> samples = read_band<std::int16_t>(file, band, window);
        for (std::size_t i = 0; i < samples.size(); ++i) {
          const int column = static_cast<int>(window.column + static_cast<std::int64_t>(i) % window.width);
          const int row = static_cast<int>(window.row + static_cast<std::int64_t>(i) / window.width);
          ASSERT_EQ(samples[i], gradient(static_cast<int>(band), column, row));
        }
      }
    }
  }
}

TEST_F(RasterFileTest, large_windows_are_read_in_steps_without_a_seam) {
  // Wider than one step of the reader in both directions.
  RasterSpec spec;
  spec.width = 5000;
  spec.height = 2300;
  spec.bands = 2;
  spec.type = GDT_Float32;
  spec.options = {"TILED=YES", "BLOCKXSIZE=1024", "BLOCKYSIZE=1024"};
  spec.value = [](int band, int column, int row) { return band * 20000000 + row * 5000 + column; };
  const RasterFile file = opened(spec);
  const residency::Window window{3, 5, 4990, 2290};
  for (std::uint32_t band : {1u, 2u}) {
    const std::vector<float> samples = read_band<float>(file, band, window);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::int64_t column = window.column + static_cast<std::int64_t>(i) % window.width;
      const std::int64_t row = window.row + static_cast<std::int64_t>(i) / window.width;
      ASSERT_EQ(samples[i], static_cast<float>(band * 20000000 + row * 5000 + column));
    }
  }
}

TEST_F(RasterFileTest, no_data_is_typed) {
  RasterSpec spec;
  for (const double outside : {-1.0, -9999.0, std::nan("")}) {
    spec.no_data = outside;
    const RasterFile file = opened(spec);
    EXPECT_EQ(file.band(1).no_data.kind(), NoData::Kind::unmatchable) << outside;
  }
  spec.type = GDT_Float32;
  spec.no_data = -3.4028234663852886e+38;
  EXPECT_EQ(opened(spec).band(1).no_data, NoData::of(SampleType::float32, std::numeric_limits<float>::lowest()));
  spec.no_data = std::nan("");
  EXPECT_EQ(opened(spec).band(1).no_data.kind(), NoData::Kind::not_a_number);
  spec.type = GDT_Int32;
  spec.no_data = 2147483647.0;
  EXPECT_EQ(opened(spec).band(1).no_data, NoData::of_signed(SampleType::sint32, 2147483647));
}

TEST_F(RasterFileTest, zero_scale_is_absent) {
  RasterSpec spec;
  spec.bands = 2;
  spec.prepare = [](GDALDatasetH dataset) {
    GDALSetRasterScale(GDALGetRasterBand(dataset, 1), 0.0);
    GDALSetRasterScale(GDALGetRasterBand(dataset, 2), -0.5);
    GDALSetRasterOffset(GDALGetRasterBand(dataset, 2), 100.0);
    GDALSetRasterUnitType(GDALGetRasterBand(dataset, 2), "m");
    GDALSetDescription(GDALGetRasterBand(dataset, 2), "height");
  };
  const RasterFile file = opened(spec);
  EXPECT_FALSE(file.band(1).scale.has_value());
  EXPECT_EQ(file.band(1).scale_or_default(), 1.0);
  EXPECT_EQ(file.band(2).scale, -0.5);
  EXPECT_EQ(file.band(2).offset, 100.0);
  EXPECT_EQ(file.band(2).unit, "m");
  EXPECT_EQ(file.find_band("height"), 2u);
  EXPECT_EQ(testing::code_of([&] { file.find_band("depth"); }), ErrorCode::band_out_of_range);
}

TEST_F(RasterFileTest, georeferencing) {
  RasterSpec spec;
  EXPECT_EQ(opened(spec).metadata().georeferencing, raster::Georeferencing::absent);
  EXPECT_EQ(opened(spec).metadata().affine, (std::array<double, 6>{1, 0, 0, 0, 1, 0}));
  spec.prepare = [](GDALDatasetH dataset) {
    double south_up_and_rotated[6] = {100.0, 2.0, 0.5, 200.0, -0.25, 3.0};
    GDALSetGeoTransform(dataset, south_up_and_rotated);
  };
  EXPECT_EQ(opened(spec).metadata().affine, (std::array<double, 6>{2.0, 0.5, 100.0, -0.25, 3.0, 200.0}));
  spec.prepare = [](GDALDatasetH dataset) {
    double north_up[6] = {100.0, 2.0, 0.0, 200.0, 0.0, -4.0};
    GDALSetGeoTransform(dataset, north_up);
    GDALSetMetadataItem(dataset, "AREA_OR_POINT", "Point", nullptr);
  };
  // The corner of the first pixel is (100, 200), so the point it stands for is (101, 198).
  const RasterFile file = opened(spec);
  EXPECT_EQ(file.metadata().pixel_interpretation, raster::PixelInterpretation::point);
  EXPECT_EQ(file.metadata().world_position(0, 0), (std::array<double, 2>{101.0, 198.0}));
}

TEST_F(RasterFileTest, alpha_anywhere_applies_to_all_other_bands) {
  RasterSpec spec;
  spec.bands = 3;
  spec.options = {"PHOTOMETRIC=MINISBLACK", "ALPHA=NO"};
  spec.no_data = 9.0;
  spec.prepare = [](GDALDatasetH dataset) { testing::set_role(dataset, 2, GCI_AlphaBand); };
  spec.value = [](int band, int column, int) { return band == 2 ? (column < 3 ? 0 : 1) : 9; };
  const RasterFile file = opened(spec);
  ASSERT_EQ(file.band(2).color_interpretation, "Alpha");
  EXPECT_EQ(file.band(1).validity, ValiditySource::alpha);
  EXPECT_EQ(file.band(2).validity, ValiditySource::none);
  EXPECT_EQ(file.band(3).validity, ValiditySource::alpha);
  EXPECT_EQ(file.band(1).validity_plane, file.band(3).validity_plane);
  EXPECT_EQ(file.validity_plane_count(), 1u);
  // Nodata and alpha are independent of each other: GDAL 3.6 would drop one of them.
  EXPECT_EQ(file.band(1).no_data.kind(), NoData::Kind::integer);
  const std::vector<std::uint8_t> validity = testing::read_validity(file, 3);
  for (std::size_t i = 0; i < validity.size(); ++i) {
    EXPECT_EQ(validity[i], i % 8 < 3 ? 0 : 1);
  }
}

TEST_F(RasterFileTest, float_alpha_is_not_rounded_to_zero) {
  RasterSpec spec;
  spec.bands = 2;
  spec.type = GDT_Float32;
  spec.options = {"ALPHA=YES"};
  spec.value = [](int band, int column, int) { return band == 2 ? (column == 0 ? 0.0 : 0.25) : 1.0; };
  const std::vector<std::uint8_t> validity = testing::read_validity(opened(spec), 1);
  EXPECT_EQ(std::count(validity.begin(), validity.end(), 0), 8);
}

TEST_F(RasterFileTest, masks_combine_with_alpha_and_each_reason_is_counted_once) {
  RasterSpec spec;
  spec.bands = 2;
  spec.options = {"ALPHA=YES"};
  spec.value = [](int band, int, int row) { return band == 2 ? (row < 2 ? 0 : 255) : 7; };
  spec.prepare = [](GDALDatasetH dataset) {
    ASSERT_EQ(GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET), CE_None);
    std::vector<std::uint8_t> mask(64, 255);
    for (std::size_t i = 0; i < mask.size(); ++i) {
      mask[i] = i % 8 == 0 ? 0 : 255;
    }
    ASSERT_EQ(GDALRasterIO(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), GF_Write, 0, 0, 8, 8, mask.data(), 8, 8,
                           GDT_Byte, 0, 0),
              CE_None);
  };
  const RasterFile file = opened(spec);
  EXPECT_EQ(file.band(1).validity, ValiditySource::mask_and_alpha);
  EXPECT_EQ(file.band(2).validity, ValiditySource::mask);
  std::vector<std::uint8_t> bytes(64);
  residency::ValidityDestination destination{file.band(1).validity_plane, bytes};
  file.read({testing::whole(file), {}, {&destination, 1}});
  EXPECT_EQ(destination.missing_by_mask, 8u);
  EXPECT_EQ(destination.missing_by_alpha, 14u);  // two rows less the masked column
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0), 22);
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 1), 42);
}

TEST_F(RasterFileTest, palettes_are_carried) {
  RasterSpec spec;
  spec.prepare = [](GDALDatasetH dataset) {
    const GDALColorTableH table = GDALCreateColorTable(GPI_RGB);
    const GDALColorEntry entry = {10, 20, 30, 255};
    GDALSetColorEntry(table, 5, &entry);
    GDALSetRasterColorTable(GDALGetRasterBand(dataset, 1), table);
    GDALDestroyColorTable(table);
  };
  const RasterFile file = opened(spec);
  ASSERT_GT(file.band(1).palette.size(), 5u);
  EXPECT_EQ(file.band(1).palette[5], (raster::PaletteEntry{10, 20, 30, 255}));
}

TEST_F(RasterFileTest, several_threads_read_at_once) {
  RasterSpec spec;
  spec.width = 200;
  spec.height = 300;
  spec.bands = 2;
  spec.options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32", "COMPRESS=DEFLATE"};
  spec.value = gradient;
  const RasterFile file = opened(spec);
  const residency::WindowGrid windows(file.extent(), {200, 32});
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (std::uint64_t i = next++; i < 5 * windows.size(); i = next++) {
          const residency::Window window = windows[i % windows.size()];
          const std::vector<std::uint8_t> samples = read_band<std::uint8_t>(file, 2, window);
          for (std::size_t p = 0; p < samples.size(); ++p) {
            wrong += samples[p] !=
                     gradient(2, static_cast<int>(p % 200), static_cast<int>(window.row) + static_cast<int>(p / 200));
          }
        }
      });
    }
  }
  EXPECT_EQ(wrong.load(), 0u);
}

TEST_F(RasterFileTest, sparse_rasters_beyond_32_bits_of_pixels) {
  RasterSpec spec;
  spec.width = 70000;
  spec.height = 70000;
  spec.options = {"SPARSE_OK=YES", "TILED=YES", "COMPRESS=DEFLATE", "BIGTIFF=YES"};
  spec.prepare = [](GDALDatasetH dataset) {
    std::uint8_t corner = 77;
    ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 1), GF_Write, 69999, 69999, 1, 1, &corner, 1, 1, GDT_Byte, 0, 0),
              CE_None);
  };
  const RasterFile file = opened(spec);
  EXPECT_EQ(file.metadata().pixel_count(), std::uint64_t{4900000000});
  EXPECT_EQ(read_band<std::uint8_t>(file, 1, {69998, 69999, 2, 1}), (std::vector<std::uint8_t>{0, 77}));
}

bool is_blank(const RasterFile& file, const residency::Window& window, const std::vector<std::uint32_t>& bands,
              const std::vector<std::uint32_t>& planes = {}) {
  return file.is_blank(window, bands, planes);
}

/// 160 x 96 pixels in blocks of 32, of which only the one from column 64 and row 32 is written, and only in band 2.
RasterSpec sparse_spec(const std::vector<std::string>& more) {
  RasterSpec spec{.width = 160,
                  .height = 96,
                  .bands = 2,
                  .options = {"SPARSE_OK=TRUE", "TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=32"}};
  spec.options.insert(spec.options.end(), more.begin(), more.end());
  spec.prepare = [](GDALDatasetH dataset) {
    std::uint8_t value = 5;
    EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 2), GF_Write, 64, 32, 1, 1, &value, 1, 1, GDT_Byte, 0, 0),
              CE_None);
  };
  return spec;
}

TEST_F(RasterFileTest, absent_blocks_are_blank) {
  for (const std::string compression : {"NONE", "DEFLATE"}) {
    const RasterFile by_band = opened(sparse_spec({"INTERLEAVE=BAND", "COMPRESS=" + compression}), "band.tif");
    EXPECT_TRUE(is_blank(by_band, {0, 0, 160, 32}, {1, 2}));
    EXPECT_TRUE(is_blank(by_band, {0, 0, 160, 96}, {1}));
    EXPECT_FALSE(is_blank(by_band, {0, 0, 160, 96}, {2}));
    EXPECT_FALSE(is_blank(by_band, {0, 0, 160, 96}, {1, 2}));
    EXPECT_FALSE(is_blank(by_band, {95, 63, 1, 1}, {2}));
    EXPECT_TRUE(is_blank(by_band, {96, 63, 64, 1}, {2}));
    EXPECT_TRUE(is_blank(by_band, {95, 64, 1, 32}, {2}));
    // One block holds both bands.
    const RasterFile by_pixel = opened(sparse_spec({"INTERLEAVE=PIXEL", "COMPRESS=" + compression}), "pixel.tif");
    EXPECT_TRUE(is_blank(by_pixel, {0, 0, 64, 96}, {1, 2}));
    EXPECT_FALSE(is_blank(by_pixel, {64, 32, 32, 32}, {1}));
  }
}

TEST_F(RasterFileTest, masks_and_alpha_are_blank_for_themselves) {
  RasterSpec spec = sparse_spec({"INTERLEAVE=BAND"});
  spec.prepare = [](GDALDatasetH dataset) {
    testing::set_role(dataset, 2, GCI_AlphaBand);
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES");
    ASSERT_EQ(GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET), CE_None);
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", nullptr);
    std::uint8_t value = 255;
    const auto write = [&](GDALRasterBandH band, int column) {
      EXPECT_EQ(GDALRasterIO(band, GF_Write, column, 0, 1, 1, &value, 1, 1, GDT_Byte, 0, 0), CE_None);
    };
    write(GDALGetRasterBand(dataset, 2), 0);
    write(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), 64);
  };
  const RasterFile file = opened(spec);
  ASSERT_EQ(file.band(1).validity, ValiditySource::mask_and_alpha);
  const std::uint32_t plane = file.band(1).validity_plane;
  EXPECT_TRUE(is_blank(file, {0, 0, 160, 32}, {1}));
  EXPECT_FALSE(is_blank(file, {0, 0, 1, 1}, {1}, {plane}));
  EXPECT_TRUE(is_blank(file, {32, 0, 32, 96}, {1}, {plane}));
  EXPECT_FALSE(is_blank(file, {64, 0, 1, 1}, {1}, {plane}));
  EXPECT_TRUE(is_blank(file, {96, 0, 64, 96}, {1}, {plane}));
}

/// GDAL reports both as empty, and yet reading one of them fails.
TEST_F(RasterFileTest, what_a_file_system_does_not_hold_is_not_blank) {
  RasterSpec spec{.width = 512, .height = 512, .options = {"TILED=YES", "BLOCKXSIZE=256", "BLOCKYSIZE=256"}};
  spec.value = gradient;
  make_raster(folder_.file("cut.tif"), spec);
  std::filesystem::resize_file(folder_.file("cut.tif"), std::filesystem::file_size(folder_.file("cut.tif")) - 70000);
  const RasterFile cut = RasterFile::open(folder_.file("cut.tif"));
  for (const residency::Window window : {residency::Window{0, 0, 256, 256}, residency::Window{256, 256, 256, 256}}) {
    EXPECT_FALSE(is_blank(cut, window, {1}));
  }
}

TEST_F(RasterFileTest, other_formats_are_taken_to_store_everything) {
  RasterSpec spec;
  spec.driver = "ENVI";
  EXPECT_FALSE(is_blank(opened(spec, "a.img"), {0, 0, 8, 8}, {1}));
}

TEST_F(RasterFileTest, requests_are_checked_before_anything_is_read) {
  RasterSpec spec;
  spec.bands = 2;
  const RasterFile file = opened(spec);
  std::vector<std::byte> bytes(64);
  const auto code = [&](const residency::Window& window, std::vector<residency::BandDestination> bands,
                        std::vector<residency::ValidityDestination> validity = {}) {
    return testing::code_of([&] { file.read({window, bands, validity}); });
  };
  EXPECT_EQ(code({0, 0, 9, 8}, {}), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code({-1, 0, 4, 4}, {}), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code({0, 0, 0, 4}, {}), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code({std::numeric_limits<std::int64_t>::max(), 0, 4, 4}, {}), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code({0, 0, 8, 8}, {{0, bytes}}), ErrorCode::band_out_of_range);
  EXPECT_EQ(code({0, 0, 8, 8}, {{3, bytes}}), ErrorCode::band_out_of_range);
  EXPECT_EQ(code({0, 0, 8, 8}, {{1, bytes}, {1, bytes}}), ErrorCode::duplicate_id);
  EXPECT_EQ(code({0, 0, 8, 7}, {{1, bytes}}), ErrorCode::length_mismatch);
  std::vector<std::uint8_t> plane(64);
  EXPECT_EQ(code({0, 0, 8, 8}, {}, {{0, plane}}), ErrorCode::unknown_id);
  EXPECT_EQ(testing::code_of([&] { file.band(3); }), ErrorCode::band_out_of_range);
}

TEST_F(RasterFileTest, stops_when_asked) {
  RasterSpec spec;
  const RasterFile file = opened(spec);
  std::stop_source source;
  source.request_stop();
  std::vector<std::byte> bytes(64);
  const residency::BandDestination destination{1, bytes};
  EXPECT_EQ(testing::code_of([&] {
              file.read({testing::whole(file), {&destination, 1}, {}}, source.get_token());
            }),
            ErrorCode::cancelled);
}

TEST_F(RasterFileTest, same_grid) {
  const auto grid = [](double x, double step, const char* reference) {
    RasterSpec spec;
    spec.prepare = [=](GDALDatasetH dataset) {
      double transform[6] = {x, step, 0.0, 200.0, 0.0, -step};
      GDALSetGeoTransform(dataset, transform);
      const OGRSpatialReferenceH system = OSRNewSpatialReference(nullptr);
      OSRSetFromUserInput(system, reference);
      GDALSetSpatialRef(dataset, system);
      OSRDestroySpatialReference(system);
    };
    return spec;
  };
  const RasterFile a = opened(grid(100.0, 10.0, "EPSG:32633"), "a.tif");
  const auto against = [&](const RasterSpec& spec) { assert_same_grid(a, opened(spec, "b.tif")); };
  EXPECT_NO_THROW(against(grid(104.9, 10.0, "EPSG:32633")));
  EXPECT_EQ(testing::code_of([&] { against(grid(106.0, 10.0, "EPSG:32633")); }), ErrorCode::grid_mismatch);
  EXPECT_EQ(testing::code_of([&] { against(grid(100.0, 11.0, "EPSG:32633")); }), ErrorCode::grid_mismatch);
  std::string message;
  EXPECT_EQ(testing::code_of([&] { against(grid(100.0, 10.0, "EPSG:32632")); }, &message), ErrorCode::grid_mismatch);
  EXPECT_NE(message.find("EPSG:32632"), std::string::npos) << message;
  RasterSpec other = grid(100.0, 10.0, "EPSG:32633");
  other.width = 9;
  EXPECT_EQ(testing::code_of([&] { against(other); }), ErrorCode::grid_mismatch);
  // The same system in other words.
  EXPECT_NO_THROW(against(grid(100.0, 10.0, "+proj=utm +zone=33 +datum=WGS84")));
}

}  // namespace
}  // namespace tessera::io
