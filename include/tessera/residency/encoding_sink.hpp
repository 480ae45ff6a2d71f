#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/residency/tile_source.hpp>

namespace tessera::residency {

/// What becomes of a valid result that equals the nodata value of its band.
enum class CollisionPolicy : std::uint8_t {
  reject,  ///< `finish()` throws
  allow,   ///< it is written, and readers take it for missing
};

struct EncodingOptions {
  CollisionPolicy collisions = CollisionPolicy::reject;
};

/// Turns results, float32 with NaN for missing, into the types and nodata values of another sink.
///
/// - A valid result is rounded to the nearest value of an integer type, halves away from zero, and clamped to its
/// range,
///   as GDAL does. Float types take it as it is; infinities are kept.
/// - A missing result becomes the band's nodata value. In a band without one it becomes NaN (0 in integers), and the
///   inner sink gets it as validity: a pixel is missing there when it is missing in any such band of the write.
///
/// `bands()` are the inner sink's, with type float32 and nodata NaN. The inner sink must outlive this one.
///
/// Thread-safety: one thread at a time. Costs one pass over the samples and the memory of one encoded window.
class TESSERA_EXPORT EncodingSink final : public TileSink {
 public:
  /// `invalid_argument` when a band's nodata value is one that its type can't hold.
  explicit EncodingSink(TileSink& inner, EncodingOptions options = {});

  const std::string& name() const override { return inner_->name(); }
  const raster::RasterMetadata& metadata() const override { return inner_->metadata(); }
  std::span<const raster::BandInfo> bands() const override { return bands_; }
  Extent preferred_block() const override { return inner_->preferred_block(); }

  /// Pixels of a band so far: missing ones; valid ones that equal the nodata value once encoded; valid ones outside the
  /// type's range. `band_out_of_range` when there is no such band.
  std::uint64_t missing(std::uint32_t band) const { return counts(band).missing; }
  std::uint64_t collisions(std::uint32_t band) const { return counts(band).collisions; }
  std::uint64_t clamped(std::uint32_t band) const { return counts(band).clamped; }

  /// Finishes the inner sink. `invalid_argument`, naming band and number, when there are collisions and they are to be
  /// rejected; the inner sink is not finished then, so that nothing remains.
  void finish() override;

 private:
  struct Counts {
    std::uint64_t missing = 0;
    std::uint64_t collisions = 0;
    std::uint64_t clamped = 0;
  };
  const Counts& counts(std::uint32_t band) const;
  void write_checked(const WriteRequest& request) override;

  TileSink* inner_;
  EncodingOptions options_;
  std::vector<raster::BandInfo> bands_;
  std::vector<Counts> counts_;
  std::vector<std::vector<std::byte>> encoded_;
  std::vector<std::uint8_t> validity_;
};

}  // namespace tessera::residency
