#include <tessera/io/raster_writer.hpp>

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include <tessera/error.hpp>

#include "creation.hpp"
#include "gdal_support.hpp"
#include "output_file.hpp"
#include "written_check.hpp"

namespace tessera::io {

namespace {

using detail::Dataset;
using detail::fail_writer;
using detail::MessageCollector;
using raster::BandInfo;
using raster::RasterMetadata;
using residency::Extent;
using residency::Window;

/// A failure while the pixels are on their way to the medium.
[[noreturn]] void fail_write(const std::string& path, const char* rule, const std::string& words) {
  fail_writer(ErrorCode::file_unwritable, path, rule, words);
}

/// Makes a mask of the whole dataset inside the file, with every pixel accepted.
CPLErr make_mask(GDALDatasetH dataset) {
  const detail::ThreadOption internal("GDAL_TIFF_INTERNAL_MASK", "YES");
  const CPLErr status = GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET);
  return status != CE_None ? status : GDALFillRaster(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), 255.0, 0.0);
}

}  // namespace

class RasterWriter::Implementation {
 public:
  Implementation(const std::string& path, const RasterMetadata& metadata, std::span<const BandInfo> bands,
                 const RasterWriterOptions& options)
      : metadata_(metadata),
        bands_(bands.begin(), bands.end()),
        options_(options),
        is_copied_(detail::is_copied_format(options)),
        file_(path, options.overwrite, options.inputs, is_copied_ ? detail::Staging::copied : detail::Staging::direct) {
    if (is_copied_) {
      file_.expect_companions(detail::try_format(file_.folder(), file_.file_name(), described()));
    } else {
      file_.begin();
    }
    dataset_ = detail::create_geotiff(file_.temporary(), file_.path(), metadata_, bands_,
                                      is_copied_ ? detail::intermediate_options(options) : options);
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
  void write_validity(const Window& window, std::span<const std::uint8_t> validity);
  void require_success(CPLErr status, const MessageCollector& messages, const char* rule);
  void require_open() const;
  detail::WrittenRaster described() const { return {file_.path(), metadata_, bands_, options_, has_mask_}; }

  RasterMetadata metadata_;
  std::vector<BandInfo> bands_;
  RasterWriterOptions options_;
  bool is_copied_ = false;
  bool has_mask_ = false;
  detail::OutputFile file_;
  Dataset dataset_;
  Extent block_;
  bool writes_blocks_ = false;
  std::vector<std::byte> scratch_;
};

void RasterWriter::Implementation::require_open() const {
  if (!dataset_) {
    fail_writer(ErrorCode::execution_order, file_.path(), "the writer is finished or has been abandoned");
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
  write_validity(request.window, request.validity);
}

/// Missing pixels stay missing: the mask of the window is combined with what it holds.
void RasterWriter::Implementation::write_validity(const Window& window, std::span<const std::uint8_t> validity) {
  if (std::find(validity.begin(), validity.end(), std::uint8_t{0}) == validity.end()) {
    return;
  }
  MessageCollector messages;
  if (!has_mask_) {
    require_success(make_mask(dataset_.get()), messages, "a mask can't be made");
    has_mask_ = true;
  }
  const GDALRasterBandH mask = GDALGetMaskBand(GDALGetRasterBand(dataset_.get(), 1));
  std::vector<std::uint8_t> bytes(validity.size());
  const auto transfer = [&](GDALRWFlag direction, const char* rule) {
    const CPLErr status = GDALRasterIO(mask, direction, static_cast<int>(window.column), static_cast<int>(window.row),
                                       static_cast<int>(window.width), static_cast<int>(window.height), bytes.data(),
                                       static_cast<int>(window.width), static_cast<int>(window.height), GDT_Byte, 0, 0);
    require_success(status, messages, rule);
  };
  transfer(GF_Read, "the mask can't be read");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = validity[i] == 0 ? 0 : bytes[i];
  }
  transfer(GF_Write, "the mask can't be written");
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
    if (is_copied_) {
      file_.begin();
      detail::copy_into_format(file_.temporary(), file_.product(), file_.path(), metadata_, bands_, options_);
    }
    static_cast<void>(detail::open_written(file_.product(), described()));
    if (!detail::is_known_lossless(options_)) {
      detail::require_same_pixels(file_.temporary(), file_.product(), described());
    }
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
  detail::require_writable_bands(bands);
  detail::require_writer_options(metadata, options);
  detail::require_format(metadata, bands, options);
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
