#include <tessera/io/raster_file.hpp>

#include <utility>

#include <tessera/error.hpp>

#include "raster_file_state.hpp"

namespace tessera::io {

RasterFile::Implementation::Implementation(std::string path, RasterOpenOptions options,
                                           detail::RasterDescription description, detail::Dataset first, Opener opener)
    : path_(std::move(path)),
      options_(std::move(options)),
      description_(std::move(description)),
      opener_(std::move(opener)) {
  idle_.push_back(std::move(first));
}

detail::Dataset RasterFile::Implementation::acquire() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      detail::Dataset dataset = std::move(idle_.back());
      idle_.pop_back();
      return dataset;
    }
  }
  detail::Dataset dataset = opener_();
  // The file may have been replaced since it was described.
  if (GDALGetRasterXSize(dataset.get()) != description_.metadata.width ||
      GDALGetRasterYSize(dataset.get()) != description_.metadata.height ||
      GDALGetRasterCount(dataset.get()) != description_.band_count) {
    throw Error(ErrorCode::file_unreadable, {"raster_file", path_, "the file changed while it was read", ""});
  }
  return dataset;
}

void RasterFile::Implementation::give_back(detail::Dataset dataset) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(dataset));
}

void RasterFile::Implementation::read(const residency::ReadRequest& request, const std::stop_token& stop) {
  if (description_.block_bytes > options_.maximum_block_bytes) {
    throw Error(ErrorCode::limit_exceeded,
                {"raster_file", path_,
                 "one block must not exceed the bytes allowed; rewrite the file in small blocks with: gdal_translate "
                 "-co TILED=YES -co COMPRESS=DEFLATE -co BIGTIFF=IF_SAFER '" +
                     path_ + "' tiled.tif",
                 "a block of " + std::to_string(description_.info.block.width) + " x " +
                     std::to_string(description_.info.block.height) + " pixels takes " +
                     std::to_string(description_.block_bytes) + " bytes, " +
                     std::to_string(options_.maximum_block_bytes) + " are allowed"});
  }
  // After an error the handle is closed with it: a driver may be left in any state.
  detail::Dataset dataset = acquire();
  detail::read_windows(path_, description_, dataset.get(), request, stop);
  give_back(std::move(dataset));
}

bool RasterFile::Implementation::is_blank(const residency::Window& window, std::span<const std::uint32_t> bands,
                                          std::span<const std::uint32_t> planes) {
  // Of other drivers GDAL does not say for certain what is stored.
  if (description_.info.driver != "GTiff") {
    return false;
  }
  try {
    detail::Dataset dataset = acquire();
    const bool absent = detail::is_absent(description_, dataset.get(), window, bands, planes);
    give_back(std::move(dataset));
    return absent;
  } catch (const Error&) {
    return false;  // the read that follows meets the same and says so
  }
}

RasterFile::RasterFile(std::unique_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
RasterFile::RasterFile(RasterFile&&) noexcept = default;
RasterFile& RasterFile::operator=(RasterFile&&) noexcept = default;
RasterFile::~RasterFile() = default;

RasterFile RasterFile::open(const std::string& path, const RasterOpenOptions& options) {
  detail::Dataset dataset = detail::open_dataset(path, options);
  detail::RasterDescription description = detail::describe(path, dataset.get());
  return RasterFile(std::make_unique<Implementation>(path, options, std::move(description), std::move(dataset),
                                                     [path, options] { return detail::open_dataset(path, options); }));
}

const std::string& RasterFile::name() const { return implementation_->path(); }
const raster::RasterMetadata& RasterFile::metadata() const { return implementation_->description().metadata; }
std::span<const raster::BandInfo> RasterFile::bands() const { return implementation_->description().bands; }
std::uint32_t RasterFile::validity_plane_count() const {
  return static_cast<std::uint32_t>(implementation_->description().planes.size());
}
residency::Extent RasterFile::preferred_block() const { return implementation_->description().info.block; }
const RasterFileInfo& RasterFile::info() const { return implementation_->description().info; }

std::uint32_t RasterFile::find_band(const std::string& description) const {
  std::uint32_t found = 0;
  std::uint32_t number = 0;
  std::string names;
  for (const raster::BandInfo& band : bands()) {
    ++number;
    names += (number == 1 ? "" : ", ") + (band.description.empty() ? std::to_string(number) : band.description);
    if (band.description == description) {
      if (found != 0) {
        throw Error(ErrorCode::band_out_of_range,
                    {"raster_file", name(), "the name of a band must be unique; use its number",
                     description + " is band " + std::to_string(found) + " and " + std::to_string(number)});
      }
      found = number;
    }
  }
  if (found == 0) {
    throw Error(ErrorCode::band_out_of_range,
                {"raster_file", name(), "no band has this name", description + "; there are " + names});
  }
  return found;
}

void RasterFile::read_checked(const residency::ReadRequest& request, const std::stop_token& stop) const {
  implementation_->read(request, stop);
}

bool RasterFile::is_blank_checked(const residency::Window& window, std::span<const std::uint32_t> bands,
                                  std::span<const std::uint32_t> planes) const {
  return implementation_->is_blank(window, bands, planes);
}

std::uint64_t gdal_block_cache_bytes() { return static_cast<std::uint64_t>(GDALGetCacheMax64()); }

}  // namespace tessera::io
