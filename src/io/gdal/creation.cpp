#include "creation.hpp"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace tessera::io::detail {

namespace {

using raster::BandInfo;
using raster::NoData;
using raster::RasterMetadata;

using OptionMap = std::map<std::string, std::string>;

std::int64_t shrunk(std::int64_t tile, std::int64_t raster) { return std::min(tile, (raster + 15) / 16 * 16); }

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

/// A creation option as key, in capitals, and value.
std::pair<std::string, std::string> key_and_value(const std::string& option) {
  const std::size_t equals = option.find('=');
  if (equals == std::string::npos || equals == 0) {
    fail_writer(ErrorCode::invalid_option, "creation_options", "must read KEY=VALUE", option);
  }
  return {upper_case(option.substr(0, equals)), option.substr(equals + 1)};
}

bool has_predictor(const std::string& compression) {
  const std::string name = upper_case(compression);
  return name == "DEFLATE" || name == "LZW" || name == "ZSTD";
}

/// Our defaults, then the caller's own options over them.
OptionMap creation_options(const RasterMetadata& metadata, std::span<const BandInfo> bands,
                           const RasterWriterOptions& options) {
  OptionMap result;
  result["TILED"] = "YES";
  result["BLOCKXSIZE"] = std::to_string(shrunk(options.tile.width, metadata.width));
  result["BLOCKYSIZE"] = std::to_string(shrunk(options.tile.height, metadata.height));
  result["BIGTIFF"] = "IF_SAFER";
  result["INTERLEAVE"] = options.interleave == Interleave::band ? "BAND" : "PIXEL";
  if (options.threads != 1) {
    result["NUM_THREADS"] = options.threads == 0 ? "ALL_CPUS" : std::to_string(options.threads);
  }
  const bool is_float = raster::is_floating_point(bands.front().type);
  switch (options.compression) {
    case Compression::none:
      break;
    case Compression::lzw:
      result["COMPRESS"] = "LZW";
      break;
    case Compression::deflate:
      result["COMPRESS"] = "DEFLATE";
      break;
    case Compression::zstd:
      result["COMPRESS"] = "ZSTD";
      break;
  }
  if (options.compression != Compression::none) {
    result["PREDICTOR"] = is_float ? "3" : "2";
  }
  if (options.compression_level) {
    result[options.compression == Compression::zstd ? "ZSTD_LEVEL" : "ZLEVEL"] =
        std::to_string(*options.compression_level);
  }
#if GDAL_VERSION_NUM < GDAL_COMPUTE_VERSION(3, 7, 0)
  if (bands.front().type == raster::SampleType::sint8) {
    result["PIXELTYPE"] = "SIGNEDBYTE";
  }
#endif
  for (const std::string& option : options.creation_options) {
    const auto [key, value] = key_and_value(option);
    if (key == "COMPRESS") {
      // A level or predictor of ours may not suit another compression.
      result.erase("PREDICTOR");
      result.erase("ZLEVEL");
      result.erase("ZSTD_LEVEL");
      if (has_predictor(value)) {
        result["PREDICTOR"] = is_float ? "3" : "2";
      }
    }
    result[key] = value;
  }
  for (const std::string& option : options.creation_options) {
    const auto [key, value] = key_and_value(option);
    if (key == "NBITS") {
      result.erase("PREDICTOR");  // knows whole bytes only
    }
    if (key == "PREDICTOR") {
      result[key] = value;
    }
  }
  return result;
}

void set_no_data(GDALRasterBandH band, const BandInfo& info) {
  const NoData& no_data = info.no_data;
  if (no_data.kind() == NoData::Kind::none) {
    return;
  }
  if (no_data.kind() == NoData::Kind::integer && info.type == raster::SampleType::sint64) {
    GDALSetRasterNoDataValueAsInt64(band, static_cast<std::int64_t>(no_data.bits()));
  } else if (no_data.kind() == NoData::Kind::integer && info.type == raster::SampleType::uint64) {
    GDALSetRasterNoDataValueAsUInt64(band, no_data.bits());
  } else {
    GDALSetRasterNoDataValue(band, no_data.declared());
  }
}

void set_band(GDALRasterBandH band, const BandInfo& info) {
  const GDALColorInterp interpretation = GDALGetColorInterpretationByName(info.color_interpretation.c_str());
  if (interpretation != GCI_Undefined) {
    GDALSetRasterColorInterpretation(band, interpretation);
  }
  if (!info.palette.empty()) {
    const GDALColorTableH table = GDALCreateColorTable(GPI_RGB);
    for (std::size_t i = 0; i < info.palette.size(); ++i) {
      const raster::PaletteEntry& entry = info.palette[i];
      const GDALColorEntry value = {entry[0], entry[1], entry[2], entry[3]};
      GDALSetColorEntry(table, static_cast<int>(i), &value);
    }
    GDALSetRasterColorTable(band, table);
    GDALDestroyColorTable(table);
  }
  set_no_data(band, info);
  if (!info.description.empty()) {
    GDALSetDescription(band, info.description.c_str());
  }
  if (!info.unit.empty()) {
    GDALSetRasterUnitType(band, info.unit.c_str());
  }
  if (info.scale) {
    GDALSetRasterScale(band, *info.scale);
  }
  if (info.offset) {
    GDALSetRasterOffset(band, *info.offset);
  }
}

void set_grid(GDALDatasetH dataset, const RasterMetadata& metadata) {
  const bool is_point = metadata.pixel_interpretation == raster::PixelInterpretation::point;
  GDALSetMetadataItem(dataset, "AREA_OR_POINT", is_point ? "Point" : "Area", nullptr);
  if (metadata.georeferencing == raster::Georeferencing::present) {
    std::array<double, 6> transform = geotransform_of(metadata);
    GDALSetGeoTransform(dataset, transform.data());
  }
  const auto& system = metadata.coordinate_reference_system;
  if (!system || (system->well_known_text.empty() && system->authority.empty())) {
    return;
  }
  const OGRSpatialReferenceH reference = OSRNewSpatialReference(nullptr);
  const std::string& definition = system->well_known_text.empty() ? system->authority : system->well_known_text;
  if (OSRSetFromUserInput(reference, definition.c_str()) == OGRERR_NONE) {
    OSRSetAxisMappingStrategy(reference, OAMS_TRADITIONAL_GIS_ORDER);
    GDALSetSpatialRef(dataset, reference);
  }
  OSRDestroySpatialReference(reference);
}

GDALDriverH driver_of(const std::string& name) {
  register_drivers();
  const GDALDriverH driver = GDALGetDriverByName(name.c_str());
  if (driver == nullptr) {
    fail_writer(ErrorCode::invalid_option, "driver", "GDAL must know the format", name);
  }
  return driver;
}

std::vector<std::string> texts_of(const OptionMap& options) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : options) {
    std::string& text = texts.emplace_back(key);
    text += '=';
    text += value;
  }
  return texts;
}

