#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/raster.hpp"

/// CPU references of what selects pixels and says why they are missing. All functions are thread-safe.
namespace tessera::reference {

enum class ThresholdOperation { above, below, range };

/// 1 where a pixel is selected, 0 where it is not, NaN where it is missing. Above and below use `lower` only.
std::vector<float> threshold(const Pixels& pixels, ThresholdOperation operation, bool inclusive, float lower,
                             float upper = 0.0F);

/// The border between bins that Otsu's method finds: 0 without one, the lowest among equals. In whole numbers of any
/// size: border k scores (S_upper N_lower - S_lower N_upper)^2 / (N_lower N_upper), with N the counts and S the sums of
/// bin * count on either side.
std::uint32_t otsu_border(std::span<const std::uint64_t> counts);

/// That border over [low, high]: the edge as `uniform_edges` has it; 0 without counts.
float otsu_threshold(std::span<const std::uint64_t> counts, float low, float high);

/// Pixels that are valid, and missing by mask, nodata, not being finite, quality: each counts once, by the first. A NaN
/// sample is nodata where the band's nodata is NaN. An empty quality accepts every pixel.
template <class Sample>
std::array<std::uint32_t, 5> missing_counts(const Band<Sample>& band, std::span<const std::uint32_t> quality = {}) {
  std::array<std::uint32_t, 5> counts{};
  for (std::size_t i = 0; i < band.samples.size(); ++i) {
    const Sample sample = band.samples[i];
    bool is_no_data = band.no_data && sample == *band.no_data;
    bool is_finite = true;
    if constexpr (std::is_floating_point_v<Sample>) {
      is_finite = std::isfinite(sample);
      is_no_data = is_no_data || (band.no_data && std::isnan(*band.no_data) && std::isnan(sample));
    }
    std::size_t reason = 0;
    if (!quality.empty() && quality[i] == 0) reason = 4;
    if (!is_finite) reason = 3;
    if (is_no_data) reason = 2;
    if (!band.mask.empty() && band.mask[i] == 0) reason = 1;
    ++counts[reason];
  }
  return counts;
}

}  // namespace tessera::reference
