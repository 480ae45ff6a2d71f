#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include <tessera/raster/metadata.hpp>

// A deterministic synthetic landscape of red and near-infrared reflectance: vegetation patches, a river and lakes, and
// clouds. Integer arithmetic only, so that every machine makes the same.
namespace scene {

/// A well-mixed hash of a lattice point.
inline std::uint32_t hash(std::uint32_t x, std::uint32_t y, std::uint32_t seed) {
  std::uint32_t h = x * 0x9E3779B1u ^ (y * 0x85EBCA77u + seed * 0xC2B2AE3Du);
  h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
  h = (h ^ (h >> 12)) * 0x297A2D39u;
  return h ^ (h >> 15);
}

/// Value noise in 0..65535: lattice hashes `1 << shift` pixels apart, blended by a smooth step in fixed point.
class Noise {
 public:
  Noise(std::uint32_t seed, std::uint32_t shift) : seed_(seed), shift_(shift) {}

  std::int64_t at(std::uint32_t x, std::uint32_t y) const {
    const std::int64_t u = smooth_step(x);
    const std::int64_t v = smooth_step(y);
    const std::uint32_t column = x >> shift_;
    const std::uint32_t row = y >> shift_;
    const std::int64_t top = blend(corner(column, row), corner(column + 1, row), u);
    const std::int64_t bottom = blend(corner(column, row + 1), corner(column + 1, row + 1), u);
    return blend(top, bottom, v);
  }

 private:
  std::int64_t corner(std::uint32_t x, std::uint32_t y) const { return hash(x, y, seed_) >> 16; }
  static std::int64_t blend(std::int64_t a, std::int64_t b, std::int64_t weight) {
    return a + (((b - a) * weight) >> 16);
  }
  /// 3t^2 - 2t^3 of the position inside the lattice cell, in 0..65536.
  std::int64_t smooth_step(std::uint32_t position) const {
    const std::int64_t t = (static_cast<std::int64_t>(position & ((1u << shift_) - 1u)) << 16) >> shift_;
    return (((t * t) >> 16) * (std::int64_t{3} * 65536 - 2 * t)) >> 16;
  }

  std::uint32_t seed_;
  std::uint32_t shift_;
};

/// Three octaves, weights 4:2:1, in 0..65535.
class Terrain {
 public:
  Terrain(std::uint32_t seed, std::uint32_t shift)
      : coarse_(seed, shift), middle_(seed + 1, shift - 2), fine_(seed + 2, shift - 4) {}

  std::int64_t at(std::uint32_t x, std::uint32_t y) const {
    return (4 * coarse_.at(x, y) + 2 * middle_.at(x, y) + fine_.at(x, y)) / 7;
  }

 private:
  Noise coarse_;
  Noise middle_;
  Noise fine_;
};

/// Reflectance in ten thousandths.
struct Pixel {
  std::uint16_t red;
  std::uint16_t near_infrared;
  bool cloud;
};

class Scene {
 public:
  explicit Scene(std::uint32_t seed) : height_(seed, 8), growth_(seed + 10, 7), cloud_(seed + 20, 8), seed_(seed) {}

  Pixel at(std::uint32_t x, std::uint32_t y) const {
    if (cloud_.at(x, y) > 44000) {
      return {cloud_reflectance(x, y), cloud_reflectance(x, y), true};
    }
    const std::int64_t grain = static_cast<std::int64_t>(hash(x, y, seed_ + 30) >> 25) - 64;
    const std::int64_t height = height_.at(x, y);
    if (height < 21000) {
      // Water: dark, darker in the near infrared, and clearer where it is deep.
      const std::int64_t depth = (21000 - height) / 64;
      return {sample(620 - depth + grain / 2), sample(310 - depth / 2 + grain / 4), false};
    }
    // From bare soil (0) to dense vegetation (65536).
    const std::int64_t cover = std::clamp<std::int64_t>((growth_.at(x, y) - 18000) * 2, 0, 65536);
    const std::int64_t shade = (height - 32768) / 64;
    const std::int64_t red = 2600 - ((2250 * cover) >> 16) + shade + 2 * grain;
    const std::int64_t near_infrared = 3100 + ((1700 * cover) >> 16) + shade + 4 * grain;
    return {sample(red), sample(near_infrared), false};
  }

 private:
  static std::uint16_t sample(std::int64_t value) {
    return static_cast<std::uint16_t>(std::clamp<std::int64_t>(value, 1, 10000));
  }

  std::uint16_t cloud_reflectance(std::uint32_t x, std::uint32_t y) const {
    return sample(4000 + (cloud_.at(x, y) - 44000) / 8);
  }

  Terrain height_;
  Terrain growth_;
  Terrain cloud_;
  std::uint32_t seed_;
};

inline tessera::raster::RasterMetadata metadata_of(std::int64_t width, std::int64_t height, double pixel) {
  tessera::raster::RasterMetadata metadata;
  metadata.width = width;
  metadata.height = height;
  metadata.affine = {pixel, 0.0, 399960.0, 0.0, -pixel, 5400000.0};
  metadata.pixel_interpretation = tessera::raster::PixelInterpretation::area;
  metadata.coordinate_reference_system = tessera::raster::CoordinateReferenceSystem{.authority = "EPSG:32633"};
  return metadata;
}

/// Whether all of a text is a number.
template <typename Value>
bool parse(std::string_view text, Value& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace scene