void require_creation_options(GDALDriverH driver, const std::vector<const char*>& list) {
  const MessageCollector messages;
  if (GDALValidateCreationOptions(driver, const_cast<char**>(list.data())) == FALSE) {
    fail_writer(ErrorCode::invalid_option, "creation_options", "the driver must know every option", messages.text());
  }
}

bool is_geotiff(const RasterWriterOptions& options) { return EQUAL(options.driver.c_str(), "GTiff"); }

/// Ours for formats that are tiled and compressed, then the caller's own over them.
OptionMap copy_options(const RasterMetadata& metadata, std::span<const BandInfo> bands,
                       const RasterWriterOptions& options) {
  if (is_geotiff(options)) return creation_options(metadata, bands, options);
  OptionMap result;
  if (EQUAL(options.driver.c_str(), "COG")) {
    result["BIGTIFF"] = "IF_SAFER";
    result["BLOCKSIZE"] = std::to_string(std::max<std::int64_t>(options.tile.width, 128));
    result["NUM_THREADS"] = options.threads == 0 ? "ALL_CPUS" : std::to_string(options.threads);
    const char* const names[] = {"NONE", "LZW", "DEFLATE", "ZSTD"};
    result["COMPRESS"] = names[static_cast<std::size_t>(options.compression)];
    if (options.compression != Compression::none) result["PREDICTOR"] = "YES";
    if (options.compression_level) result["LEVEL"] = std::to_string(*options.compression_level);
  }
  for (const std::string& option : options.creation_options) {
    const auto [key, value] = key_and_value(option);
    if (key == "COMPRESS") {
      result.erase("PREDICTOR");
      result.erase("LEVEL");
      if (has_predictor(value)) result["PREDICTOR"] = "YES";
    }
    result[key] = value;
  }
  return result;
}

int CPL_STDCALL continue_copy(double, const char*, void* stop) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? FALSE : TRUE;
}

