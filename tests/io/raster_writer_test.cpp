#include <tessera/io/raster_writer.hpp>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <tessera/io/raster_file.hpp>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using raster::BandInfo;
using raster::NoData;
using raster::RasterMetadata;
using raster::SampleType;
using residency::Window;

RasterMetadata grid(std::int64_t width, std::int64_t height) {
  RasterMetadata metadata;
  metadata.width = width;
  metadata.height = height;
  metadata.affine = {10.0, 0.5, 399960.25, -0.25, -10.0, 5400000.75};
  metadata.pixel_interpretation = raster::PixelInterpretation::area;
  metadata.coordinate_reference_system = raster::CoordinateReferenceSystem{.authority = "EPSG:32633"};
  return metadata;
}

BandInfo band_of(SampleType type) {
  BandInfo info;
  info.type = type;
  return info;
}

template <typename Sample>
std::vector<Sample> ramp(const Window& window, std::int64_t raster_width, int factor = 1) {
  std::vector<Sample> samples;
  for (std::int64_t y = window.row; y < window.row + window.height; ++y) {
    for (std::int64_t x = window.column; x < window.column + window.width; ++x) {
      samples.push_back(static_cast<Sample>((y * raster_width + x) % 30011 * factor));
    }
  }
  return samples;
}

template <typename Sample>
void write_window(RasterWriter& writer, const Window& window) {
  const std::int64_t width = writer.metadata().width;
  std::vector<std::vector<Sample>> samples;
  std::vector<residency::BandSamples> bands;
  for (std::uint32_t band = 1; band <= writer.bands().size(); ++band) {
    samples.push_back(ramp<Sample>(window, width, static_cast<int>(band)));
  }
  for (std::uint32_t band = 1; band <= writer.bands().size(); ++band) {
    bands.push_back({band, std::as_bytes(std::span(samples[band - 1]))});
  }
  writer.write({window, bands});
}

template <typename Sample>
void write_all(RasterWriter& writer, residency::Extent windows) {
  const residency::WindowGrid plan(writer.extent(), windows);
  for (std::uint64_t i = plan.size(); i-- > 0;) {  // any order will do
    write_window<Sample>(writer, plan[i]);
  }
}

class RasterWriterTest : public ::testing::Test {
 protected:
  /// A writer of one small uint8 band.
  RasterWriter small(const std::string& name, RasterWriterOptions options = {}) {
    const BandInfo band = band_of(SampleType::uint8);
    return RasterWriter::create(folder_.file(name), grid(20, 20), {&band, 1}, options);
  }

  static void complete(RasterWriter writer) {
    write_all<std::uint8_t>(writer, writer.extent());
    writer.finish();
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RasterWriterTest, pixels_return_whatever_windows_wrote_them) {
  for (const Interleave interleave : {Interleave::band, Interleave::pixel}) {
    for (const Compression compression :
         {Compression::none, Compression::lzw, Compression::deflate, Compression::zstd}) {
      for (const residency::Extent windows : {residency::Extent{200, 64}, {64, 64}, {200, 150}, {101, 37}}) {
        const std::vector<BandInfo> bands(3, band_of(SampleType::sint32));
        RasterWriterOptions options;
        options.overwrite = OverwritePolicy::replace;
        options.tile = {64, 64};
        options.interleave = interleave;
        options.compression = compression;
        options.threads = 2;
        RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(200, 150), bands, options);
        EXPECT_EQ(writer.preferred_block(), (residency::Extent{64, 64}));
        write_all<std::int32_t>(writer, windows);
        writer.finish();
        const RasterFile file = RasterFile::open(folder_.file("a.tif"));
        for (std::uint32_t band = 1; band <= 3; ++band) {
          ASSERT_EQ(testing::read_band<std::int32_t>(file, band),
                    ramp<std::int32_t>({0, 0, 200, 150}, 200, static_cast<int>(band)));
        }
      }
    }
  }
}

