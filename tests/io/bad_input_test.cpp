#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <random>

#include <tessera/io/raster_file.hpp>
#include <tessera/io/raster_writer.hpp>
#include <tessera/residency/derived_sources.hpp>

#include "support/raster_files.hpp"
#include "support/small_disk.hpp"

namespace tessera::io {
namespace {

using testing::code_of;
using testing::make_raster;
using testing::RasterSpec;

class BadInputTest : public ::testing::Test {
 protected:
  void SetUp() override { ::testing::internal::CaptureStderr(); }
  /// The library says nothing by itself, whatever is wrong.
  void TearDown() override { EXPECT_EQ(::testing::internal::GetCapturedStderr(), ""); }

  ErrorCode open_code(const std::string& path, std::string* message = nullptr) {
    return code_of([&] { RasterFile::open(path); }, message);
  }

  /// A raster whose pixels don't compress, so that its size is known.
  void make_noise(const std::string& path, const std::vector<std::string>& options) {
    RasterSpec spec;
    spec.width = 256;
    spec.height = 256;
    spec.options = options;
    std::mt19937 generator(7);
    spec.value = [&](int, int, int) { return static_cast<double>(generator() % 256); };
    make_raster(path, spec);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(BadInputTest, missing_file) {
  std::string message;
  EXPECT_EQ(open_code(folder_.file("none.tif"), &message), ErrorCode::file_not_found);
  EXPECT_NE(message.find("none.tif"), std::string::npos);
  EXPECT_EQ(open_code(""), ErrorCode::file_not_found);
}

TEST_F(BadInputTest, files_that_are_no_rasters) {
  testing::write_text(folder_.file("empty.tif"), "");
  EXPECT_EQ(open_code(folder_.file("empty.tif")), ErrorCode::file_unreadable);
  testing::write_text(folder_.file("text.tif"), "this is no raster\n");
  EXPECT_EQ(open_code(folder_.file("text.tif")), ErrorCode::file_unsupported);
  EXPECT_EQ(open_code(folder_.path().string()), ErrorCode::file_unsupported);
}

TEST_F(BadInputTest, complex_samples_are_refused_by_name) {
  for (const GDALDataType type : {GDT_CInt16, GDT_CInt32, GDT_CFloat32, GDT_CFloat64}) {
    RasterSpec spec;
    spec.type = type;
    make_raster(folder_.file("complex.tif"), spec);
    std::string message;
    EXPECT_EQ(open_code(folder_.file("complex.tif"), &message), ErrorCode::file_unsupported);
    EXPECT_NE(message.find(GDALGetDataTypeName(type)), std::string::npos) << message;
  }
}

TEST_F(BadInputTest, a_truncated_header_is_unreadable) {
  make_noise(folder_.file("a.tif"), {});
  std::filesystem::resize_file(folder_.file("a.tif"), 20);
  EXPECT_EQ(open_code(folder_.file("a.tif")), ErrorCode::file_unreadable);
}

TEST_F(BadInputTest, truncated_pixels_are_named_with_their_window) {
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"}, {"COMPRESS=LZW"}, {}}) {
    const std::string path = folder_.file("a.tif");
    std::filesystem::remove(path);
    make_noise(path, options);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const RasterFile file = RasterFile::open(path);
    std::string message;
    EXPECT_EQ(code_of([&] { testing::read_band<std::uint8_t>(file, 1); }, &message), ErrorCode::file_unreadable);
    EXPECT_NE(message.find("a.tif"), std::string::npos) << message;
    EXPECT_NE(message.find("band 1, window "), std::string::npos) << message;
    // What is whole can still be read, through the same file.
    EXPECT_NO_THROW(testing::read_band<std::uint8_t>(file, 1, {0, 0, 64, 2}));
  }
}

TEST_F(BadInputTest, corrupt_pixels_are_an_error_and_never_a_crash) {
  const std::string path = folder_.file("a.tif");
  make_noise(path, {"COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"});
  std::string bytes = testing::read_text(path);
  for (std::size_t i = bytes.size() / 3; i < bytes.size() / 3 + 2000; ++i) {
    bytes[i] = static_cast<char>(~bytes[i]);
  }
  testing::write_text(path, bytes);
  const RasterFile file = RasterFile::open(path);
  EXPECT_EQ(code_of([&] { testing::read_band<std::uint8_t>(file, 1); }), ErrorCode::file_unreadable);
}

TEST_F(BadInputTest, unreadable_blocks_can_be_skipped) {
  const std::string path = folder_.file("a.tif");
  make_noise(path, {"COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"});
  const std::vector<std::uint8_t> whole = testing::read_band<std::uint8_t>(RasterFile::open(path), 1);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const RasterFile file = RasterFile::open(path);
  const residency::SkippingSource skipping(file);
  const std::vector<std::uint8_t> samples = testing::read_band<std::uint8_t>(skipping, 1);
  const std::vector<std::uint8_t> validity = testing::read_validity(skipping, 1);
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    missing += validity[i] == 0 ? 1 : 0;
    ASSERT_EQ(samples[i], validity[i] == 0 ? 0 : whole[i]) << i;
  }
  // Half of 16 blocks of incompressible bytes, more or less the one that is cut.
  EXPECT_GE(skipping.skipped_count(), 7u);
  EXPECT_LE(skipping.skipped_count(), 9u);
  EXPECT_EQ(missing, skipping.skipped_count() * 64 * 64);
  EXPECT_NE(skipping.skipped().at(0).cause.find("a.tif"), std::string::npos);
}

TEST_F(BadInputTest, damaged_headers_never_crash) {
  const std::string path = folder_.file("a.tif");
  make_noise(path, {"COMPRESS=DEFLATE"});
  const std::string whole = testing::read_text(path);
  std::mt19937 generator(11);
  for (int round = 0; round < 200; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 4; ++change) {
      // The directory of a file that GDAL makes lies at its beginning.
      bytes[generator() % 400] = static_cast<char>(generator());
    }
    testing::write_text(path, bytes);
    try {
      const RasterFile file = RasterFile::open(path);
      const std::size_t size = raster::size_of(file.band(1).type);
      std::vector<std::byte> sample(size);
      const residency::BandDestination destination{1, sample};
      file.read({{0, 0, 1, 1}, {&destination, 1}, {}});
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal);
    }
  }
}

