#include "reference/raster.hpp"

#include <algorithm>
#include <limits>

namespace tessera::reference {

Pixels ndvi(const Pixels& red, const Pixels& near_infrared, const NdviOptions& options) {
  Pixels result{std::vector<float>(red.values.size(), missing_float()), std::vector<std::uint32_t>(red.values.size())};
  for (std::size_t i = 0; i < red.values.size(); ++i) {
    if (red.validity[i] == 0 || near_infrared.validity[i] == 0) continue;
    const float numerator = near_infrared.values[i] - red.values[i];
    const float denominator = near_infrared.values[i] + red.values[i];
    if (!std::isfinite(denominator) || std::fabs(denominator) <= options.epsilon) continue;
    const float quotient = numerator / denominator;
    if (!std::isfinite(quotient)) continue;
    result.values[i] = options.clamp ? std::clamp(quotient, options.clamp->low, options.clamp->high) : quotient;
    result.validity[i] = 1;
  }
  return result;
}

std::vector<double> ndvi_in_double(const Pixels& red, const Pixels& near_infrared, const NdviOptions& options) {
  const Pixels rounded = ndvi(red, near_infrared, options);
  std::vector<double> result(rounded.values.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (rounded.validity[i] == 0) continue;
    const double n = near_infrared.values[i];
    const double r = red.values[i];
    result[i] = (n - r) / (n + r);
  }
  return result;
}

}  // namespace tessera::reference
