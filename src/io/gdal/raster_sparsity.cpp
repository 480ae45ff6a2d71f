#include <algorithm>
#include <string>

#include "raster_file_state.hpp"

namespace tessera::io::detail {

namespace {

/// Whether a band of a GeoTIFF, or its mask, has no block in the window.
bool is_absent(GDALRasterBandH band, const residency::Window& window) {
  if (band == nullptr) {
    return false;
  }
  const int status =
      GDALGetDataCoverageStatus(band, static_cast<int>(window.column), static_cast<int>(window.row),
                                static_cast<int>(window.width), static_cast<int>(window.height),
                                GDAL_DATA_COVERAGE_STATUS_DATA | GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED, nullptr);
  if (status != GDAL_DATA_COVERAGE_STATUS_EMPTY) {
    return false;
  }
  // The status also calls holes of the file system empty, and with them what lies behind the end of a truncated file.
  int width = 0;
  int height = 0;
  GDALGetBlockSize(band, &width, &height);
  for (std::int64_t row = window.row / height; row * height < window.row + window.height; ++row) {
    for (std::int64_t column = window.column / width; column * width < window.column + window.width; ++column) {
      const std::string item = "BLOCK_OFFSET_" + std::to_string(column) + "_" + std::to_string(row);
      if (GDALGetMetadataItem(band, item.c_str(), "TIFF") != nullptr) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

bool is_absent(const RasterDescription& description, GDALDatasetH dataset, const residency::Window& window,
               std::span<const std::uint32_t> bands, std::span<const std::uint32_t> planes) {
  const MessageCollector messages;
  const auto band = [&](int number) { return GDALGetRasterBand(dataset, number); };
  bool absent = std::all_of(bands.begin(), bands.end(),
                            [&](std::uint32_t number) { return is_absent(band(static_cast<int>(number)), window); });
  for (const std::uint32_t number : planes) {
    const ValidityPlane& plane = description.planes[number];
    absent = absent && (plane.mask_of_band == 0 || is_absent(GDALGetMaskBand(band(plane.mask_of_band)), window)) &&
             (plane.mask_band == 0 || is_absent(band(plane.mask_band), window)) &&
             (plane.alpha_band == 0 || is_absent(band(plane.alpha_band), window));
  }
  // Where offsets can't be read, reading the pixels shall say so.
  return absent && !messages.failed();
}

}  // namespace tessera::io::detail
