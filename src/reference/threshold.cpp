#include "reference/threshold.hpp"

#include "reference/histogram.hpp"
#include "reference/natural.hpp"

namespace tessera::reference {

std::vector<float> threshold(const Pixels& pixels, ThresholdOperation operation, bool inclusive, float lower,
                             float upper) {
  const bool is_range = operation == ThresholdOperation::range;
  const bool usable = std::isfinite(lower) && (!is_range || (std::isfinite(upper) && lower <= upper));
  std::vector<float> result(pixels.values.size(), missing_float());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (pixels.validity[i] == 0) continue;
    const float value = pixels.values[i];
    const bool over = inclusive ? value >= lower : value > lower;
    const bool under = inclusive ? value <= (is_range ? upper : lower) : value < (is_range ? upper : lower);
    const bool selected = is_range ? over && under : operation == ThresholdOperation::above ? over : under;
    result[i] = usable && selected ? 1.0F : 0.0F;
  }
  return result;
}

std::uint32_t otsu_border(std::span<const std::uint64_t> counts) {
  uint128 total = 0;
  uint128 total_sum = 0;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    total += counts[bin];
    total_sum += uint128{counts[bin]} * bin;
  }
  std::uint32_t border = 0;
  Natural best_numerator;
  Natural best_denominator;
  uint128 lower = 0;
  uint128 lower_sum = 0;
  for (std::size_t bin = 0; bin + 1 < counts.size(); ++bin) {
    lower += counts[bin];
    lower_sum += uint128{counts[bin]} * bin;
    if (lower == 0 || lower == total) continue;
    const uint128 upper = total - lower;
    const uint128 upper_sum = total_sum - lower_sum;
    const Natural difference = Natural(upper_sum) * Natural(lower) - Natural(lower_sum) * Natural(upper);
    const Natural numerator = difference * difference;
    const Natural denominator = Natural(lower) * Natural(upper);
    if (border != 0 && numerator * best_denominator <= best_numerator * denominator) continue;
    border = static_cast<std::uint32_t>(bin + 1);
    best_numerator = numerator;
    best_denominator = denominator;
  }
  return border;
}

float otsu_threshold(std::span<const std::uint64_t> counts, float low, float high) {
  bool any = false;
  for (const std::uint64_t count : counts) any = any || count != 0;
  if (!any || !std::isfinite(low) || !std::isfinite(high) || low > high) return 0.0F;
  return uniform_edges(low, high, static_cast<std::uint32_t>(counts.size()))[otsu_border(counts)];
}

}  // namespace tessera::reference