TEST_F(BadInputTest, a_block_beyond_the_limit_is_refused_with_the_remedy) {
  RasterSpec spec;
  spec.width = 100000;
  spec.height = 100000;
  spec.options = {"SPARSE_OK=YES", "TILED=YES", "BLOCKXSIZE=65536", "BLOCKYSIZE=65536"};
  make_raster(folder_.file("a.tif"), spec);
  const RasterFile file = RasterFile::open(folder_.file("a.tif"));
  std::string message;
  EXPECT_EQ(code_of(
                [&] {
                  testing::read_band<std::uint8_t>(file, 1, {0, 0, 1, 1});
                },
                &message),
            ErrorCode::limit_exceeded);
  EXPECT_NE(message.find("gdal_translate"), std::string::npos);
}

// ---- outputs

raster::RasterMetadata grid(std::int64_t width, std::int64_t height) {
  raster::RasterMetadata metadata;
  metadata.width = width;
  metadata.height = height;
  metadata.pixel_interpretation = raster::PixelInterpretation::area;
  return metadata;
}

ErrorCode create_code(const std::string& path, const RasterWriterOptions& options = {}) {
  const raster::BandInfo band;
  return code_of([&] { RasterWriter::create(path, grid(20, 20), {&band, 1}, options); });
}

TEST_F(BadInputTest, outputs_that_can_not_be_written) {
  EXPECT_EQ(create_code(folder_.file("no_such_folder/a.tif")), ErrorCode::file_unwritable);
  EXPECT_EQ(create_code(folder_.path().string(), {.overwrite = OverwritePolicy::replace}), ErrorCode::file_unwritable);
  EXPECT_EQ(create_code("/dev/null", {.overwrite = OverwritePolicy::replace}), ErrorCode::file_unwritable);
  EXPECT_EQ(create_code(""), ErrorCode::invalid_argument);
  testing::write_text(folder_.file("file"), "");
  EXPECT_EQ(create_code(folder_.file("file/a.tif")), ErrorCode::file_unwritable);
}

TEST_F(BadInputTest, a_closed_folder) {
  if (::geteuid() == 0) {
    // The superuser may write anywhere but here.
    EXPECT_EQ(create_code("/proc/tessera_output.tif"), ErrorCode::file_unwritable);
    return;
  }
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(create_code(folder_.file("a.tif")), ErrorCode::file_unwritable);
}

