#pragma once

#include <optional>

#include <tessera/device/device.hpp>

#include "statistics/band_histogram.hpp"

namespace tessera::cli {

/// The cutoff that separates a band's values best; absent where the band has no valid pixel. Throws `limit_exceeded`
/// from 2^48 pixels on, which `raster::OtsuThreshold` does not tell apart exactly.
std::optional<double> otsu_cutoff(Device& device, const BandHistogram& histogram);

}  // namespace tessera::cli
