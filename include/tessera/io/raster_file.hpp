#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/residency/tile_source.hpp>

namespace tessera::io {

enum class Resampling : std::uint8_t;

/// How a raster is opened.
struct RasterOpenOptions {
  /// Open options of the format's driver, `KEY=VALUE`.
  std::vector<std::string> open_options = {};
  /// Only these drivers, by short name (`GTiff`); empty means all.
  std::vector<std::string> drivers = {};
  /// A file whose single decoded block (over all bands that are decoded together) takes more bytes is not read:
  /// `limit_exceeded`. Headers that claim absurd blocks therefore never make the library allocate.
  std::uint64_t maximum_block_bytes = std::uint64_t{2} << 30;
};

/// How the file stores the raster; for people and for planning.
struct RasterFileInfo {
  std::string driver;                            ///< GDAL's short name, for example `GTiff`
  std::string driver_description;                ///< for example `GeoTIFF`
  std::string compression;                       ///< for example `DEFLATE`; empty when none or unknown
  std::string interleave;                        ///< `PIXEL`, `BAND`, `LINE` or empty
  std::string coordinate_reference_system_name;  ///< for example `WGS 84 / UTM zone 33N`; empty without CRS
  residency::Extent block;                       ///< size of the stored blocks
  std::vector<residency::Extent> overviews;      ///< sizes of the overviews of band 1
  std::vector<std::string> files;                ///< the file itself, its sidecars, the sources of a virtual raster
};

/// A raster that GDAL can read, as a `TileSource`.
///
/// Any real-valued type is delivered as stored: 8-, 16-, 32- and 64-bit integers, float32, float64 (float16 as
/// float32). Mask bands and alpha are delivered as validity planes; nodata is described, not applied. A geotransform
/// that is absent, not finite or singular becomes the identity with `Georeferencing::absent`. Point rasters have their
/// affine moved by half a pixel from GDAL's corner convention to the pixel's own position.
///
/// Absent blocks of a sparse GeoTIFF are blank (`TileSource::is_blank`); other formats are taken to store everything.
///
/// The library registers GDAL's drivers once and otherwise leaves GDAL's process-wide state alone; nothing that GDAL
/// has to say is printed.
///
/// Thread-safety: all functions but moves may be called from several threads; each concurrent read uses a handle of its
/// own, kept for the next.
class TESSERA_EXPORT RasterFile final : public residency::TileSource {
 public:
  /// Opens `path` (a path or any name GDAL understands, such as `/vsizip/...`).
  /// `file_not_found`; `file_unsupported` (no raster, a directory, complex samples, no band); `file_unreadable` (no
  /// permission, a damaged header, an empty file).
  static RasterFile open(const std::string& path, const RasterOpenOptions& options = {});

  RasterFile(RasterFile&&) noexcept;
  RasterFile& operator=(RasterFile&&) noexcept;
  ~RasterFile() override;

  const std::string& name() const override;
  const raster::RasterMetadata& metadata() const override;
  std::span<const raster::BandInfo> bands() const override;
  std::uint32_t validity_plane_count() const override;
  residency::Extent preferred_block() const override;
  const RasterFileInfo& info() const;

  /// Number of the band whose description is `description`; `band_out_of_range` when there is none or more than one.
  std::uint32_t find_band(const std::string& description) const;

 private:
  class Implementation;
  friend TESSERA_EXPORT RasterFile align(const RasterFile& file, const residency::TileSource& reference,
                                         Resampling resampling);
  explicit RasterFile(std::unique_ptr<Implementation> implementation);
  void read_checked(const residency::ReadRequest& request, const std::stop_token& stop) const override;
  bool is_blank_checked(const residency::Window& window, std::span<const std::uint32_t> bands,
                        std::span<const std::uint32_t> planes) const override;

  std::unique_ptr<Implementation> implementation_;
};

/// Throws `grid_mismatch` with both values unless two rasters share size, geotransform (corners within half a pixel)
/// and CRS (as GDAL compares them; a missing one agrees with any).
TESSERA_EXPORT void assert_same_grid(const RasterFile& left, const RasterFile& right);

/// The most bytes GDAL's block cache may take in this process. Only read, never set.
TESSERA_EXPORT std::uint64_t gdal_block_cache_bytes();

}  // namespace tessera::io
