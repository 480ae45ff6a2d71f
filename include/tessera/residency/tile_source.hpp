#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include <tessera/export.hpp>
#include <tessera/raster/band_info.hpp>
#include <tessera/raster/metadata.hpp>
#include <tessera/residency/window.hpp>

namespace tessera::residency {

/// Where the samples of one band go: `window.pixel_count()` packed rows-first samples in the band's storage type.
struct BandDestination {
  std::uint32_t band = 1;  ///< 1-based, as files number bands
  std::span<std::byte> samples = {};
};

/// Where the bytes of one validity plane go, and how many pixels each reason took out.
struct ValidityDestination {
  std::uint32_t plane = 0;  ///< `BandInfo::validity_plane`
  /// One byte a pixel, 0 = missing, 1 = accepted; `window.pixel_count()` bytes.
  std::span<std::uint8_t> bytes = {};
  /// Written by the read: missing pixels by the first of these reasons. Their sum is the number of zeros.
  std::uint64_t missing_by_mask = 0;
  std::uint64_t missing_by_alpha = 0;
  std::uint64_t missing_by_quality = 0;
  /// Before all others: pixels of blocks that could not be read and were skipped.
  std::uint64_t missing_by_unreadable = 0;
};

/// One read: a window, the bands and the validity planes wanted of it. A band may be wanted once.
struct ReadRequest {
  Window window = {};
  std::span<const BandDestination> bands = {};
  std::span<ValidityDestination> validity = {};
};

/// A raster larger than memory that delivers windows on demand, in storage types and without any conversion: nodata,
/// calibration and validity are described by `bands()` and applied by whoever computes.
///
/// Thread-safety: every function may be called from several threads at once; reads run concurrently.
class TESSERA_EXPORT TileSource {
 public:
  TileSource(const TileSource&) = delete;
  TileSource& operator=(const TileSource&) = delete;
  virtual ~TileSource();

  /// The source's name for messages: the path of a file.
  virtual const std::string& name() const = 0;
  virtual const raster::RasterMetadata& metadata() const = 0;
  /// All bands, the first is band 1.
  virtual std::span<const raster::BandInfo> bands() const = 0;
  /// Number of validity planes that `bands()` refer to, from 0.
  virtual std::uint32_t validity_plane_count() const = 0;
  /// The blocks that the source decodes as a whole. May be larger than the raster.
  virtual Extent preferred_block() const = 0;

  /// Band `number` (1-based); `band_out_of_range` when there is none.
  const raster::BandInfo& band(std::uint32_t number) const;
  Extent extent() const { return {metadata().width, metadata().height}; }

  /// Fills the destinations. Stops soon after `stop` is requested.
  ///
  /// Rejected before any pixel is read: an empty window or one that leaves the raster (`range_out_of_bounds`), a band
  /// that does not exist (`band_out_of_range`) or is named twice (`duplicate_id`), a plane that does not exist
  /// (`unknown_id`), a destination whose size differs (`length_mismatch`).
  /// While reading: `file_unreadable` naming source, band, window and cause; `cancelled`. The destinations hold
  /// anything after an error.
  void read(const ReadRequest& request, const std::stop_token& stop = {}) const;

  /// Whether the source stores nothing of these bands and planes in the window, as in the absent blocks of a sparse
  /// file. Each band and each plane then has one value in all such windows. Reads no pixel; false wherever the source
  /// can't tell, and where telling fails. Rejected like a read.
  bool is_blank(const Window& window, std::span<const std::uint32_t> bands,
                std::span<const std::uint32_t> planes) const;

 protected:
  TileSource() = default;
  /// Moves are for factories of derived classes.
  TileSource(TileSource&&) noexcept = default;
  TileSource& operator=(TileSource&&) noexcept = default;
  /// Reads a request that has been checked. Called from several threads at once.
  virtual void read_checked(const ReadRequest& request, const std::stop_token& stop) const = 0;
  /// Answers a question that has been checked. Called from several threads at once.
  virtual bool is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                                std::span<const std::uint32_t> planes) const;
};

/// The samples of one band for a write, laid out like a `BandDestination`.
struct BandSamples {
  std::uint32_t band = 1;  ///< 1-based
  std::span<const std::byte> samples = {};
};

/// One write: a window and samples of some or all bands.
struct WriteRequest {
  Window window = {};
  std::span<const BandSamples> bands = {};
  /// One byte a pixel, 0 = missing in every band; empty where no pixel is missing for this reason. Pixels that the
  /// bands mark by their nodata value need none. Further writes of the window can only add missing pixels.
  std::span<const std::uint8_t> validity = {};
};

/// Takes windows of a raster in any order; best ones that cover whole blocks, each once.
///
/// Thread-safety: one thread at a time.
class TESSERA_EXPORT TileSink {
 public:
  TileSink(const TileSink&) = delete;
  TileSink& operator=(const TileSink&) = delete;
  virtual ~TileSink();

  /// The sink's name for messages: the path of a file.
  virtual const std::string& name() const = 0;
  virtual const raster::RasterMetadata& metadata() const = 0;
  virtual std::span<const raster::BandInfo> bands() const = 0;
  virtual Extent preferred_block() const = 0;
  Extent extent() const { return {metadata().width, metadata().height}; }

  /// Writes a window. Rejected like a read (`range_out_of_bounds`, `band_out_of_range`, `duplicate_id`,
  /// `length_mismatch`); `execution_order` after `finish`; `file_unwritable` when the medium fails, after which only
  /// destruction makes sense.
  void write(const WriteRequest& request);
  /// Makes everything written visible under the sink's name. Without it nothing remains.
  virtual void finish() = 0;

 protected:
  TileSink() = default;
  TileSink(TileSink&&) noexcept = default;
  TileSink& operator=(TileSink&&) noexcept = default;
  /// Writes a request that has been checked.
  virtual void write_checked(const WriteRequest& request) = 0;
};

}  // namespace tessera::residency
