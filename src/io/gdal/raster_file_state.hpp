#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <tessera/io/raster_file.hpp>

#include "gdal_support.hpp"

namespace tessera::io {

namespace detail {

/// What one validity plane is made of; bands as GDAL numbers them, 0 = absent.
struct ValidityPlane {
  int mask_of_band = 0;  ///< the band whose mask band counts
  int alpha_band = 0;
  int mask_band = 0;  ///< a band of bytes that is a mask itself

  friend bool operator==(const ValidityPlane&, const ValidityPlane&) = default;
};

/// Everything that is read from the header.
struct RasterDescription {
  raster::RasterMetadata metadata;
  std::vector<raster::BandInfo> bands;
  int band_count = 0;  ///< of the dataset: as many as `bands`, or more where further ones are masks
  std::vector<ValidityPlane> planes;
  RasterFileInfo info;
  /// Bytes that decoding one block takes: all bands when they are interleaved by pixel.
  std::uint64_t block_bytes = 0;
  /// Whether decoding a block of one band yields nothing of the others, so that GDAL's cache has no use.
  bool bands_decode_alone = false;
};

/// Opens for reading; throws as `RasterFile::open` says.
Dataset open_dataset(const std::string& path, const RasterOpenOptions& options);

/// Reads the header; `file_unsupported` for what can't be read.
RasterDescription describe(const std::string& path, GDALDatasetH dataset);

/// Fills the destinations of a checked request through one handle, in steps of whole blocks.
void read_windows(const std::string& path, const RasterDescription& description, GDALDatasetH dataset,
                  const residency::ReadRequest& request, const std::stop_token& stop);

/// Whether the file holds no block of the bands and planes in the window; false as well where that can't be known.
bool is_absent(const RasterDescription& description, GDALDatasetH dataset, const residency::Window& window,
               std::span<const std::uint32_t> bands, std::span<const std::uint32_t> planes);

}  // namespace detail

class RasterFile::Implementation {
 public:
  /// Makes a further handle, on any thread.
  using Opener = std::function<detail::Dataset()>;

  Implementation(std::string path, RasterOpenOptions options, detail::RasterDescription description,
                 detail::Dataset first, Opener opener);

  const std::string& path() const { return path_; }
  const RasterOpenOptions& options() const { return options_; }
  const Opener& opener() const { return opener_; }
  const detail::RasterDescription& description() const { return description_; }
  void read(const residency::ReadRequest& request, const std::stop_token& stop);
  bool is_blank(const residency::Window& window, std::span<const std::uint32_t> bands,
                std::span<const std::uint32_t> planes);

 private:
  detail::Dataset acquire();
  void give_back(detail::Dataset dataset);

  std::string path_;
  RasterOpenOptions options_;
  detail::RasterDescription description_;
  Opener opener_;
  std::mutex mutex_;
  std::vector<detail::Dataset> idle_;
};

}  // namespace tessera::io