TEST_F(RasterWriterTest, floats_return_bit_for_bit) {
  BandInfo band = band_of(SampleType::float32);
  band.no_data = NoData::of(SampleType::float32, std::nan(""));
  RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(16, 1), {&band, 1});
  std::vector<float> samples(16, 0.1f);
  samples[0] = std::numeric_limits<float>::quiet_NaN();
  samples[1] = -0.0f;
  samples[2] = std::numeric_limits<float>::denorm_min();
  const residency::BandSamples source{1, std::as_bytes(std::span(samples))};
  writer.write({{0, 0, 16, 1}, {&source, 1}});
  writer.finish();
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  const std::vector<float> result = testing::read_band<float>(file, 1);
  EXPECT_EQ(std::memcmp(result.data(), samples.data(), 64), 0);
  EXPECT_EQ(file.band(1).no_data.kind(), NoData::Kind::not_a_number);
  EXPECT_EQ(file.info().compression, "DEFLATE");
}

TEST_F(RasterWriterTest, description_returns) {
  std::vector<BandInfo> bands(2, band_of(SampleType::uint16));
  bands[0].description = "red";
  bands[1].description = "near_infrared";
  bands[1].unit = "W";
  bands[1].scale = 0.0001;
  bands[1].offset = -0.5;
  for (BandInfo& band : bands) {
    band.no_data = NoData::of_unsigned(SampleType::uint16, 65535);
  }
  RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), grid(20, 20), bands);
  write_all<std::uint16_t>(writer, {20, 20});
  writer.finish();
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"a.tif"}));
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  EXPECT_EQ(file.metadata().affine, grid(20, 20).affine);
  EXPECT_EQ(file.metadata().coordinate_reference_system->authority, "EPSG:32633");
  EXPECT_EQ(file.find_band("near_infrared"), 2u);
  EXPECT_EQ(file.band(2).unit, "W");
  EXPECT_EQ(file.band(2).scale, 0.0001);
  EXPECT_EQ(file.band(2).offset, -0.5);
  EXPECT_EQ(file.band(1).no_data, bands[0].no_data);
}

TEST_F(RasterWriterTest, geography_of_real_files_returns_exactly) {
  const auto data = testing::test_data();
  if (!data) {
    GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  }
  for (const char* name : {"geomatrix.tif", "south-up.tif", "cog_scale.tif", "lc.tif", "sent2_L2A_nan.tif",
                           "dem-hills.tif", "L7_ETMs.tif", "image_rgb_mask.tif"}) {
    SCOPED_TRACE(name);
    const RasterFile source = RasterFile::open((*data / name).string());
    RasterWriterOptions options;
    options.overwrite = OverwritePolicy::replace;
    BandInfo band = source.band(1);
    RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), source.metadata(), {&band, 1}, options);
    std::vector<std::byte> samples(source.metadata().pixel_count() * raster::size_of(band.type));
    const residency::BandDestination destination{1, samples};
    source.read({testing::whole(source), {&destination, 1}, {}});
    const residency::BandSamples again{1, samples};
    writer.write({testing::whole(source), {&again, 1}});
    writer.finish();
    const RasterFile copy = RasterFile::open(folder_.file("a.tif"));
    EXPECT_EQ(copy.metadata().affine, source.metadata().affine);
    EXPECT_EQ(copy.metadata().georeferencing, source.metadata().georeferencing);
    EXPECT_EQ(copy.metadata().pixel_interpretation, source.metadata().pixel_interpretation);
    EXPECT_EQ(copy.band(1).palette, band.palette);
    EXPECT_EQ(copy.band(1).no_data, band.no_data);
    EXPECT_EQ(copy.band(1).description, band.description);
    EXPECT_NO_THROW(assert_same_grid(source, copy));
  }
}