TEST_F(BadInputTest, the_output_is_an_input) {
  const std::string input = folder_.file("in.tif");
  make_raster(input, {});
  const std::string before = testing::read_text(input);
  std::filesystem::create_symlink("in.tif", folder_.file("soft.tif"));
  std::filesystem::create_hard_link(input, folder_.file("hard.tif"));
  RasterWriterOptions options;
  options.overwrite = OverwritePolicy::replace;
  options.inputs = {folder_.file("other.tif"), input};
  for (const char* name : {"in.tif", "soft.tif", "hard.tif", "./in.tif"}) {
    EXPECT_EQ(create_code(folder_.file(name), options), ErrorCode::alias) << name;
  }
  EXPECT_EQ(testing::read_text(input), before);
}

std::vector<std::uint8_t> noise_of(std::uint64_t window, std::uint32_t band, std::uint64_t pixels) {
  std::mt19937 generator(static_cast<std::uint32_t>(window) * 2 + band);
  std::vector<std::uint8_t> noise(pixels);
  for (std::uint8_t& sample : noise) {
    sample = static_cast<std::uint8_t>(generator());
  }
  return noise;
}

/// Writes noise in two bands until something fails or the file is finished.
void fill_disk(const std::string& path, const residency::WindowGrid& windows, int threads, Interleave interleave,
               const std::string& driver = "GTiff") {
  std::vector<raster::BandInfo> bands(2);
  RasterWriterOptions options;
  options.driver = driver;
  options.tile = {64, 64};
  options.threads = threads;
  options.interleave = interleave;
  RasterWriter writer =
      RasterWriter::create(path, grid(windows.raster().width, windows.raster().height), bands, options);
  for (std::uint64_t i = 0; i < windows.size(); ++i) {
    const std::vector<std::uint8_t> first = noise_of(i, 1, windows[i].pixel_count());
    const std::vector<std::uint8_t> second = noise_of(i, 2, windows[i].pixel_count());
    const std::array<residency::BandSamples, 2> samples = {
        {{1, std::as_bytes(std::span(first))}, {2, std::as_bytes(std::span(second))}}};
    writer.write({windows[i], samples});
  }
  writer.finish();
}

void expect_noise(const std::string& path, const residency::WindowGrid& windows) {
  const RasterFile file = RasterFile::open(path);
  for (std::uint64_t i = 0; i < windows.size(); ++i) {
    for (const std::uint32_t band : {1u, 2u}) {
      EXPECT_EQ(testing::read_band<std::uint8_t>(file, band, windows[i]), noise_of(i, band, windows[i].pixel_count()));
    }
  }
}

TEST_F(BadInputTest, a_full_disk_leaves_nothing) {
  const testing::SmallDisk disk(folder_.file("disk"));
  if (!disk.mounted()) {
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  const std::string path = folder_.file("disk/a.tif");
  std::size_t full = 0;
  std::size_t finished = 0;
  for (const int threads : {1, 2}) {
    for (const Interleave interleave : {Interleave::band, Interleave::pixel}) {
      // 2 bytes times 256 columns: 512 rows just don't fit. Near that size the last block, the directory or a header
      // is what fails; a file that is finished must be whole.
      for (std::int64_t height = 1024; height >= 480; height -= height > 520 ? 168 : 2) {
        const residency::WindowGrid windows({256, height}, {256, 64});
        try {
          fill_disk(path, windows, threads, interleave);
          expect_noise(path, windows);
          std::filesystem::remove(path);
          ++finished;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::file_unwritable) << error.what();
          ++full;
        }
        EXPECT_TRUE(disk.is_empty()) << height << " rows, " << threads << " threads";
      }
    }
  }
  EXPECT_GE(full, 20u);
  EXPECT_GE(finished, 4u);
}

TEST_F(BadInputTest, a_disk_that_fills_up_while_a_format_is_copied_leaves_nothing) {
  const testing::SmallDisk disk(folder_.file("disk"));
  if (!disk.mounted()) {
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  const std::string path = folder_.file("disk/a.tif");
  std::size_t full = 0;
  std::size_t finished = 0;
  // 512 bytes a row, twice: 256 rows just don't fit.
  for (std::int64_t height = 400; height >= 160; height -= height > 264 ? 40 : 4) {
    const residency::WindowGrid windows({256, height}, {256, 64});
    try {
      fill_disk(path, windows, 1, Interleave::band, "COG");
      expect_noise(path, windows);
      std::filesystem::remove(path);
      ++finished;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::file_unwritable) << error.what();
      ++full;
    }
    EXPECT_TRUE(disk.is_empty()) << height << " rows";
  }
  EXPECT_GE(full, 4u);
  EXPECT_GE(finished, 4u);
}

}  // namespace
}  // namespace tessera::io
