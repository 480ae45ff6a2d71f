#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/residency/tile_source.hpp>

namespace tessera::io {

/// What happens when the output exists.
enum class OverwritePolicy : std::uint8_t { refuse, replace };

/// Lossless compression of the output.
enum class Compression : std::uint8_t { none, lzw, deflate, zstd };

/// Whether the samples of a pixel lie together or each band for itself.
enum class Interleave : std::uint8_t { band, pixel };

/// How a raster is written.
struct RasterWriterOptions {
  /// GDAL's short name of the format. `GTiff` is written directly. Any other format is first written as a GeoTIFF
  /// beside the output (for names under `/vsi`, in the folder for temporary files) and copied in `finish()`, as
  /// gdal_translate does. Of the options below, COG takes compression, level, tile and threads; other formats only
  /// `creation_options`.
  std::string driver = "GTiff";
  OverwritePolicy overwrite = OverwritePolicy::refuse;
  Compression compression = Compression::deflate;
  /// Level of DEFLATE (1 to 9) or ZSTD (1 to 22); absent means the format's default.
  std::optional<int> compression_level = {};
  Interleave interleave = Interleave::band;
  /// Tile size, multiples of 16. Shrinks with a raster that is smaller.
  residency::Extent tile = {512, 512};
  /// Threads that compress; 0 means one per core.
  int threads = 1;
  /// Further creation options of the driver, `KEY=VALUE`; they win over those above. With ones that are not known to
  /// keep every pixel (any but those of layout, lossless compression and size) a GeoTIFF is copied as other formats
  /// are.
  std::vector<std::string> creation_options = {};
  /// Files that the job reads, as they are opened: an output that is one of them or stands behind one (through links,
  /// archives, and virtual rasters of any depth) is refused, and so is one that would replace or delete such a file
  /// with its own sidecars and companions.
  std::vector<std::string> inputs = {};
  /// Ends the copy in `finish()` with `cancelled`.
  std::stop_token stop = {};
};

/// Writes a tiled, compressed GeoTIFF, or another format by way of one. The pixels go to a temporary file beside the
/// target (a folder, for other formats), which takes the target's name in `finish()`; a writer destroyed before leaves
/// nothing behind. A replaced file's `.aux.xml`, `.ovr` and `.msk` go with it. Names under `/vsi` are written directly
/// and deleted on failure. Statistics of an input are never written. A link to nothing yet is written through.
///
/// A file holds the very pixels that were written, or isn't published. What is copied is tried with a few pixels in
/// `create` and, unless format and options are known to be lossless, compared with its source in `finish()`, which
/// costs one pass over both.
///
/// Validity that a write brings becomes a mask of the dataset inside the GeoTIFF; the mask is made when the first
/// missing pixel comes, so that a raster without any has none.
///
/// Thread-safety: one thread at a time.
class TESSERA_EXPORT RasterWriter final : public residency::TileSink {
 public:
  /// Opens the output. Of each band type, nodata, scale, offset, description, unit, colour interpretation and palette
  /// are written. All bands have one type and one nodata value, as GeoTIFF demands (`format_mismatch`).
  /// `alias` when the output, or what goes with it, is a file that the job reads; `file_exists` when it (or a sidecar
  /// or companion) exists and may not be replaced; `file_unwritable` when the folder is missing or closed, the path is
  /// no regular file or lies in an archive, or the format with these options can't hold such pixels by itself;
  /// `invalid_argument` for metadata or options out of range; `invalid_option` for a format that GDAL does not
  /// know or can't write, and for creation options that it does not know or can't use for these bands.
  static RasterWriter create(const std::string& path, const raster::RasterMetadata& metadata,
                             std::span<const raster::BandInfo> bands, const RasterWriterOptions& options = {});

  RasterWriter(RasterWriter&&) noexcept;
  RasterWriter& operator=(RasterWriter&&) noexcept;
  /// Abandons an unfinished file.
  ~RasterWriter() override;

  const std::string& name() const override;
  const raster::RasterMetadata& metadata() const override;
  std::span<const raster::BandInfo> bands() const override;
  residency::Extent preferred_block() const override;

  /// Where the pixels are until `finish()`, so that a signal handler can remove it.
  const std::string& temporary_name() const;

  /// Flushes, closes, copies where the format needs it, checks and renames. `file_unwritable` when anything failed or
  /// the format can't hold the raster as it is, missing pixels included; `file_exists` when another process made the
  /// output meanwhile; `cancelled`. The temporary is gone then. Calling it twice is `execution_order`.
  void finish() override;
  /// Removes the temporary file now. Idempotent; nothing after a successful `finish()`.
  void abandon() noexcept;

 private:
  class Implementation;
  explicit RasterWriter(std::unique_ptr<Implementation> implementation);
  void write_checked(const residency::WriteRequest& request) override;

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tessera::io
