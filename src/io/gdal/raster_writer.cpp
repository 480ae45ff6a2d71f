#include <tessera/io/raster_writer.hpp>

#include <cpl_conv.h>
#include <cpl_string.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include <tessera/error.hpp>

#include "gdal_support.hpp"
#include "output_file.hpp"

namespace tessera::io {

namespace {

using detail::Dataset;
using detail::MessageCollector;
using raster::BandInfo;
using raster::NoData;
using raster::RasterMetadata;
using residency::Extent;
using residency::Window;

constexpr const char* operation_name = "raster_writer";

[[noreturn]] void fail(ErrorCode code, const std::string& operand, const char* rule, std::string values = {}) {
  throw Error(code, {operation_name, operand, rule, std::move(values)});
}

void require_bands(std::span<const BandInfo> bands) {
  if (bands.empty()) {
    fail(ErrorCode::invalid_argument, "bands", "there must be at least one");
  }
  for (const BandInfo& band : bands) {
    if (band.type != bands.front().type) {
      fail(ErrorCode::format_mismatch, "bands", "all bands of a GeoTIFF have one type",
           std::string(name_of(bands.front().type)) + " and " + std::string(name_of(band.type)));
    }
    if (!(band.no_data == bands.front().no_data)) {
      fail(ErrorCode::format_mismatch, "bands", "all bands of a GeoTIFF have one nodata value",
           bands.front().no_data.text() + " and " + band.no_data.text());
    }
    if (band.no_data.kind() != NoData::Kind::none && band.no_data.type() != band.type) {
      fail(ErrorCode::format_mismatch, "no_data", "must be of the band's type",
           std::string(name_of(band.no_data.type())) + " and " + std::string(name_of(band.type)));
    }
    if (!std::isfinite(band.scale_or_default()) || !std::isfinite(band.offset_or_default())) {
      fail(ErrorCode::invalid_argument, "scale", "scale and offset must be finite");
    }
  }
}

void require_options(const RasterMetadata& metadata, const RasterWriterOptions& options) {
  metadata.validate();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (metadata.width > most || metadata.height > most) {
    fail(ErrorCode::limit_exceeded, "metadata", "a GeoTIFF has at most 2147483647 columns and rows",
         std::to_string(metadata.width) + " x " + std::to_string(metadata.height));
  }
  for (const std::int64_t size : {options.tile.width, options.tile.height}) {
    if (size <= 0 || size % 16 != 0 || size > 32768) {
      fail(ErrorCode::invalid_argument, "tile", "sizes must be multiples of 16 up to 32768", std::to_string(size));
    }
  }
  if (options.threads < 0) {
    fail(ErrorCode::invalid_argument, "threads", "must not be negative", std::to_string(options.threads));
  }
  if (options.compression_level) {
    const int highest = options.compression == Compression::deflate ? 9
                        : options.compression == Compression::zstd  ? 22
                                                                    : 0;
    if (*options.compression_level < 1 || *options.compression_level > highest) {
      fail(ErrorCode::invalid_argument, "compression_level", "DEFLATE takes 1 to 9, ZSTD 1 to 22, others none",
           std::to_string(*options.compression_level));
    }
  }
}

std::int64_t shrunk(std::int64_t tile, std::int64_t raster) { return std::min(tile, (raster + 15) / 16 * 16); }

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

/// Our defaults, then the caller's own options over them.
std::map<std::string, std::string> creation_options(const RasterMetadata& metadata, std::span<const BandInfo> bands,
                                                    const RasterWriterOptions& options) {
  std::map<std::string, std::string> result;
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
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      fail(ErrorCode::invalid_option, "creation_options", "must read KEY=VALUE", option);
    }
    const std::string key = upper_case(option.substr(0, equals));
    const std::string value = option.substr(equals + 1);
    if (key == "COMPRESS") {
      // A level or predictor of ours may not suit another compression.
      result.erase("PREDICTOR");
      result.erase("ZLEVEL");
      result.erase("ZSTD_LEVEL");
      const std::string name = upper_case(value);
      if (name == "DEFLATE" || name == "LZW" || name == "ZSTD") {
        result["PREDICTOR"] = is_float ? "3" : "2";
      }
    }
    result[key] = value;
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
    const std::array<double, 6>& m = metadata.affine;
    // GDAL's transform starts at the corner of the first pixel, that of a point raster at the point itself.
    const double shift = is_point ? 0.5 : 0.0;
    double transform[6] = {m[2] - shift * m[0] - shift * m[1], m[0], m[1],
                           m[5] - shift * m[3] - shift * m[4], m[3], m[4]};
    GDALSetGeoTransform(dataset, transform);
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

GDALDriverH geotiff_driver() {
  detail::register_drivers();
  const GDALDriverH driver = GDALGetDriverByName("GTiff");
  if (driver == nullptr) {
    fail(ErrorCode::file_unsupported, "GTiff", "GDAL must have its GeoTIFF driver");
  }
  return driver;
}

/// A failure while the pixels are on their way to the medium.
[[noreturn]] void fail_write(const std::string& path, const char* rule, const std::string& words) {
  fail(ErrorCode::file_unwritable, path, rule, words);
}

Dataset create_dataset(const detail::OutputFile& file, const RasterMetadata& metadata, std::span<const BandInfo> bands,
                       const RasterWriterOptions& options) {
  const GDALDriverH driver = geotiff_driver();
  std::vector<std::string> texts;
  for (const auto& [key, value] : creation_options(metadata, bands, options)) {
    std::string& text = texts.emplace_back(key);
    text += '=';
    text += value;
  }
  const std::vector<const char*> list = detail::option_list(texts);
  MessageCollector messages;
  if (GDALValidateCreationOptions(driver, const_cast<char**>(list.data())) == FALSE) {
    fail(ErrorCode::invalid_option, "creation_options", "the driver must know every option", messages.text());
  }
  Dataset dataset(GDALCreate(driver, file.temporary().c_str(), static_cast<int>(metadata.width),
                             static_cast<int>(metadata.height), static_cast<int>(bands.size()),
                             detail::gdal_type_of(bands.front().type), const_cast<char**>(list.data())));
  if (!dataset) {
    fail_write(file.path(), "can't be created", messages.text());
  }
  set_grid(dataset.get(), metadata);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    set_band(GDALGetRasterBand(dataset.get(), static_cast<int>(i + 1)), bands[i]);
  }
  if (messages.failed()) {
    fail_write(file.path(), "metadata can't be written", messages.text());
  }
  return dataset;
}

}  // namespace

