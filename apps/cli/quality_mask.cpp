#include "quality_mask.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::cli {
namespace {

struct QualityPreset {
  const char* name;
  residency::QualityRule rule;
  const char* meaning;
};

const std::vector<QualityPreset>& presets() {
  static const std::vector<QualityPreset> list{
      // USGS, Landsat 8-9 Collection 2 Level 2 Science Product Guide (LSDS-1619), QA_PIXEL.
      {"landsat-c2", {.bits = {0, 1, 2, 3, 4}}, "fill, dilated cloud, cirrus, cloud, cloud shadow"},
      // ESA, Sentinel-2 Products Specification Document, Level-2A scene classification.
      {"sentinel2-scl",
       {.values = {0, 1, 3, 8, 9, 10}},
       "no data, saturated or defective, cloud shadow, cloud (medium, high probability), thin cirrus"},
  };
  return list;
}

}  // namespace

std::vector<std::string> quality_preset_names() {
  std::vector<std::string> names;
  for (const QualityPreset& preset : presets()) names.emplace_back(preset.name);
  return names;
}

std::string quality_presets_text() {
  std::vector<std::string> texts;
  for (const QualityPreset& preset : presets()) {
    const std::string what = preset.rule.bits.empty() ? fmt::format("values {}", fmt::join(preset.rule.values, ","))
                                                      : fmt::format("bits {}", fmt::join(preset.rule.bits, ","));
    texts.push_back(fmt::format("{} ({}: {})", preset.name, what, preset.meaning));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

residency::QualityRule quality_rule(const InputOptions& options) {
  for (const QualityPreset& preset : presets())
    if (preset.name == options.mask_preset) return preset.rule;
  return {.bits = options.mask_bits, .values = options.mask_values};
}

}  // namespace tessera::cli
