#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/raster/no_data.hpp>
#include <tessera/raster/sample_type.hpp>

namespace tessera::raster {

/// What can make a pixel of a band missing besides its nodata value and samples that are not finite.
enum class ValiditySource : std::uint8_t {
  none,            ///< nothing: every pixel passes
  mask,            ///< a mask stored with the raster, 0 = missing
  alpha,           ///< an alpha band, 0 = missing
  mask_and_alpha,  ///< both must pass
  quality,         ///< a quality band of another raster, by a rule
  unreadable,      ///< blocks that could not be read and are skipped
};

/// Red, green, blue and alpha of one palette entry.
using PaletteEntry = std::array<std::int16_t, 4>;

/// What a band is, apart from its pixels: the host-side description that sources deliver and sinks take.
/// Plain value; safe to read from several threads.
struct BandInfo {
  /// Storage type of the samples.
  SampleType type = SampleType::uint8;
  /// The raw value of missing pixels, in the band's own type.
  NoData no_data = {};
  /// Calibrated value = raw * scale + offset. Absent differs from an explicit 1 or 0; a stored scale of 0 is absent.
  std::optional<double> scale = {};
  std::optional<double> offset = {};
  /// The band's name, for example `B08`; may be empty.
  std::string description = {};
  /// Unit of the calibrated values, for example `m`; may be empty.
  std::string unit = {};
  /// The role of the band in a picture as GDAL names it: `Undefined`, `Gray`, `Palette`, `Red`, `Alpha` ...
  std::string color_interpretation = "Undefined";
  /// Palette entries by sample value; empty where there is no palette.
  std::vector<PaletteEntry> palette = {};
  /// Validity besides nodata, and which of the source's validity planes carries it. Bands that share a plane share its
  /// bytes, so that it is read and uploaded once.
  ValiditySource validity = ValiditySource::none;
  std::uint32_t validity_plane = 0;

  /// Scale and offset with the absent ones replaced by 1 and 0.
  double scale_or_default() const noexcept { return scale.value_or(1.0); }
  double offset_or_default() const noexcept { return offset.value_or(0.0); }
};

}  // namespace tessera::raster
