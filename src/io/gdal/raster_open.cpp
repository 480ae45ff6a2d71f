#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include <tessera/error.hpp>

#include "raster_file_state.hpp"

namespace tessera::io::detail {

namespace {

using raster::BandInfo;
using raster::SampleType;
using raster::ValiditySource;

constexpr const char* operation_name = "raster_file";

[[noreturn]] void fail(ErrorCode code, const std::string& path, const char* rule, std::string values = {}) {
  throw Error(code, {operation_name, path, rule, std::move(values)});
}

/// Says why a dataset could not be opened: what the file system knows comes first, then whether a driver claims it.
[[noreturn]] void fail_open(const std::string& path, const std::string& words) {
  VSIStatBufL status;
  if (VSIStatExL(path.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG | VSI_STAT_SIZE_FLAG) != 0) {
    // Connection strings such as NETCDF:"file":variable are no file names; a driver's prefix tells them.
    const bool is_name_of_driver = GDALIdentifyDriverEx(path.c_str(), GDAL_OF_RASTER, nullptr, nullptr) != nullptr;
    fail(is_name_of_driver ? ErrorCode::file_unreadable : ErrorCode::file_not_found, path,
         is_name_of_driver ? "can't be opened" : "no such file", words);
  }
  if (VSI_ISDIR(status.st_mode)) {
    fail(ErrorCode::file_unsupported, path, "a directory is no raster", words);
  }
  if (status.st_size == 0) {
    fail(ErrorCode::file_unreadable, path, "the file is empty");
  }
  VSILFILE* file = VSIFOpenL(path.c_str(), "rb");
  if (file == nullptr) {
    fail(ErrorCode::file_unreadable, path, "can't be opened", words);
  }
  VSIFCloseL(file);
  const bool claimed = GDALIdentifyDriverEx(path.c_str(), GDAL_OF_RASTER, nullptr, nullptr) != nullptr;
  fail(claimed ? ErrorCode::file_unreadable : ErrorCode::file_unsupported, path,
       claimed ? "the header can't be read" : "not a raster that GDAL can read", words);
}

std::vector<raster::PaletteEntry> palette_of(GDALRasterBandH band) {
  std::vector<raster::PaletteEntry> palette;
  const GDALColorTableH table = GDALGetRasterColorTable(band);
  const int count = table == nullptr ? 0 : GDALGetColorEntryCount(table);
  for (int i = 0; i < count; ++i) {
    const GDALColorEntry* entry = GDALGetColorEntry(table, i);
    palette.push_back({entry->c1, entry->c2, entry->c3, entry->c4});
  }
  return palette;
}

BandInfo band_info_of(const std::string& path, GDALRasterBandH band, int number) {
  const std::optional<SampleType> type = sample_type_of(band);
  if (!type) {
    fail(ErrorCode::file_unsupported, path, "bands must have real samples",
         "band " + std::to_string(number) + " is " + text_or_empty(GDALGetDataTypeName(GDALGetRasterDataType(band))));
  }
  BandInfo info;
  info.type = *type;
  info.no_data = no_data_of(band, *type);
  int declared = FALSE;
  const double scale = GDALGetRasterScale(band, &declared);
  if (declared && std::isfinite(scale) && scale != 0.0) {
    info.scale = scale;
  }
  const double offset = GDALGetRasterOffset(band, &declared);
  if (declared && std::isfinite(offset)) {
    info.offset = offset;
  }
  info.description = text_or_empty(GDALGetDescription(band));
  info.unit = text_or_empty(GDALGetRasterUnitType(band));
  info.color_interpretation = text_or_empty(GDALGetColorInterpretationName(GDALGetRasterColorInterpretation(band)));
  info.palette = palette_of(band);
  return info;
}

/// The band whose mask band says more than nodata and alpha do, or 0. A mask of the whole dataset counts as band 1's.
int mask_of(GDALRasterBandH band, int number, bool dataset_has_alpha) {
  const int flags = GDALGetMaskFlags(band);
  if ((flags & GMF_ALL_VALID) != 0 || ((flags & GMF_ALPHA) != 0 && dataset_has_alpha)) {
    return 0;
  }
  if ((flags & GMF_NODATA) != 0 && (flags & GMF_PER_DATASET) == 0) {
    return 0;  // compared by whoever computes, exactly
  }
  return (flags & GMF_PER_DATASET) != 0 ? 1 : number;
}

void describe_validity(GDALDatasetH dataset, RasterDescription& description) {
  const int count = static_cast<int>(description.bands.size());
  int alpha_band = 0;
  for (int number = count; number >= 1; --number) {
    if (GDALGetRasterColorInterpretation(GDALGetRasterBand(dataset, number)) == GCI_AlphaBand) {
      alpha_band = number;
    }
  }
  for (int number = 1; number <= count; ++number) {
    BandInfo& info = description.bands[static_cast<std::size_t>(number - 1)];
    const bool is_alpha = info.color_interpretation == "Alpha";
    const ValidityPlane plane{.mask_of_band = mask_of(GDALGetRasterBand(dataset, number), number, alpha_band != 0),
                              .alpha_band = is_alpha ? 0 : alpha_band};
    if (plane == ValidityPlane{}) {
      continue;
    }
    info.validity = plane.alpha_band == 0     ? ValiditySource::mask
                    : plane.mask_of_band == 0 ? ValiditySource::alpha
                                              : ValiditySource::mask_and_alpha;
    auto known = std::find(description.planes.begin(), description.planes.end(), plane);
    if (known == description.planes.end()) {
      known = description.planes.insert(known, plane);
    }
    info.validity_plane = static_cast<std::uint32_t>(known - description.planes.begin());
  }
}

void describe_grid(GDALDatasetH dataset, raster::RasterMetadata& metadata) {
  metadata.width = GDALGetRasterXSize(dataset);
  metadata.height = GDALGetRasterYSize(dataset);
  const char* interpretation = GDALGetMetadataItem(dataset, "AREA_OR_POINT", nullptr);
  const bool is_point = interpretation != nullptr && EQUAL(interpretation, "Point");
  metadata.pixel_interpretation = is_point ? raster::PixelInterpretation::point : raster::PixelInterpretation::area;

  std::array<double, 6> g = {};
  metadata.georeferencing = raster::Georeferencing::absent;
  if (GDALGetGeoTransform(dataset, g.data()) != CE_None) {
    return;
  }
  const double determinant = g[1] * g[5] - g[2] * g[4];
  const bool finite = std::all_of(g.begin(), g.end(), [](double value) { return std::isfinite(value); });
  if (!finite || !std::isfinite(determinant) || determinant == 0.0) {
    return;
  }
  metadata.georeferencing = raster::Georeferencing::present;
  metadata.affine = {g[1], g[2], g[0], g[4], g[5], g[3]};
  if (is_point) {
    metadata.affine[2] += 0.5 * g[1] + 0.5 * g[2];
    metadata.affine[5] += 0.5 * g[4] + 0.5 * g[5];
  }
}

void describe_reference_system(GDALDatasetH dataset, RasterDescription& description) {
  const OGRSpatialReferenceH system = GDALGetSpatialRef(dataset);
  if (system == nullptr) {
    return;
  }
  raster::CoordinateReferenceSystem identity;
  const char* const options[] = {"FORMAT=WKT2_2019", nullptr};
  char* text = nullptr;
  if (OSRExportToWktEx(system, &text, options) == OGRERR_NONE) {
    identity.well_known_text = text_or_empty(text);
  }
  CPLFree(text);
  if (identity.well_known_text.empty()) {
    identity.well_known_text = text_or_empty(GDALGetProjectionRef(dataset));
  }
  const char* authority = OSRGetAuthorityName(system, nullptr);
  const char* code = OSRGetAuthorityCode(system, nullptr);
  if (authority != nullptr && code != nullptr) {
    identity.authority = std::string(authority) + ":" + code;
  }
  description.info.coordinate_reference_system_name = text_or_empty(OSRGetName(system));
  description.metadata.coordinate_reference_system = std::move(identity);
}

void describe_storage(GDALDatasetH dataset, RasterDescription& description) {
  RasterFileInfo& info = description.info;
  const GDALDriverH driver = GDALGetDatasetDriver(dataset);
  if (driver != nullptr) {
    info.driver = text_or_empty(GDALGetDriverShortName(driver));
    info.driver_description = text_or_empty(GDALGetDriverLongName(driver));
  }
  info.compression = text_or_empty(GDALGetMetadataItem(dataset, "COMPRESSION", "IMAGE_STRUCTURE"));
  info.interleave = text_or_empty(GDALGetMetadataItem(dataset, "INTERLEAVE", "IMAGE_STRUCTURE"));
  const GDALRasterBandH first = GDALGetRasterBand(dataset, 1);
  int block_width = 0;
  int block_height = 0;
  GDALGetBlockSize(first, &block_width, &block_height);
  info.block = {std::max(block_width, 1), std::max(block_height, 1)};
  for (int i = 0; i < GDALGetOverviewCount(first); ++i) {
    const GDALRasterBandH overview = GDALGetOverview(first, i);
    if (overview != nullptr) {
      info.overviews.push_back({GDALGetRasterBandXSize(overview), GDALGetRasterBandYSize(overview)});
    }
  }
  char** files = GDALGetFileList(dataset);
  for (int i = 0; files != nullptr && files[i] != nullptr; ++i) {
    info.files.emplace_back(files[i]);
  }
  CSLDestroy(files);

  std::uint64_t sample_bytes = 0;
  for (const BandInfo& band : description.bands) {
    const std::uint64_t size = raster::size_of(band.type);
    sample_bytes = EQUAL(info.interleave.c_str(), "PIXEL") ? sample_bytes + size : std::max(sample_bytes, size);
  }
  // Known of GeoTIFF only: other drivers may decode all bands whatever they report.
  description.bands_decode_alone =
      info.driver == "GTiff" && (description.bands.size() == 1 || info.interleave == "BAND");
  for (std::size_t i = 0; i < description.bands.size(); ++i) {
    const GDALRasterBandH band = GDALGetRasterBand(dataset, static_cast<int>(i + 1));
    description.bands_decode_alone =
        description.bands_decode_alone && GDALGetRasterDataType(band) == gdal_type_of(description.bands[i].type);
  }
  const std::uint64_t pixels =
      static_cast<std::uint64_t>(info.block.width) * static_cast<std::uint64_t>(info.block.height);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  description.block_bytes = pixels > most / sample_bytes ? most : pixels * sample_bytes;
}

std::string first_subdataset(GDALDatasetH dataset) {
  return text_or_empty(CSLFetchNameValue(GDALGetMetadata(dataset, "SUBDATASETS"), "SUBDATASET_1_NAME"));
}

}  // namespace

Dataset open_dataset(const std::string& path, const RasterOpenOptions& options) {
  register_drivers();
  const MessageCollector messages;
  const std::vector<const char*> drivers = option_list(options.drivers);
  const std::vector<const char*> open_options = option_list(options.open_options);
  Dataset dataset(GDALOpenEx(path.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR,
                             options.drivers.empty() ? nullptr : drivers.data(), open_options.data(), nullptr));
  if (!dataset) {
    fail_open(path, messages.text());
  }
  return dataset;
}

RasterDescription describe(const std::string& path, GDALDatasetH dataset) {
  const MessageCollector quiet;
  const int count = GDALGetRasterCount(dataset);
  if (count == 0) {
    const std::string inner = first_subdataset(dataset);
    fail(ErrorCode::file_unsupported, path, "the file must have a raster band",
         inner.empty() ? "no bands" : "it holds several rasters; name one, for example " + inner);
  }
  RasterDescription description;
  description.band_count = count;
  for (int number = 1; number <= count; ++number) {
    description.bands.push_back(band_info_of(path, GDALGetRasterBand(dataset, number), number));
  }
  describe_grid(dataset, description.metadata);
  describe_reference_system(dataset, description);
  describe_validity(dataset, description);
  describe_storage(dataset, description);
  try {
    description.metadata.validate();
  } catch (const Error& error) {
    fail(ErrorCode::file_unsupported, path, "the raster must have a valid grid", error.detail().values);
  }
  return description;
}

}  // namespace tessera::io::detail
