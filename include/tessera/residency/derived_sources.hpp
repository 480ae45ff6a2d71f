#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/residency/tile_source.hpp>

// Sources that are made of other sources. Each reads through the source that it is put around, which must outlive it;
// none keeps pixels. Reads cost what the inner reads cost and what is said at each class. The grid of all but
// `SubsetSource`, and the name, the blocks and the errors of all, are those of the inner source.

namespace tessera::residency {

/// A window of a source as a raster of its own: the affine's origin is moved, everything else stays.
///
/// Blocks keep their size but no longer begin at the inner source's blocks, so that a block on the border of two
/// windows is decoded for each.
///
/// Thread-safety: like every source.
class TESSERA_EXPORT SubsetSource final : public TileSource {
 public:
  /// `range_out_of_bounds` when the window is empty or leaves the raster.
  SubsetSource(const TileSource& source, const Window& window);

  const std::string& name() const override { return source_->name(); }
  const raster::RasterMetadata& metadata() const override { return metadata_; }
  std::span<const raster::BandInfo> bands() const override { return source_->bands(); }
  std::uint32_t validity_plane_count() const override { return source_->validity_plane_count(); }
  Extent preferred_block() const override { return source_->preferred_block(); }
  /// The window in pixels of the inner source.
  const Window& window() const noexcept { return window_; }

 private:
  void read_checked(const ReadRequest& request, const std::stop_token& stop) const override;
  bool is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                        std::span<const std::uint32_t> planes) const override;

  const TileSource* source_;
  Window window_;
  raster::RasterMetadata metadata_;
};

/// The same pixels under other descriptions: nodata, scale, offset, names. Validity and its planes stay the source's,
/// whatever the descriptions say; a scale of 0 counts as absent.
///
/// Thread-safety: like every source.
class TESSERA_EXPORT RedescribedSource final : public TileSource {
 public:
  /// `length_mismatch` for another number of bands; `format_mismatch` for another sample type, or a nodata value of
  /// another type than the samples; `invalid_argument` for a scale or offset that is not finite.
  RedescribedSource(const TileSource& source, std::vector<raster::BandInfo> bands);

  const std::string& name() const override { return source_->name(); }
  const raster::RasterMetadata& metadata() const override { return source_->metadata(); }
  std::span<const raster::BandInfo> bands() const override { return bands_; }
  std::uint32_t validity_plane_count() const override { return source_->validity_plane_count(); }
  Extent preferred_block() const override { return source_->preferred_block(); }

 private:
  void read_checked(const ReadRequest& request, const std::stop_token& stop) const override;
  bool is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                        std::span<const std::uint32_t> planes) const override;

  const TileSource* source_;
  std::vector<raster::BandInfo> bands_;
};

/// Which pixels a quality band calls bad: those with any of the bits set, and those whose value is listed.
/// Plain value; safe to read from several threads.
struct QualityRule {
  /// Bit numbers, 0 = least significant, of the sample's bit pattern.
  std::vector<std::uint32_t> bits = {};
  /// Sample values; one that the band's type can't hold matches nothing.
  std::vector<std::int64_t> values = {};
};

/// A source whose pixels are missing as well where a quality band, usually of another file, calls them bad. Pixels that
/// are missing in the quality band itself (by its nodata value or validity) count as bad.
///
/// Planes: with `n` planes in the source, plane `p < n` is the source's own plane, without quality; plane `n + p` is
/// that plane and quality; plane `2 * n` is quality alone. Each band refers to `n + p` where it had plane `p`, and to
/// `2 * n` where it had none; its `ValiditySource` is then `quality`, and otherwise stays. `unmasked_plane` says what a
/// band referred to before.
///
/// A read decodes the window of the quality band once when it asks for a plane from `n` on, in strips of about a
/// million pixels.
///
/// Thread-safety: like every source.
class TESSERA_EXPORT QualityMaskedSource final : public TileSource {
 public:
  /// `grid_mismatch` when the sizes differ; `band_out_of_range` when the mask has no such band; `format_mismatch` when
  /// that band is not of integers; `invalid_argument` for a rule without bits and values, or a bit beyond the type.
  QualityMaskedSource(const TileSource& source, const TileSource& mask, std::uint32_t mask_band, QualityRule rule);
  QualityMaskedSource(QualityMaskedSource&&) noexcept;
  QualityMaskedSource& operator=(QualityMaskedSource&&) noexcept;
  ~QualityMaskedSource() override;

