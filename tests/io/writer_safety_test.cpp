#include <cpl_vsi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <tessera/io/raster_file.hpp>
#include <tessera/io/raster_writer.hpp>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using raster::BandInfo;
using raster::NoData;
using raster::SampleType;
using testing::code_of;

constexpr std::int64_t width = 300;
constexpr std::int64_t height = 200;

raster::RasterMetadata grid() {
  raster::RasterMetadata metadata;
  metadata.width = width;
  metadata.height = height;
  metadata.affine = {10.0, 0.0, 400000.0, 0.0, -10.0, 5400000.0};
  metadata.pixel_interpretation = raster::PixelInterpretation::area;
  return metadata;
}

std::string virtual_raster_of(const std::string& source) {
  return "<VRTDataset rasterXSize='8' rasterYSize='8'><VRTRasterBand dataType='Byte' band='1'><SimpleSource>"
         "<SourceFilename>" +
         source + "</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>";
}

/// What a writer must not do to the files that a job reads, nor to the pixels that it is given.
class WriterSafetyTest : public ::testing::Test {
 protected:
  template <typename Sample>
  static void write(const std::string& path, const BandInfo& band, const RasterWriterOptions& options,
                    const std::vector<Sample>& samples) {
    RasterWriter writer = RasterWriter::create(path, grid(), {&band, 1}, options);
    const residency::BandSamples source{1, std::as_bytes(std::span(samples))};
    writer.write({.window = {0, 0, width, height}, .bands = {&source, 1}});
    writer.finish();
  }
  /// Opens an output over these inputs, and no more.
  static void open(const std::string& path, const std::vector<std::string>& inputs) {
    const BandInfo band{.type = SampleType::uint8};
    RasterWriterOptions options;
    options.overwrite = OverwritePolicy::replace;
    options.inputs = inputs;
    RasterWriter::create(path, grid(), {&band, 1}, options);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(WriterSafetyTest, pixels_that_narrow_storage_cuts_are_counted_and_nothing_is_published) {
  std::vector<std::uint8_t> samples;
  for (std::int64_t i = 0; i < width * height; ++i) samples.push_back(static_cast<std::uint8_t>(i % 23));
  // Four bits hold up to 15.
  const auto cut = std::count_if(samples.begin(), samples.end(), [](std::uint8_t value) { return value > 15; });
  const BandInfo band{.type = SampleType::uint8};
  testing::write_text(folder_.file("a.tif"), "precious");
  RasterWriterOptions options;
  options.overwrite = OverwritePolicy::replace;
  options.creation_options = {"NBITS=4"};
  try {
    write(folder_.file("a.tif"), band, options, samples);
    ADD_FAILURE() << "was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::file_unwritable);
    const std::string expected = std::to_string(cut) + " of 60000 pixels changed, 0 of them missing";
    EXPECT_NE(error.detail().values.find(expected), std::string::npos) << error.what();
  }
  EXPECT_EQ(testing::read_text(folder_.file("a.tif")), "precious");
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"a.tif"});

  for (std::uint8_t& sample : samples) sample = static_cast<std::uint8_t>(sample % 16);
  write(folder_.file("a.tif"), band, options, samples);
  EXPECT_EQ(testing::read_band<std::uint8_t>(RasterFile::open(folder_.file("a.tif")), 1), samples);
}