/// Why nothing came of a file: options that make no file in memory either are the reason, else the medium.
ErrorCode reason_of_failed_creation(GDALDriverH driver, const RasterMetadata& metadata, std::span<const BandInfo> bands,
                                    std::vector<const char*> options) {
  const MessageCollector quiet;
  options.insert(options.begin(), "SPARSE_OK=TRUE");
  const std::string name = "/vsimem/tessera_creation_" + std::to_string(reinterpret_cast<std::uintptr_t>(&quiet));
  constexpr std::int64_t enough = 64;
  Dataset dataset(GDALCreate(driver, name.c_str(), static_cast<int>(std::min(metadata.width, enough)),
                             static_cast<int>(std::min(metadata.height, enough)), static_cast<int>(bands.size()),
                             gdal_type_of(bands.front().type), const_cast<char**>(options.data())));
  const ErrorCode reason = dataset ? ErrorCode::file_unwritable : ErrorCode::invalid_option;
  dataset = Dataset();
  VSIUnlink(name.c_str());
  return reason;
}

}  // namespace

void fail_writer(ErrorCode code, const std::string& operand, const char* rule, std::string values) {
  throw Error(code, {"raster_writer", operand, rule, std::move(values)});
}

void require_writable_bands(std::span<const BandInfo> bands) {
  if (bands.empty()) {
    fail_writer(ErrorCode::invalid_argument, "bands", "there must be at least one");
  }
  for (const BandInfo& band : bands) {
    if (band.type != bands.front().type) {
      fail_writer(ErrorCode::format_mismatch, "bands", "all bands of a GeoTIFF have one type",
                  std::string(name_of(bands.front().type)) + " and " + std::string(name_of(band.type)));
    }
    if (!(band.no_data == bands.front().no_data)) {
      fail_writer(ErrorCode::format_mismatch, "bands", "all bands of a GeoTIFF have one nodata value",
                  bands.front().no_data.text() + " and " + band.no_data.text());
    }
    if (band.no_data.kind() != NoData::Kind::none && band.no_data.type() != band.type) {
      fail_writer(ErrorCode::format_mismatch, "no_data", "must be of the band's type",
                  std::string(name_of(band.no_data.type())) + " and " + std::string(name_of(band.type)));
    }
    if (!std::isfinite(band.scale_or_default()) || !std::isfinite(band.offset_or_default())) {
      fail_writer(ErrorCode::invalid_argument, "scale", "scale and offset must be finite");
    }
  }
}

void require_writer_options(const RasterMetadata& metadata, const RasterWriterOptions& options) {
  metadata.validate();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (metadata.width > most || metadata.height > most) {
    fail_writer(ErrorCode::limit_exceeded, "metadata", "a GeoTIFF has at most 2147483647 columns and rows",
                std::to_string(metadata.width) + " x " + std::to_string(metadata.height));
  }
  for (const std::int64_t size : {options.tile.width, options.tile.height}) {
    if (size <= 0 || size % 16 != 0 || size > 32768) {
      fail_writer(ErrorCode::invalid_argument, "tile", "sizes must be multiples of 16 up to 32768",
                  std::to_string(size));
    }
  }
  if (options.threads < 0) {
    fail_writer(ErrorCode::invalid_argument, "threads", "must not be negative", std::to_string(options.threads));
  }
  if (options.compression_level) {
    const int highest = options.compression == Compression::deflate ? 9
                        : options.compression == Compression::zstd  ? 22
                                                                    : 0;
    if (*options.compression_level < 1 || *options.compression_level > highest) {
      fail_writer(ErrorCode::invalid_argument, "compression_level", "DEFLATE takes 1 to 9, ZSTD 1 to 22, others none",
                  std::to_string(*options.compression_level));
    }
  }
}

std::array<double, 6> geotransform_of(const RasterMetadata& metadata) {
  const std::array<double, 6>& m = metadata.affine;
  // The affine of a point raster starts at the point itself.
  const double shift = metadata.pixel_interpretation == raster::PixelInterpretation::point ? 0.5 : 0.0;
  return {m[2] - shift * m[0] - shift * m[1], m[0], m[1], m[5] - shift * m[3] - shift * m[4], m[3], m[4]};
}

Dataset create_geotiff(const std::string& target, const std::string& path, const RasterMetadata& metadata,
                       std::span<const BandInfo> bands, const RasterWriterOptions& options) {
  const GDALDriverH driver = driver_of("GTiff");
  const std::vector<std::string> texts = texts_of(creation_options(metadata, bands, options));
  const std::vector<const char*> list = option_list(texts);
  MessageCollector messages;
  Dataset dataset(GDALCreate(driver, target.c_str(), static_cast<int>(metadata.width),
                             static_cast<int>(metadata.height), static_cast<int>(bands.size()),
                             gdal_type_of(bands.front().type), const_cast<char**>(list.data())));
  if (!dataset) {
    if (reason_of_failed_creation(driver, metadata, bands, list) == ErrorCode::invalid_option) {
      fail_writer(ErrorCode::invalid_option, "creation_options", "must suit each other and the samples",
                  messages.text());
    }
    fail_writer(ErrorCode::file_unwritable, path, "can't be created", messages.text());
  }
  set_grid(dataset.get(), metadata);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    set_band(GDALGetRasterBand(dataset.get(), static_cast<int>(i + 1)), bands[i]);
  }
  if (messages.failed()) {
    fail_writer(ErrorCode::file_unwritable, path, "metadata can't be written", messages.text());
  }
  return dataset;
}