  const std::string& name() const override { return source_->name(); }
  const raster::RasterMetadata& metadata() const override { return source_->metadata(); }
  std::span<const raster::BandInfo> bands() const override { return bands_; }
  std::uint32_t validity_plane_count() const override { return 2 * source_->validity_plane_count() + 1; }
  Extent preferred_block() const override { return source_->preferred_block(); }

  /// The plane of quality alone.
  std::uint32_t quality_plane() const { return 2 * source_->validity_plane_count(); }
  /// The plane that a band has without quality, as `StreamInput::unmasked_plane` takes it; none where it had none.
  std::optional<std::uint32_t> unmasked_plane(std::uint32_t band) const;

 private:
  class Quality;
  std::optional<std::uint32_t> inner_plane(std::uint32_t plane) const;
  void read_checked(const ReadRequest& request, const std::stop_token& stop) const override;
  bool is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                        std::span<const std::uint32_t> planes) const override;

  const TileSource* source_;
  std::vector<raster::BandInfo> bands_;
  std::unique_ptr<const Quality> quality_;
};

/// A block that could not be read.
struct SkippedBlock {
  Window window;  ///< as far as the raster goes
  std::uint32_t band = 1;
  std::string cause;  ///< the message of the error
};

/// A source whose unreadable blocks are missing pixels instead of errors: `file_unreadable` is caught, everything else
/// still ends the read. Samples of such a block are 0.
///
/// Planes: with `n` planes in the source, plane `p < n` is the source's own plane (0 where it can't be read); plane
/// `n + b - 1` is that of band `b`: its plane of the source, if any, and 0 in blocks of the band that can't be read.
/// Each band refers to plane `n + b - 1`; the `ValiditySource` of bands that had none is `unreadable`.
///
/// A window that can't be read as a whole is read again block by block. A request for a band's plane without the band's
/// samples reads the samples as well, to know what is missing.
///
/// Thread-safety: like every source; `skipped` and `skipped_count` too.
class TESSERA_EXPORT SkippingSource final : public TileSource {
 public:
  /// Keeps the causes of at most `most_listed` blocks.
  explicit SkippingSource(const TileSource& source, std::size_t most_listed = 100);
  SkippingSource(SkippingSource&&) noexcept;
  SkippingSource& operator=(SkippingSource&&) noexcept;
  ~SkippingSource() override;

  const std::string& name() const override { return source_->name(); }
  const raster::RasterMetadata& metadata() const override { return source_->metadata(); }
  std::span<const raster::BandInfo> bands() const override { return bands_; }
  std::uint32_t validity_plane_count() const override;
  Extent preferred_block() const override { return source_->preferred_block(); }

  /// The first blocks that were skipped, in the order of their discovery; a block read twice is listed once.
  std::vector<SkippedBlock> skipped() const;
  /// All blocks that were skipped, each counted once per band.
  std::uint64_t skipped_count() const;

 private:
  class Record;
  void read_checked(const ReadRequest& request, const std::stop_token& stop) const override;
  bool is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                        std::span<const std::uint32_t> planes) const override;
  void read_block(const ReadRequest& request, const Window& block, const std::stop_token& stop) const;

  const TileSource* source_;
  std::vector<raster::BandInfo> bands_;
  std::unique_ptr<Record> record_;
};

}  // namespace tessera::residency
