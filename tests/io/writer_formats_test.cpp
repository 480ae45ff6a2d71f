#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/io/raster_file.hpp>
#include <tessera/io/raster_writer.hpp>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using raster::BandInfo;
using raster::NoData;
using raster::SampleType;
using residency::Window;
using testing::code_of;

raster::RasterMetadata grid(std::int64_t width, std::int64_t height) {
  raster::RasterMetadata metadata;
  metadata.width = width;
  metadata.height = height;
  metadata.affine = {10.0, 0.0, 400000.0, 0.0, -10.0, 5400000.0};
  metadata.pixel_interpretation = raster::PixelInterpretation::area;
  metadata.coordinate_reference_system = raster::CoordinateReferenceSystem{.authority = "EPSG:32633"};
  return metadata;
}

BandInfo band_of(SampleType type, NoData no_data = {}) {
  BandInfo info;
  info.type = type;
  info.no_data = no_data;
  return info;
}

std::uint8_t value_at(std::int64_t column, std::int64_t row) { return static_cast<std::uint8_t>(column * 3 + row * 7); }

/// What GDAL itself reads of a mask: 0 and 255.
std::vector<std::uint8_t> mask_of(const std::string& path) {
  const GDALDatasetH dataset = GDALOpen(path.c_str(), GA_ReadOnly);
  EXPECT_NE(dataset, nullptr);
  if (dataset == nullptr) return {};
  const int width = GDALGetRasterXSize(dataset);
  const int height = GDALGetRasterYSize(dataset);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  EXPECT_EQ(GDALRasterIO(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), GF_Read, 0, 0, width, height, bytes.data(),
                         width, height, GDT_Byte, 0, 0),
            CE_None);
  GDALClose(dataset);
  return bytes;
}

int mask_flags(const std::string& path) {
  const GDALDatasetH dataset = GDALOpen(path.c_str(), GA_ReadOnly);
  const int flags = GDALGetMaskFlags(GDALGetRasterBand(dataset, 1));
  GDALClose(dataset);
  return flags;
}

class WriterFormatsTest : public ::testing::Test {
 protected:
  static void write(RasterWriter& writer, const Window& window, const std::vector<std::uint8_t>& validity = {}) {
    std::vector<std::uint8_t> samples;
    for (std::int64_t row = window.row; row < window.row + window.height; ++row)
      for (std::int64_t column = window.column; column < window.column + window.width; ++column)
        samples.push_back(value_at(column, row));
    const residency::BandSamples band{1, std::as_bytes(std::span(samples))};
    writer.write({.window = window, .bands = {&band, 1}, .validity = validity});
  }

  /// Writes all pixels of one uint8 band of 100 x 70; those of column 13 are missing on request.
  void write_scene(const std::string& path, const RasterWriterOptions& options, const BandInfo& info,
                   bool has_missing) {
    RasterWriter writer = RasterWriter::create(path, grid(100, 70), {&info, 1}, options);
    for (std::int64_t row = 0; row < 70; row += 32) {
      const Window window{0, row, 100, std::min<std::int64_t>(32, 70 - row)};
      std::vector<std::uint8_t> validity;
      for (std::uint64_t i = 0; has_missing && i < window.pixel_count(); ++i) validity.push_back(i % 100 != 13);
      write(writer, window, validity);
    }
    writer.finish();
  }

  static void expect_scene(const std::string& path) {
    const RasterFile file = RasterFile::open(path);
    const auto samples = testing::read_band<std::uint8_t>(file, 1);
    ASSERT_EQ(samples.size(), 7000u);
    for (std::int64_t i = 0; i < 7000; ++i)
      ASSERT_EQ(samples[static_cast<std::size_t>(i)], value_at(i % 100, i / 100)) << i;
  }

  std::vector<std::string> sorted_names() const {
    std::vector<std::string> names = folder_.names();
    std::sort(names.begin(), names.end());
    return names;
  }

