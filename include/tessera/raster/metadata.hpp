#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <tessera/export.hpp>

namespace tessera::raster {

/// Whether a pixel stands for the area around its centre or for the point that carries its value.
/// There is no default: the zero value is rejected.
enum class PixelInterpretation : std::uint8_t { unspecified = 0, area = 1, point = 2 };

/// Whether the affine was declared or is only the pixel grid itself.
enum class Georeferencing : std::uint8_t { present, absent };

/// Opaque identity of a coordinate reference system: compared as text, never parsed, never used to reproject.
struct CoordinateReferenceSystem {
  std::string authority = {};        ///< for example `EPSG:32633`; may be empty
  std::string well_known_text = {};  ///< verbatim; may be empty
  std::string projection_json = {};  ///< PROJJSON; may be empty

  friend bool operator==(const CoordinateReferenceSystem&, const CoordinateReferenceSystem&) = default;
};

/// The grid of a raster: size, place on the ground, and level.
///
/// With k = 0.5 for `area` and k = 0 for `point`, pixel (column, row) lies at
/// `X = a * (column + k) + b * (row + k) + c`, `Y = d * (column + k) + e * (row + k) + f`.
/// Plain value; safe to read from several threads. Functions cost O(1) and allocate only for an error.
struct TESSERA_EXPORT RasterMetadata {
  /// Columns and rows, both positive. The pixel count may exceed 32 bits.
  std::int64_t width = 0;
  std::int64_t height = 0;
  /// `[a, b, c, d, e, f]`; finite, with a finite determinant `a * e - b * d` that is not 0.
  std::array<double, 6> affine = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0};
  /// Mandatory.
  PixelInterpretation pixel_interpretation = PixelInterpretation::unspecified;
  std::optional<CoordinateReferenceSystem> coordinate_reference_system = {};
  /// Overview level, 0 = full resolution. Absent and 0 are different.
  std::optional<std::uint32_t> level = {};
  /// Column and row of the origin in pixels of level zero; informative, the affine contains it already.
  std::optional<std::array<double, 2>> level_zero_origin = {};
  /// `absent` when the source declared no affine; the affine is then the identity. No part of compatibility.
  Georeferencing georeferencing = Georeferencing::present;

  /// Throws `invalid_argument` naming the field: size not positive or a pixel count beyond 2^63 - 1, affine not finite
  /// or singular, interpretation missing, origin not finite.
  void validate() const;

  std::uint64_t pixel_count() const noexcept {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  /// Position of a pixel in CRS units, in double. Any column and row are accepted, fractional ones too.
  std::array<double, 2> world_position(double column, double row) const noexcept;
  /// `|a * e - b * d|` in square CRS units (degrees stay degrees).
  double pixel_area() const noexcept;

  /// Whether two grids are the same: size, interpretation, level, all six coefficients, CRS and origin, exactly.
  bool is_compatible_with(const RasterMetadata& other) const noexcept;
  /// Throws `grid_mismatch` naming the first field that differs and both values.
  void assert_compatible_with(const RasterMetadata& other) const;
};

}  // namespace tessera::raster
