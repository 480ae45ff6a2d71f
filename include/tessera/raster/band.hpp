#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/operand/source.hpp>
#include <tessera/raster/metadata.hpp>
#include <tessera/raster/no_data.hpp>
#include <tessera/raster/sample_type.hpp>

namespace tessera::raster {

/// The storage format of a band's samples on the device.
TESSERA_EXPORT Format storage_format(SampleType type) noexcept;

/// One band of a raster on the device: row-major samples, and what makes a pixel an observation.
///
/// A pixel is missing when, in this order, its validity is 0, its raw sample equals the nodata value (compared exactly
/// in the band's own type), a float sample is not finite, or its calibrated value `float32(raw) * scale + offset` is
/// not finite. Zero is a value. Converts to the source that operations take. Plain value; safe to read from several
/// threads.
struct TESSERA_EXPORT Band {
  std::string id = {};
  Rows values;
  std::optional<Validity> validity = {};
  NoData no_data = {};
  double scale = 1.0;
  double offset = 0.0;

  /// Throws `format_mismatch` (a nodata value of another type than the samples), `invalid_argument` (scale or offset
  /// that is not finite in float32).
  Source source() const;
  operator Source() const { return source(); }  // NOLINT(google-explicit-constructor)
};

/// Bands on one grid. Owns no memory. Immutable; safe to read from several threads.
class TESSERA_EXPORT Raster {
 public:
  /// Throws `missing_operand` (no band), `duplicate_id`, `length_mismatch` (a band with other than width * height
  /// samples).
  Raster(RasterMetadata metadata, std::vector<Band> bands);

  const RasterMetadata& metadata() const noexcept { return metadata_; }
  const std::vector<Band>& bands() const noexcept { return bands_; }
  /// Throws `unknown_id`, naming the bands there are.
  const Band& band(std::string_view id) const;

 private:
  RasterMetadata metadata_;
  std::vector<Band> bands_;
};

}  // namespace tessera::raster