  testing::TemporaryFolder folder_;
};

TEST_F(WriterFormatsTest, a_mask_comes_with_the_first_missing_pixel) {
  const BandInfo band = band_of(SampleType::uint8);
  for (const int threads : {1, 2}) {
    for (const int first_missing : {0, 2}) {
      const std::string path = folder_.file("a.tif");
      RasterWriterOptions options;
      options.overwrite = OverwritePolicy::replace;
      options.tile = {32, 32};
      options.threads = threads;
      RasterWriter writer = RasterWriter::create(path, grid(100, 70), {&band, 1}, options);
      std::vector<std::uint8_t> expected(7000, 255);
      for (int strip = 0; strip < 3; ++strip) {
        const Window window{0, 32 * strip, 100, strip == 2 ? 6 : 32};
        std::vector<std::uint8_t> validity(window.pixel_count(), 1);
        if (strip >= first_missing) {
          validity[5] = 0;
          expected[static_cast<std::size_t>(3200 * strip + 5)] = 0;
        }
        write(writer, window, strip == 1 ? std::vector<std::uint8_t>() : validity);
        if (strip == 1) expected[3205] = 255;
      }
      writer.finish();
      EXPECT_EQ(mask_of(path), expected) << threads << ", " << first_missing;
      EXPECT_EQ(mask_flags(path), GMF_PER_DATASET);
      expect_scene(path);
      EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.tif"});
      EXPECT_EQ(RasterFile::open(path).band(1).validity, raster::ValiditySource::mask);
    }
  }
}

TEST_F(WriterFormatsTest, without_missing_pixels_there_is_no_mask) {
  const BandInfo band = band_of(SampleType::uint8);
  RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(100, 70), {&band, 1});
  write(writer, {0, 0, 100, 70}, std::vector<std::uint8_t>(7000, 1));
  writer.finish();
  EXPECT_EQ(mask_flags(folder_.file("a.tif")), GMF_ALL_VALID);
}

TEST_F(WriterFormatsTest, missing_pixels_of_several_writes_add_up) {
  const std::vector<BandInfo> bands(2, band_of(SampleType::uint8));
  RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(4, 1), bands);
  const std::vector<std::uint8_t> samples{1, 2, 3, 4};
  const auto write_band = [&](std::uint32_t number, const std::vector<std::uint8_t>& validity) {
    const residency::BandSamples band{number, std::as_bytes(std::span(samples))};
    writer.write({.window = {0, 0, 4, 1}, .bands = {&band, 1}, .validity = validity});
  };
  write_band(1, {0, 1, 1, 1});
  write_band(2, {1, 1, 0, 1});
  write_band(2, {});
  writer.finish();
  EXPECT_EQ(mask_of(folder_.file("a.tif")), (std::vector<std::uint8_t>{0, 255, 0, 255}));
}

TEST_F(WriterFormatsTest, a_cloud_optimized_geotiff_has_overviews_and_mask) {
  RasterWriterOptions options;
  options.driver = "COG";
  options.tile = {128, 128};
  options.creation_options = {"OVERVIEW_COUNT=1", "OVERVIEW_RESAMPLING=NEAREST"};
  write_scene(folder_.file("a.tif"), options, band_of(SampleType::uint8), true);
  EXPECT_EQ(sorted_names(), std::vector<std::string>{"a.tif"});
  expect_scene(folder_.file("a.tif"));
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  EXPECT_EQ(file.info().compression, "DEFLATE");
  EXPECT_EQ(file.metadata().coordinate_reference_system->authority, "EPSG:32633");
  EXPECT_EQ(file.info().overviews.size(), 1u);
  EXPECT_EQ(mask_flags(folder_.file("a.tif")), GMF_PER_DATASET);
  const auto mask = mask_of(folder_.file("a.tif"));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 0), 70);
  EXPECT_EQ(mask[13], 0);
}

