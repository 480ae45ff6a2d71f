#pragma once

#include <gdal.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cpl_string.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/raster_reads.hpp"

/// Small rasters made through GDAL itself, so that what the library reads does not come from the library.
namespace tessera::testing {

/// A folder of its own, removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      ADD_FAILURE() << "no temporary folder";
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Names of everything inside, hidden files too.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }

 private:
  std::filesystem::path path_;
};

/// What a test raster looks like.
struct RasterSpec {
  int width = 8;
  int height = 8;
  int bands = 1;
  GDALDataType type = GDT_Byte;
  std::vector<std::string> options = {};  ///< creation options, `KEY=VALUE`
  std::optional<double> no_data = {};
  std::string driver = "GTiff";
  /// Further settings before pixels are written.
  std::function<void(GDALDatasetH)> prepare = {};
  /// Value of a pixel; without it every pixel is 0.
  std::function<double(int band, int column, int row)> value = {};
};

inline std::vector<char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (const std::string& text : texts) {
    list.push_back(const_cast<char*>(text.c_str()));
  }
  list.push_back(nullptr);
  return list;
}

/// Makes the file and closes it.
inline void make_raster(const std::string& path, const RasterSpec& spec) {
  GDALAllRegister();
  const std::vector<char*> options = c_strings(spec.options);
  const GDALDatasetH dataset = GDALCreate(GDALGetDriverByName(spec.driver.c_str()), path.c_str(), spec.width,
                                          spec.height, spec.bands, spec.type, const_cast<char**>(options.data()));
  ASSERT_NE(dataset, nullptr) << path;
  for (int band = 1; spec.no_data && band <= spec.bands; ++band) {
    GDALSetRasterNoDataValue(GDALGetRasterBand(dataset, band), *spec.no_data);
  }
  if (spec.prepare) {
    spec.prepare(dataset);
  }
  std::vector<double> row(static_cast<std::size_t>(spec.width));
  for (int band = 1; spec.value && band <= spec.bands; ++band) {
    for (int y = 0; y < spec.height; ++y) {
      for (int x = 0; x < spec.width; ++x) {
        row[static_cast<std::size_t>(x)] = spec.value(band, x, y);
      }
      ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, band), GF_Write, 0, y, spec.width, 1, row.data(), spec.width, 1,
                             GDT_Float64, 0, 0),
                CE_None);
    }
  }
  GDALClose(dataset);
}

inline void set_role(GDALDatasetH dataset, int band, GDALColorInterp role) {
  GDALSetRasterColorInterpretation(GDALGetRasterBand(dataset, band), role);
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The folder of the shared real files, or nothing where the tests run without it.
inline std::optional<std::filesystem::path> test_data() {
  const char* folder = std::getenv("TESSERA_TEST_DATA");
  return folder == nullptr || *folder == '\0' ? std::nullopt : std::optional<std::filesystem::path>(folder);
}

}  // namespace tessera::testing
