#pragma once

#include <gdal.h>
#include <gtest/gtest.h>

#include <cpl_conv.h>

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "support/raster_files.hpp"

/// Rasters whose samples are given in their own type, so that none is rounded on the way.
namespace tessera::testing {

template <class Sample>
constexpr GDALDataType gdal_type() {
  if constexpr (std::is_same_v<Sample, std::uint8_t> || std::is_same_v<Sample, std::int8_t>) return GDT_Byte;
  if constexpr (std::is_same_v<Sample, std::uint16_t>) return GDT_UInt16;
  if constexpr (std::is_same_v<Sample, std::int16_t>) return GDT_Int16;
  if constexpr (std::is_same_v<Sample, std::uint32_t>) return GDT_UInt32;
  if constexpr (std::is_same_v<Sample, std::int32_t>) return GDT_Int32;
  if constexpr (std::is_same_v<Sample, std::uint64_t>) return GDT_UInt64;
  if constexpr (std::is_same_v<Sample, std::int64_t>) return GDT_Int64;
  if constexpr (std::is_same_v<Sample, float>) return GDT_Float32;
  if constexpr (std::is_same_v<Sample, double>) return GDT_Float64;
}

template <class Sample>
struct TypedRaster {
  int width = 0;
  int height = 0;
  std::vector<std::vector<Sample>> bands;  ///< row by row
  std::vector<std::uint8_t> mask = {};     ///< an internal mask: 0 where a pixel is missing
  std::vector<std::string> options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16"};
  std::function<void(GDALDatasetH)> prepare = {};
};

template <class Sample>
void make_typed(const std::string& path, const TypedRaster<Sample>& raster) {
  GDALAllRegister();
  std::vector<std::string> texts = raster.options;
  if (std::is_same_v<Sample, std::int8_t>) {
    texts.emplace_back("PIXELTYPE=SIGNEDBYTE");
  }
  const std::vector<char*> options = c_strings(texts);
  const GDALDatasetH dataset =
      GDALCreate(GDALGetDriverByName("GTiff"), path.c_str(), raster.width, raster.height,
                 static_cast<int>(raster.bands.size()), gdal_type<Sample>(), const_cast<char**>(options.data()));
  ASSERT_NE(dataset, nullptr) << path;
  if (raster.prepare) {
    raster.prepare(dataset);
  }
  const auto write = [&](GDALRasterBandH band, const auto* samples, GDALDataType type) {
    ASSERT_EQ(
        GDALRasterIO(band, GF_Write, 0, 0, raster.width, raster.height,
                     const_cast<void*>(static_cast<const void*>(samples)), raster.width, raster.height, type, 0, 0),
        CE_None);
  };
  if (!raster.mask.empty()) {
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES");
    ASSERT_EQ(GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET), CE_None);
    CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", nullptr);
    write(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), raster.mask.data(), GDT_Byte);
  }
  for (std::size_t band = 0; band < raster.bands.size(); ++band) {
    write(GDALGetRasterBand(dataset, static_cast<int>(band + 1)), raster.bands[band].data(), gdal_type<Sample>());
  }
  GDALClose(dataset);
}

template <class Sample>
void set_no_data(GDALDatasetH dataset, Sample value) {
  for (int band = 1; band <= GDALGetRasterCount(dataset); ++band) {
    const GDALRasterBandH handle = GDALGetRasterBand(dataset, band);
    if constexpr (std::is_same_v<Sample, std::int64_t>) {
      GDALSetRasterNoDataValueAsInt64(handle, value);
    } else if constexpr (std::is_same_v<Sample, std::uint64_t>) {
      GDALSetRasterNoDataValueAsUInt64(handle, value);
    } else {
      GDALSetRasterNoDataValue(handle, static_cast<double>(value));
    }
  }
}

/// Numbers without a pattern, the same everywhere.
class PlainRandom {
 public:
  explicit PlainRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33) ^ (state_ << 31);
  }
  std::uint64_t below(std::uint64_t end) { return (next() & 0xffffffffU) % end; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace tessera::testing