TEST_F(WriterFormatsTest, formats_with_companions_are_moved_whole) {
  RasterWriterOptions options;
  options.driver = "ENVI";
  write_scene(folder_.file("a.img"), options, band_of(SampleType::uint8), false);
  const auto names = sorted_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "a.hdr"), names.end());
  EXPECT_TRUE(std::all_of(names.begin(), names.end(), [](const auto& name) { return name.starts_with("a."); }));
  expect_scene(folder_.file("a.img"));
  EXPECT_EQ(RasterFile::open(folder_.file("a.img")).info().driver, "ENVI");

  // A companion that belongs to something else is not overwritten.
  std::filesystem::remove(folder_.file("a.img"));
  for (const char* suffix : {"a.img.aux.xml"}) std::filesystem::remove(folder_.file(suffix));
  EXPECT_EQ(code_of([&] { write_scene(folder_.file("a.img"), options, band_of(SampleType::uint8), false); }),
            ErrorCode::file_exists);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("a.img")));
}

TEST_F(WriterFormatsTest, png_keeps_nodata_and_masks_and_refuses_other_types) {
  RasterWriterOptions options;
  options.driver = "png";
  write_scene(folder_.file("a.png"), options, band_of(SampleType::uint8, NoData::of(SampleType::uint8, 255)), false);
  EXPECT_EQ(RasterFile::open(folder_.file("a.png")).band(1).no_data.text(), "255");
  expect_scene(folder_.file("a.png"));

  // GDAL puts the mask beside it.
  write_scene(folder_.file("b.png"), options, band_of(SampleType::uint8), true);
  expect_scene(folder_.file("b.png"));
  const auto mask = mask_of(folder_.file("b.png"));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 0), 70);
  EXPECT_TRUE(std::filesystem::exists(folder_.file("b.png.msk")));

  const BandInfo fractions = band_of(SampleType::float32);
  EXPECT_EQ(code_of([&] {
              RasterWriter writer = RasterWriter::create(folder_.file("c.png"), grid(4, 4), {&fractions, 1}, options);
              writer.finish();
            }),
            ErrorCode::file_unwritable);
  for (const std::string& name : folder_.names()) EXPECT_EQ(name.substr(1, 4), ".png") << name;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("c.png")));
}

TEST_F(WriterFormatsTest, an_abandoned_or_stopped_copy_leaves_nothing) {
  std::stop_source stop;
  RasterWriterOptions options;
  options.driver = "COG";
  options.stop = stop.get_token();
  testing::write_text(folder_.file("a.tif"), "precious");
  options.overwrite = OverwritePolicy::replace;
  const BandInfo band = band_of(SampleType::uint8);
  {
    RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(100, 70), {&band, 1}, options);
    EXPECT_TRUE(std::filesystem::exists(writer.temporary_name()));
  }
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.tif"});
  stop.request_stop();
  EXPECT_EQ(code_of([&] { write_scene(folder_.file("a.tif"), options, band, false); }), ErrorCode::cancelled);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.tif"});
  EXPECT_EQ(testing::read_text(folder_.file("a.tif")), "precious");
}

TEST_F(WriterFormatsTest, a_replaced_copy_takes_its_sidecars_along) {
  for (const char* name : {"a.tif", "a.tif.aux.xml", "a.tif.ovr", "a.tif.msk"})
    testing::write_text(folder_.file(name), "old");
  RasterWriterOptions options;
  options.driver = "COG";
  EXPECT_EQ(code_of([&] { write_scene(folder_.file("a.tif"), options, band_of(SampleType::uint8), false); }),
            ErrorCode::file_exists);
  options.overwrite = OverwritePolicy::replace;
  write_scene(folder_.file("a.tif"), options, band_of(SampleType::uint8), false);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.tif"});
  expect_scene(folder_.file("a.tif"));
}