bool is_known_lossless(const RasterWriterOptions& options) {
  constexpr const char* drivers[] = {"GTiff", "COG", "PNG"};
  constexpr const char* keys[] = {"TILED",
                                  "BLOCKXSIZE",
                                  "BLOCKYSIZE",
                                  "BLOCKSIZE",
                                  "PREDICTOR",
                                  "ZLEVEL",
                                  "ZSTD_LEVEL",
                                  "LZMA_PRESET",
                                  "LEVEL",
                                  "NUM_THREADS",
                                  "BIGTIFF",
                                  "INTERLEAVE",
                                  "SPARSE_OK",
                                  "ENDIANNESS",
                                  "OVERVIEWS",
                                  "GEOTIFF_KEYS_FLAVOR",
                                  "GEOTIFF_VERSION",
                                  "OVERVIEW_COUNT",
                                  "OVERVIEW_RESAMPLING"};
  constexpr const char* compressions[] = {"NONE", "LZW", "DEFLATE", "ZSTD", "PACKBITS", "LZMA"};
  const auto is_one_of = [](std::span<const char* const> names, const std::string& name) {
    return std::any_of(names.begin(), names.end(), [&](const char* known) { return EQUAL(known, name.c_str()); });
  };
  return is_one_of(drivers, options.driver) &&
         std::all_of(options.creation_options.begin(), options.creation_options.end(), [&](const std::string& option) {
           const auto [key, value] = key_and_value(option);
           return key == "COMPRESS" ? is_one_of(compressions, value) : is_one_of(keys, key);
         });
}

bool is_copied_format(const RasterWriterOptions& options) {
  return !is_geotiff(options) || !is_known_lossless(options);
}

void require_format(const RasterMetadata& metadata, std::span<const BandInfo> bands,
                    const RasterWriterOptions& options) {
  const GDALDriverH driver = driver_of(options.driver);
  const auto has = [&](const char* capability) {
    const char* value = GDALGetMetadataItem(driver, capability, nullptr);
    return value != nullptr && EQUAL(value, "YES");
  };
  if (!has(GDAL_DCAP_RASTER) || !(has(GDAL_DCAP_CREATE) || has(GDAL_DCAP_CREATECOPY))) {
    fail_writer(ErrorCode::invalid_option, "driver", "GDAL must be able to write rasters of the format",
                options.driver);
  }
  const std::vector<std::string> texts = texts_of(copy_options(metadata, bands, options));
  require_creation_options(driver, option_list(texts));
}

RasterWriterOptions intermediate_options(const RasterWriterOptions& options) {
  RasterWriterOptions result = options;
  result.driver = "GTiff";
  result.compression = Compression::deflate;
  result.compression_level = 1;
  result.creation_options.clear();
  return result;
}

void copy_into_format(const std::string& source, const std::string& target, const std::string& path,
                      const RasterMetadata& metadata, std::span<const BandInfo> bands,
                      const RasterWriterOptions& options) {
  const GDALDriverH driver = driver_of(options.driver);
  const std::vector<std::string> texts = texts_of(copy_options(metadata, bands, options));
  const std::vector<const char*> list = option_list(texts);
  const ThreadOption internal_mask("GDAL_TIFF_INTERNAL_MASK", "YES");
  MessageCollector messages;
  const Dataset pixels(
      GDALOpenEx(source.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, nullptr, nullptr, nullptr));
  if (!pixels) {
    fail_writer(ErrorCode::file_unwritable, path, "the written pixels can't be opened again", messages.text());
  }
  // Strict: a format that would change types or leave bands out refuses.
  std::stop_token stop = options.stop;
  const GDALDatasetH copy = GDALCreateCopy(driver, target.c_str(), pixels.get(), TRUE, const_cast<char**>(list.data()),
                                           &continue_copy, &stop);
  if (copy != nullptr) {
    GDALClose(copy);
  }
  if (options.stop.stop_requested()) {
    fail_writer(ErrorCode::cancelled, path, "the application asked to stop");
  }
  if (copy == nullptr || messages.failed()) {
    fail_writer(ErrorCode::file_unwritable, path, "the format can't take the raster", messages.text());
  }
}

}  // namespace tessera::io::detail