TEST_F(WriterSafetyTest, floats_keep_every_bit_or_are_refused_before_a_pixel_is_written) {
  BandInfo band{.type = SampleType::float32};
  band.no_data = NoData::of(SampleType::float32, -9999.0);
  std::vector<float> samples;
  for (std::int64_t i = 0; i < width * height; ++i)
    samples.push_back(i % 7 == 0 ? -9999.0F : 1.0F / static_cast<float>(i + 1));
  const auto create = [&](const std::vector<std::string>& creation_options) {
    RasterWriterOptions options;
    options.creation_options = creation_options;
    RasterWriter::create(folder_.file("a.tif"), grid(), {&band, 1}, options);
  };
  EXPECT_EQ(code_of([&] { create({"DISCARD_LSB=8"}); }), ErrorCode::file_unwritable);
  EXPECT_EQ(code_of([&] { create({"NBITS=16"}); }), ErrorCode::file_unwritable);
  EXPECT_EQ(code_of([&] { create({"COMPRESS=JPEG"}); }), ErrorCode::invalid_option);
  EXPECT_TRUE(folder_.names().empty());
  RasterWriterOptions options;
  options.creation_options = {"PROFILE=GeoTIFF"};
  write(folder_.file("a.tif"), band, options, samples);
  EXPECT_EQ(testing::read_band<float>(RasterFile::open(folder_.file("a.tif")), 1), samples);
}

TEST_F(WriterSafetyTest, virtual_rasters_are_followed_to_the_end) {
  testing::make_raster(folder_.file("source.tif"), {});
  testing::make_raster(folder_.file("other.tif"), {});
  testing::write_text(folder_.file("source.tif.msk"), "a mask");
  for (int level = 0; level < 20; ++level) {
    const std::string source = level == 0 ? "source.tif" : "level" + std::to_string(level - 1) + ".vrt";
    testing::write_text(folder_.file("level" + std::to_string(level) + ".vrt"),
                        virtual_raster_of(folder_.file(source)));
  }
  const std::vector<std::string> inputs{folder_.file("level19.vrt")};
  for (const char* output : {"source.tif", "source.tif.msk", "level0.vrt", "level19.vrt"})
    EXPECT_EQ(code_of([&] { open(folder_.file(output), inputs); }), ErrorCode::alias) << output;
  EXPECT_NO_THROW(open(folder_.file("other.tif"), inputs));
}

TEST_F(WriterSafetyTest, sources_that_are_parts_of_files_count) {
  testing::make_raster(folder_.file("a.tif"), {});
  testing::write_text(folder_.file("a.vrt"), virtual_raster_of("GTIFF_DIR:1:" + folder_.file("a.tif")));
  EXPECT_EQ(code_of([&] { open(folder_.file("a.tif"), {folder_.file("a.vrt")}); }), ErrorCode::alias);
}

TEST_F(WriterSafetyTest, virtual_rasters_that_name_each_other_end_too) {
  testing::make_raster(folder_.file("other.tif"), {});
  testing::write_text(folder_.file("a.vrt"), virtual_raster_of(folder_.file("b.vrt")));
  testing::write_text(folder_.file("b.vrt"), virtual_raster_of(folder_.file("a.vrt")));
  EXPECT_EQ(code_of([&] { open(folder_.file("b.vrt"), {folder_.file("a.vrt")}); }), ErrorCode::alias);
  EXPECT_NO_THROW(open(folder_.file("other.tif"), {folder_.file("a.vrt")}));
}

TEST_F(WriterSafetyTest, archives_hold_inputs_in_memory_and_in_one_another_too) {
  testing::make_raster(folder_.file("a.tif"), {});
  const std::string bytes = testing::read_text(folder_.file("a.tif"));
  const std::string archive = "/vsimem/tessera_safety.zip";
  for (const std::string& name : {"/vsizip/" + archive + "/a.tif", folder_.file("plain.zip")}) {
    VSILFILE* file = VSIFOpenL(name.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    VSIFWriteL(bytes.data(), 1, bytes.size(), file);
    VSIFCloseL(file);
  }
  EXPECT_EQ(code_of([&] { open(archive, {"/vsizip/" + archive + "/a.tif"}); }), ErrorCode::alias);
  EXPECT_EQ(code_of([&] { open(folder_.file("plain.zip"), {"/vsitar//vsigzip/" + folder_.file("plain.zip") + "/b"}); }),
            ErrorCode::alias);
  // A file that only has the same name elsewhere is another one.
  EXPECT_NO_THROW(open(folder_.file("a.tif"), {"/vsizip/" + archive + "/a.tif"}));
  VSIUnlink(archive.c_str());
}

}  // namespace
}  // namespace tessera::io