TEST_F(RasterWriterTest, point_rasters_return) {
  RasterMetadata metadata = grid(20, 20);
  metadata.pixel_interpretation = raster::PixelInterpretation::point;
  const BandInfo band = band_of(SampleType::uint8);
  RasterWriter writer = RasterWriter::create(folder_.file("a.tif"), metadata, {&band, 1});
  complete(std::move(writer));
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  EXPECT_EQ(file.metadata().pixel_interpretation, raster::PixelInterpretation::point);
  EXPECT_EQ(file.metadata().affine, metadata.affine);
}

TEST_F(RasterWriterTest, absent_georeferencing_stays_absent) {
  RasterMetadata metadata = grid(20, 20);
  metadata.affine = {1, 0, 0, 0, 1, 0};
  metadata.georeferencing = raster::Georeferencing::absent;
  metadata.coordinate_reference_system.reset();
  const BandInfo band = band_of(SampleType::uint8);
  complete(RasterWriter::create(folder_.file("a.tif"), metadata, {&band, 1}));
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  EXPECT_EQ(file.metadata().georeferencing, raster::Georeferencing::absent);
  EXPECT_FALSE(file.metadata().coordinate_reference_system.has_value());
}

TEST_F(RasterWriterTest, small_rasters_get_small_tiles) {
  complete(small("a.tif"));
  EXPECT_EQ(RasterFile::open(folder_.file("a.tif")).preferred_block(), (residency::Extent{32, 32}));
}

TEST_F(RasterWriterTest, nothing_is_visible_before_finish_and_nothing_stays_without) {
  {
    RasterWriter writer = small("a.tif");
    write_all<std::uint8_t>(writer, {20, 20});
    EXPECT_FALSE(std::filesystem::exists(folder_.file("a.tif")));
    EXPECT_TRUE(std::filesystem::exists(writer.temporary_name()));
  }
  EXPECT_TRUE(folder_.names().empty());
  {
    RasterWriter writer = small("a.tif");
    writer.abandon();
    EXPECT_TRUE(folder_.names().empty());
    EXPECT_EQ(testing::code_of([&] { writer.finish(); }), ErrorCode::execution_order);
    EXPECT_EQ(testing::code_of([&] {
                write_window<std::uint8_t>(writer, {0, 0, 20, 20});
              }),
              ErrorCode::execution_order);
  }
}

TEST_F(RasterWriterTest, an_abandoned_replacement_leaves_the_old_file) {
  testing::write_text(folder_.file("a.tif"), "precious");
  RasterWriterOptions options;
  options.overwrite = OverwritePolicy::replace;
  {
    RasterWriter writer = small("a.tif", options);
    write_all<std::uint8_t>(writer, {20, 20});
  }
  EXPECT_EQ(testing::read_text(folder_.file("a.tif")), "precious");
  EXPECT_EQ(folder_.names().size(), 1u);
}

TEST_F(RasterWriterTest, existing_output_is_refused_or_replaced_with_its_sidecars) {
  for (const char* name : {"a.tif", "a.tif.aux.xml", "a.tif.ovr", "a.tif.msk", "other.aux.xml"}) {
    testing::write_text(folder_.file(name), "old");
  }
  EXPECT_EQ(testing::code_of([&] { small("a.tif"); }), ErrorCode::file_exists);
  EXPECT_EQ(testing::read_text(folder_.file("a.tif.ovr")), "old");
  RasterWriterOptions options;
  options.overwrite = OverwritePolicy::replace;
  complete(small("a.tif", options));
  std::vector<std::string> names = folder_.names();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a.tif", "other.aux.xml"}));
}

TEST_F(RasterWriterTest, an_orphaned_sidecar_is_refused) {
  testing::write_text(folder_.file("a.tif.aux.xml"), "old statistics");
  EXPECT_EQ(testing::code_of([&] { small("a.tif"); }), ErrorCode::file_exists);
}

