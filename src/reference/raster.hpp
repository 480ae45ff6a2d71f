#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

/// CPU references of the raster operations: samples, validity, calibration, and the normalized difference. All
/// functions are thread-safe.
namespace tessera::reference {

/// Samples of one band as stored, what marks them missing and how they are calibrated. Sample: any integer of 8 to 64
/// bits, float, double.
template <class Sample>
struct Band {
  std::span<const Sample> samples;
  /// Empty: every pixel is accepted; otherwise 0 means missing.
  std::span<const std::uint32_t> mask = {};
  /// In the band's own type. NaN adds no comparison.
  std::optional<Sample> no_data = {};
  float scale = 1.0F;
  float offset = 0.0F;
};

/// The bits that every invalid float result has.
inline float missing_float() { return std::bit_cast<float>(std::uint32_t{0x7fc00000}); }

/// Raw validity of one pixel, in this order: mask, nodata, finite. Both zeros match a nodata of either zero.
template <class Sample>
bool is_raw_valid(const Band<Sample>& band, std::size_t i) {
  if (!band.mask.empty() && band.mask[i] == 0) return false;
  const Sample sample = band.samples[i];
  if (band.no_data && sample == *band.no_data) return false;
  if constexpr (std::is_floating_point_v<Sample>) {
    if (!std::isfinite(sample)) return false;
  }
  return true;
}

/// float(raw) * scale + offset in float32, each step rounded. The identity (1, 0) keeps the value, a negative zero too.
template <class Sample>
float calibrate(const Band<Sample>& band, std::size_t i) {
  const auto value = static_cast<float>(band.samples[i]);
  if (band.scale == 1.0F && band.offset == 0.0F) return value;
  const float product = value * band.scale;
  return product + band.offset;
}

/// 1 where the raw sample is an observation, else 0.
template <class Sample>
std::vector<std::uint32_t> raw_validity(const Band<Sample>& band) {
  std::vector<std::uint32_t> result(band.samples.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = is_raw_valid(band, i) ? 1 : 0;
  return result;
}

/// Calibrated values and their validity: raw validity, then a finite result. Missing values are the quiet NaN.
struct Pixels {
  std::vector<float> values;
  std::vector<std::uint32_t> validity;
};

template <class Sample>
Pixels calibrated(const Band<Sample>& band) {
  Pixels result{std::vector<float>(band.samples.size(), missing_float()),
                std::vector<std::uint32_t>(band.samples.size())};
  for (std::size_t i = 0; i < band.samples.size(); ++i) {
    if (!is_raw_valid(band, i)) continue;
    const float value = calibrate(band, i);
    if (!std::isfinite(value)) continue;
    result.values[i] = value;
    result.validity[i] = 1;
  }
  return result;
}

struct NdviOptions {
  float epsilon = 0.0F;
  struct Clamp {
    float low;
    float high;
  };
  std::optional<Clamp> clamp = {};
};

/// (near_infrared - red) / (near_infrared + red) in float32 steps over calibrated pixels. Missing where either is,
/// where the denominator is not finite or at most epsilon in magnitude, and where the result is not finite before
/// clamping.
Pixels ndvi(const Pixels& red, const Pixels& near_infrared, const NdviOptions& options = {});

/// The same quotient in double, without clamping, of the pixels that `ndvi` calls valid; NaN elsewhere. What a float32
/// result is compared with.
std::vector<double> ndvi_in_double(const Pixels& red, const Pixels& near_infrared, const NdviOptions& options = {});

}  // namespace tessera::reference