class RasterWriter::Implementation {
 public:
  Implementation(const std::string& path, const RasterMetadata& metadata, std::span<const BandInfo> bands,
                 const RasterWriterOptions& options)
      : metadata_(metadata),
        bands_(bands.begin(), bands.end()),
        file_(path, options.overwrite, options.inputs),
        dataset_(create_dataset(file_, metadata_, bands_, options)) {
    int width = 0;
    int height = 0;
    GDALGetBlockSize(GDALGetRasterBand(dataset_.get(), 1), &width, &height);
    block_ = {width, height};
    const char* interleave = GDALGetMetadataItem(dataset_.get(), "INTERLEAVE", "IMAGE_STRUCTURE");
    writes_blocks_ = bands_.size() == 1 || (interleave != nullptr && EQUAL(interleave, "BAND"));
  }

  ~Implementation() { abandon(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  const RasterMetadata& metadata() const { return metadata_; }
  std::span<const BandInfo> bands() const { return bands_; }
  const detail::OutputFile& file() const { return file_; }
  Extent block() const { return block_; }

  void write(const residency::WriteRequest& request);
  void finish();
  void abandon() noexcept;

 private:
  bool covers_blocks(const Window& window) const;
  void write_blocks(GDALRasterBandH band, const Window& window, const std::byte* samples);
  void write_region(GDALRasterBandH band, const Window& window, const std::byte* samples);
  void require_success(CPLErr status, const MessageCollector& messages, const char* rule);
  void require_open() const;
  void verify() const;

  RasterMetadata metadata_;
  std::vector<BandInfo> bands_;
  detail::OutputFile file_;
  Dataset dataset_;
  Extent block_;
  bool writes_blocks_ = false;
  std::vector<std::byte> scratch_;
};

void RasterWriter::Implementation::require_open() const {
  if (!dataset_) {
    fail(ErrorCode::execution_order, file_.path(), "the writer is finished or has been abandoned");
  }
}

/// With compression threads an error of one block surfaces at a later call: status and messages both count.
void RasterWriter::Implementation::require_success(CPLErr status, const MessageCollector& messages, const char* rule) {
  if (status != CE_None || messages.failed()) {
    const std::string words = messages.text();
    abandon();
    fail_write(file_.path(), rule, words);
  }
}

/// Whether every block that the window touches lies inside it, as far as the raster goes.
bool RasterWriter::Implementation::covers_blocks(const Window& window) const {
  const std::int64_t right = window.column + window.width;
  const std::int64_t bottom = window.row + window.height;
  return window.column % block_.width == 0 && window.row % block_.height == 0 &&
         (right % block_.width == 0 || right == metadata_.width) &&
         (bottom % block_.height == 0 || bottom == metadata_.height);
}

/// Whole blocks go past GDAL's cache: nothing stays dirty, so an error belongs to the call that caused it and no other
/// thread of the process has to write for us.
void RasterWriter::Implementation::write_blocks(GDALRasterBandH band, const Window& window, const std::byte* samples) {
  const std::size_t size = raster::size_of(bands_.front().type);
  const std::size_t block_row = static_cast<std::size_t>(block_.width) * size;
  scratch_.resize(block_row * static_cast<std::size_t>(block_.height));
  for (std::int64_t y = 0; y < window.height; y += block_.height) {
    for (std::int64_t x = 0; x < window.width; x += block_.width) {
      const std::int64_t rows = std::min(block_.height, window.height - y);
      const std::size_t bytes = static_cast<std::size_t>(std::min(block_.width, window.width - x)) * size;
      if (bytes < block_row || rows < block_.height) {
        std::fill(scratch_.begin(), scratch_.end(), std::byte{0});
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        std::memcpy(scratch_.data() + static_cast<std::size_t>(row) * block_row,
                    samples + static_cast<std::size_t>((y + row) * window.width + x) * size, bytes);
      }
      MessageCollector messages;
      const CPLErr status = GDALWriteBlock(band, static_cast<int>((window.column + x) / block_.width),
                                           static_cast<int>((window.row + y) / block_.height), scratch_.data());
      require_success(status, messages, "a block can't be written");
    }
  }
}

void RasterWriter::Implementation::write_region(GDALRasterBandH band, const Window& window, const std::byte* samples) {
  const auto size = static_cast<GSpacing>(raster::size_of(bands_.front().type));
  GDALRasterIOExtraArg extra;
  INIT_RASTERIO_EXTRA_ARG(extra);
  MessageCollector messages;
  const CPLErr status = GDALRasterIOEx(
      band, GF_Write, static_cast<int>(window.column), static_cast<int>(window.row), static_cast<int>(window.width),
      static_cast<int>(window.height), const_cast<std::byte*>(samples), static_cast<int>(window.width),
      static_cast<int>(window.height), detail::gdal_type_of(bands_.front().type), size, size * window.width, &extra);
  require_success(status, messages, "a window can't be written");
}

void RasterWriter::Implementation::write(const residency::WriteRequest& request) {
  require_open();
  const bool by_block = writes_blocks_ && covers_blocks(request.window);
  for (const residency::BandSamples& samples : request.bands) {
    const GDALRasterBandH band = GDALGetRasterBand(dataset_.get(), static_cast<int>(samples.band));
    if (by_block) {
      write_blocks(band, request.window, samples.samples.data());
    } else {
      write_region(band, request.window, samples.samples.data());
    }
  }
}

/// Opens what was written: a medium that lost the end of the file without a word shows here.
void RasterWriter::Implementation::verify() const {
  const MessageCollector messages;
  const Dataset written(GDALOpenEx(file_.temporary().c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR,
                                   nullptr, nullptr, nullptr));
  if (!written || GDALGetRasterXSize(written.get()) != metadata_.width ||
      GDALGetRasterYSize(written.get()) != metadata_.height ||
      GDALGetRasterCount(written.get()) != static_cast<int>(bands_.size())) {
    fail_write(file_.path(), "the written file can't be opened again", messages.text());
  }
}

void RasterWriter::Implementation::finish() {
  require_open();
  {
    MessageCollector messages;
    GDALFlushCache(dataset_.get());
    require_success(CE_None, messages, "can't be flushed");
    GDALClose(dataset_.release());
    require_success(CE_None, messages, "can't be closed");
  }
  try {
    verify();
  } catch (...) {
    abandon();
    throw;
  }
  file_.publish();
}

void RasterWriter::Implementation::abandon() noexcept {
  if (dataset_) {
    const MessageCollector quiet;
    GDALClose(dataset_.release());
  }
  file_.discard();
}

RasterWriter::RasterWriter(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
RasterWriter::RasterWriter(RasterWriter&&) noexcept = default;
RasterWriter& RasterWriter::operator=(RasterWriter&&) noexcept = default;
RasterWriter::~RasterWriter() = default;

RasterWriter RasterWriter::create(const std::string& path, const RasterMetadata& metadata,
                                  std::span<const BandInfo> bands, const RasterWriterOptions& options) {
  require_bands(bands);
  require_options(metadata, options);
  return RasterWriter(std::make_unique<Implementation>(path, metadata, bands, options));
}

const std::string& RasterWriter::name() const { return implementation_->file().path(); }
const RasterMetadata& RasterWriter::metadata() const { return implementation_->metadata(); }
std::span<const BandInfo> RasterWriter::bands() const { return implementation_->bands(); }
Extent RasterWriter::preferred_block() const { return implementation_->block(); }
const std::string& RasterWriter::temporary_name() const { return implementation_->file().temporary(); }
void RasterWriter::finish() { implementation_->finish(); }

void RasterWriter::abandon() noexcept {
  if (implementation_) {
    implementation_->abandon();
  }
}

void RasterWriter::write_checked(const residency::WriteRequest& request) { implementation_->write(request); }

}  // namespace tessera::io