TEST_F(RasterWriterTest, an_output_made_meanwhile_is_kept) {
  RasterWriter writer = small("a.tif");
  write_all<std::uint8_t>(writer, {20, 20});
  testing::write_text(folder_.file("a.tif"), "someone else's");
  EXPECT_EQ(testing::code_of([&] { writer.finish(); }), ErrorCode::file_exists);
  EXPECT_EQ(testing::read_text(folder_.file("a.tif")), "someone else's");
  EXPECT_EQ(folder_.names().size(), 1u);
}

TEST_F(RasterWriterTest, a_link_stays_a_link_and_permissions_stay) {
  testing::write_text(folder_.file("real.tif"), "old");
  ::chmod(folder_.file("real.tif").c_str(), 0640);
  std::filesystem::create_symlink("real.tif", folder_.file("link.tif"));
  RasterWriterOptions options;
  options.overwrite = OverwritePolicy::replace;
  complete(small("link.tif", options));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_.file("link.tif")));
  EXPECT_EQ(RasterFile::open(folder_.file("real.tif")).metadata().width, 20);
  EXPECT_EQ(std::filesystem::status(folder_.file("real.tif")).permissions(), std::filesystem::perms(0640));
}

TEST_F(RasterWriterTest, virtual_names_are_deleted_on_failure) {
  const BandInfo band = band_of(SampleType::uint8);
  { RasterWriter::create("/vsimem/tessera_writer.tif", grid(20, 20), {&band, 1}); }
  EXPECT_EQ(testing::code_of([] { RasterFile::open("/vsimem/tessera_writer.tif"); }), ErrorCode::file_not_found);
  complete(RasterWriter::create("/vsimem/tessera_writer.tif", grid(20, 20), {&band, 1}));
  EXPECT_EQ(RasterFile::open("/vsimem/tessera_writer.tif").metadata().width, 20);
  VSIUnlink("/vsimem/tessera_writer.tif");
}

TEST_F(RasterWriterTest, creation_options_win) {
  RasterWriterOptions options;
  options.creation_options = {"compress=LERC", "BLOCKXSIZE=16"};
  options.creation_options[0] = "compress=PACKBITS";
  complete(small("a.tif", options));
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  EXPECT_EQ(file.info().compression, "PACKBITS");
  EXPECT_EQ(file.preferred_block().width, 16);
}

TEST_F(RasterWriterTest, rejects_options_and_bands_that_do_not_fit) {
  const auto code = [&](const std::vector<BandInfo>& bands, const RasterWriterOptions& options = {}) {
    return testing::code_of([&] { RasterWriter::create(folder_.file("a.tif"), grid(20, 20), bands, options); });
  };
  EXPECT_EQ(code({}), ErrorCode::invalid_argument);
  EXPECT_EQ(code({band_of(SampleType::uint8), band_of(SampleType::uint16)}), ErrorCode::format_mismatch);
  std::vector<BandInfo> differing(2, band_of(SampleType::uint8));
  differing[1].no_data = NoData::of(SampleType::uint8, 0.0);
  EXPECT_EQ(code(differing), ErrorCode::format_mismatch);
  const std::vector<BandInfo> one = {band_of(SampleType::uint8)};
  EXPECT_EQ(code(one, {.tile = {100, 64}}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(one, {.compression_level = 10}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(one, {.threads = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(one, {.creation_options = {"NO_SUCH_OPTION=1"}}), ErrorCode::invalid_option);
  EXPECT_EQ(code(one, {.creation_options = {"TILED"}}), ErrorCode::invalid_option);
  EXPECT_EQ(code(one, {.creation_options = {"BLOCKXSIZE=17"}}), ErrorCode::invalid_option);
  EXPECT_EQ(code(one, {.creation_options = {"PREDICTOR=3"}}), ErrorCode::invalid_option);
  EXPECT_EQ(testing::code_of([&] { RasterWriter::create(folder_.file("a.tif"), {}, one); }),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(folder_.names().empty());
}

}  // namespace
}  // namespace tessera::io