TEST_F(WriterFormatsTest, virtual_outputs_are_written_directly) {
  const std::string path = "/vsimem/tessera_formats.tif";
  const auto exists = [](const std::string& name) {
    VSIStatBufL status;
    return VSIStatL(name.c_str(), &status) == 0;
  };
  for (const char* driver : {"GTiff", "COG"}) {
    RasterWriterOptions options;
    options.driver = driver;
    write_scene(path, options, band_of(SampleType::uint8), true);
    expect_scene(path);
    EXPECT_EQ(mask_flags(path), GMF_PER_DATASET);
    EXPECT_EQ(code_of([&] { write_scene(path, options, band_of(SampleType::uint8), false); }), ErrorCode::file_exists);
    // Options that are refused leave the old file alone; a replacement takes the old sidecar along.
    VSIFCloseL(VSIFOpenL((path + ".aux.xml").c_str(), "wb"));
    options.overwrite = OverwritePolicy::replace;
    options.creation_options = {"NO_SUCH_OPTION=1"};
    EXPECT_EQ(code_of([&] { write_scene(path, options, band_of(SampleType::uint8), false); }),
              ErrorCode::invalid_option);
    expect_scene(path);
    options.creation_options.clear();
    write_scene(path, options, band_of(SampleType::uint8), false);
    EXPECT_FALSE(exists(path + ".aux.xml"));
    EXPECT_EQ(mask_flags(path), GMF_ALL_VALID);
    VSIUnlink(path.c_str());
  }
}

TEST_F(WriterFormatsTest, unknown_formats_and_their_options_are_refused) {
  const BandInfo band = band_of(SampleType::uint8);
  const auto code = [&](const RasterWriterOptions& options) {
    return code_of([&] { RasterWriter::create(folder_.file("a"), grid(4, 4), {&band, 1}, options); });
  };
  EXPECT_EQ(code({.driver = "NoSuchFormat"}), ErrorCode::invalid_option);
  EXPECT_EQ(code({.driver = "COG", .creation_options = {"NO_SUCH_OPTION=1"}}), ErrorCode::invalid_option);
  EXPECT_EQ(code({.driver = "COG", .creation_options = {"BLOCKSIZE"}}), ErrorCode::invalid_option);
  EXPECT_TRUE(folder_.names().empty());
}

TEST_F(WriterFormatsTest, palette_names_units_and_interpretation_survive_the_copy) {
  BandInfo band = band_of(SampleType::uint8);
  band.description = "classes";
  band.unit = "1";
  band.scale = 0.5;
  band.offset = -3.0;
  band.color_interpretation = "Palette";
  band.palette = {{0, 0, 0, 255}, {255, 10, 20, 255}};
  raster::RasterMetadata metadata = grid(16, 16);
  metadata.pixel_interpretation = raster::PixelInterpretation::point;
  for (const char* driver : {"GTiff", "COG"}) {
    RasterWriterOptions options;
    options.driver = driver;
    options.overwrite = OverwritePolicy::replace;
    RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), metadata, {&band, 1}, options);
    write(writer, {0, 0, 16, 16});
    writer.finish();
    const RasterFile file = RasterFile::open(folder_.file("a.tif"));
    EXPECT_EQ(file.band(1).description, "classes") << driver;
    EXPECT_EQ(file.band(1).unit, "1") << driver;
    EXPECT_EQ(file.band(1).scale_or_default(), 0.5) << driver;
    EXPECT_EQ(file.band(1).offset_or_default(), -3.0) << driver;
    EXPECT_EQ(file.band(1).color_interpretation, "Palette") << driver;
    ASSERT_GE(file.band(1).palette.size(), 2u) << driver;
    EXPECT_EQ(file.band(1).palette[1], band.palette[1]) << driver;
    EXPECT_TRUE(file.metadata().pixel_interpretation == raster::PixelInterpretation::point) << driver;
    EXPECT_EQ(file.metadata().affine, metadata.affine) << driver;
  }
}

}  // namespace
}  // namespace tessera::io
