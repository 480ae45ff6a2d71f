#include "statistics/band_statistics.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "run.hpp"

namespace tessera::cli {

nlohmann::ordered_json MissingPixels::json() const {
  nlohmann::ordered_json reasons{
      {"nodata", no_data}, {"mask", mask}, {"alpha", alpha}, {"not_finite", not_finite}, {"quality", quality}};
  if (unreadable > 0) reasons["unreadable"] = unreadable;
  return reasons;
}

void MissingPixels::add_masked(const BandWindow& window) noexcept {
  mask += window.missing_by_mask;
  alpha += window.missing_by_alpha;
  unreadable += window.missing_by_unreadable;
}

BandFigures BandFigures::calibrated(double scale, double offset) const {
  BandFigures result = *this;
  const auto apply = [&](const std::optional<SampleValue>& value) {
    return value ? std::optional<SampleValue>(scale * to_double(*value) + offset) : std::nullopt;
  };
  result.sum = scale * sum + offset * static_cast<double>(valid);
  result.minimum = apply(scale < 0 ? maximum : minimum);
  result.maximum = apply(scale < 0 ? minimum : maximum);
  if (mean) result.mean = scale * *mean + offset;
  if (deviation) result.deviation = std::abs(scale) * *deviation;
  for (auto& [name, value] : result.percentiles)
    if (value) value = scale * *value + offset;
  return result;
}

nlohmann::ordered_json BandFigures::json() const {
  const auto sample = [](const std::optional<SampleValue>& value) {
    return value ? json_of(*value) : nlohmann::ordered_json(nullptr);
  };
  const auto number = [](const std::optional<double>& value) {
    return value ? json_number(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json document{{"valid", valid},
                                  {"invalid", missing.total()},
                                  {"invalid_by", missing.json()},
                                  {"min", sample(minimum)},
                                  {"max", sample(maximum)},
                                  {"mean", number(mean)},
                                  {"std", number(deviation)},
                                  {"sum", valid == 0 ? nlohmann::ordered_json(nullptr) : json_number(sum)}};
  if (!percentiles.empty()) {
    auto& object = document["percentiles"] = nlohmann::ordered_json::object();
    for (const auto& [name, value] : percentiles) object[name] = number(value);
  }
  return document;
}

void BandFigures::print() const {
  fmt::print("  valid {}, invalid {}", valid, missing.total());
  const std::pair<const char*, std::uint64_t> reasons[] = {
      {"mask", missing.mask},       {"alpha", missing.alpha},
      {"nodata", missing.no_data},  {"not finite", missing.not_finite},
      {"quality", missing.quality}, {"unreadable", missing.unreadable}};
  const char* separator = " (";
  for (const auto& [name, count] : reasons) {
    if (count == 0) continue;
    fmt::print("{}{} {}", separator, name, count);
    separator = ", ";
  }
  fmt::print("{}\n", missing.total() == 0 ? "" : ")");
  if (!minimum || !maximum || !mean || !deviation) {
    fmt::print("  no valid pixel\n");
    return;
  }
  const auto text = [](const SampleValue& value) {
    return std::visit([](auto held) { return fmt::format("{}", held); }, value);
  };
  fmt::print("  min {}, max {}\n", text(*minimum), text(*maximum));
  fmt::print("  mean {}, std {}, sum {}\n", *mean, *deviation, sum);
  for (const auto& [name, value] : percentiles)
    if (value) fmt::print("  percentile {}: {}\n", name, *value);
}

residency::StreamPlace gathering_place(const Device& device) {
  return device.info().type == DeviceType::cpu ? residency::StreamPlace::host : residency::StreamPlace::device;
}

std::unique_ptr<BandStatistics> BandStatistics::create(const raster::BandInfo& info,
                                                       const BandStatisticsOptions& options) {
  switch (raster::size_of(info.type)) {
    case 1:
    case 2:
      return make_counted_band(info, options);
    case 4:
      return make_word_band(info, options);
    default:
      return make_wide_band(info, options);
  }
}

PercentileSearch::PercentileSearch(const raster::BandInfo& info, const BandStatisticsOptions& options)
    : type_(info.type), percentiles_(options.percentiles), descending_(options.descending) {
  if (!empty()) counts_.assign(1, Counts(std::uint64_t{1} << std::min(bit_count(type_), 16U)));
}

double PercentileSearch::percent_of(const Percentile& percentile) const noexcept {
  return descending_ ? 100.0 - percentile.percent : percentile.percent;
}

std::vector<std::uint64_t> PercentileSearch::prefixes() const {
  return search_ ? search_->prefixes() : std::vector<std::uint64_t>{0};
}

std::vector<std::uint64_t> PercentileSearch::ranks() const {
  std::vector<std::uint64_t> ranks;
  for (const Percentile& percentile : percentiles_) {
    const PercentilePlace place = place_of(percent_of(percentile), valid_);
    ranks.push_back(place.lower);
    ranks.push_back(place.upper);
  }
  return ranks;
}

bool PercentileSearch::begin(std::uint64_t valid) {
  valid_ = valid;
  if (empty() || valid == 0) return false;
  search_.emplace(std::max(bit_count(type_), 16U), ranks());
  return true;
}

void PercentileSearch::narrow() {
  search_->narrow(counts_);
  counts_.assign(search_->prefixes().size(), Counts(RankSearch::bins));
}

std::vector<std::pair<std::string, std::optional<double>>> PercentileSearch::values() const {
  std::vector<std::pair<std::string, std::optional<double>>> values;
  for (const Percentile& percentile : percentiles_) {
    values.emplace_back(percentile.text, std::nullopt);
    if (!search_) continue;
    const PercentilePlace place = place_of(percent_of(percentile), valid_);
    const auto value_at = [&](std::uint64_t rank) {
      return to_double(value_of_bits(type_, bits_of_key(type_, search_->key_of(rank))));
    };
    values.back().second = between(value_at(place.lower), value_at(place.upper), place.fraction);
  }
  return values;
}

}  // namespace tessera::cli
