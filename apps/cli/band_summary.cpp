#include "band_summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "run.hpp"

namespace tessera::cli {
namespace {

template <class T>
T read_value(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace

raster::Statistics window_statistics(const Source& band, const GraphBuffer& results, std::uint64_t offset,
                                     Format values) {
  const auto target = [&](Format format, std::uint64_t rows, std::uint64_t place) {
    return Target(results.view(format, rows, {.byte_offset = offset + place}));
  };
  return {.input = band,
          .values = raster::BandValues::raw,
          .count = target(Format::uint64, 1, BandResultLayout::count),
          .sum = target(Format::sum_state, 1, BandResultLayout::sum),
          .sum_of_squares = target(Format::sum_state, 1, BandResultLayout::squares),
          .extent = target(values, 2, BandResultLayout::extent)};
}

bool BandSummary::on_device(raster::SampleType type) noexcept { return raster::size_of(type) <= 4; }

void BandSummary::merge_extent(double minimum, double maximum) {
  minimum_ = std::min(minimum_.value_or(minimum), minimum);
  maximum_ = std::max(maximum_.value_or(maximum), maximum);
}

void BandSummary::merge_device(std::span<const std::byte> results, std::uint64_t pixels) {
  pixels_ += pixels;
  const auto count = read_value<std::uint64_t>(results, BandResultLayout::count);
  if (count == 0) return;
  valid_ += count;
  sum_.merge(SumState::from_bytes(results.subspan(BandResultLayout::sum, SumState::byte_size)));
  squares_.merge(SumState::from_bytes(results.subspan(BandResultLayout::squares, SumState::byte_size)));
  const auto extent = [&]<class T>(T /*type*/) {
    merge_extent(static_cast<double>(read_value<T>(results, BandResultLayout::extent)),
                 static_cast<double>(read_value<T>(results, BandResultLayout::extent + 4)));
  };
  if (raster::is_floating_point(info_.type))
    extent(float{});
  else if (raster::is_signed(info_.type))
    extent(std::int32_t{});
  else
    extent(std::uint32_t{});
}

template <class Sample>
void BandSummary::merge_samples(std::span<const std::byte> samples, std::span<const std::uint8_t> validity) {
  for (std::size_t i = 0; i < samples.size() / sizeof(Sample); ++i) {
    const std::byte* place = samples.data() + i * sizeof(Sample);
    if ((!validity.empty() && validity[i] == 0) || info_.no_data.matches(place)) continue;
    const auto value = read_value<Sample>(samples, i * sizeof(Sample));
    if constexpr (std::is_floating_point_v<Sample>) {
      if (!std::isfinite(value)) continue;
      wide_sum_.add(value);
    } else {
      sum_.add(value);
    }
    ++valid_;
    wide_squares_.add_square(static_cast<double>(value));
    merge_extent(static_cast<double>(value), static_cast<double>(value));
  }
}

void BandSummary::merge_host(std::span<const std::byte> samples, std::span<const std::uint8_t> validity) {
  pixels_ += samples.size() / raster::size_of(info_.type);
  switch (info_.type) {
    case raster::SampleType::uint64:
      return merge_samples<std::uint64_t>(samples, validity);
    case raster::SampleType::sint64:
      return merge_samples<std::int64_t>(samples, validity);
    default:
      return merge_samples<double>(samples, validity);
  }
}

BandFigures BandSummary::figures() const {
  BandFigures figures{.valid = valid_, .invalid = pixels_ - valid_};
  if (valid_ == 0) return figures;
  figures.minimum = minimum_;
  figures.maximum = maximum_;
  if (on_device(info_.type)) {
    figures.sum = sum_.to_double();
    figures.mean = mean(sum_, valid_);
    figures.deviation = population_deviation(sum_, squares_, valid_);
  } else if (info_.type == raster::SampleType::float64) {
    figures.sum = wide_sum_.to_double();
    figures.mean = mean(wide_sum_, valid_);
    figures.deviation = population_deviation(wide_sum_, wide_squares_, valid_);
  } else {
    figures.sum = sum_.to_double();
    const double average = mean(sum_, valid_);
    figures.mean = average;
    // The squares of 64-bit integers were rounded to double once each.
    const double count = static_cast<double>(valid_);
    const double variance = wide_squares_.to_double() / count - average * average;
    figures.deviation = std::sqrt(std::max(variance, 0.0));
  }
  return figures;
}

BandFigures BandFigures::calibrated(double scale, double offset) const {
  BandFigures result = *this;
  const auto apply = [&](const std::optional<double>& value) {
    return value ? std::optional<double>(scale * *value + offset) : std::nullopt;
  };
  result.sum = scale * sum + offset * static_cast<double>(valid);
  result.minimum = apply(scale < 0 ? maximum : minimum);
  result.maximum = apply(scale < 0 ? minimum : maximum);
  result.mean = apply(mean);
  if (deviation) result.deviation = std::abs(scale) * *deviation;
  return result;
}

nlohmann::ordered_json BandFigures::json() const {
  const auto number = [](const std::optional<double>& value) {
    return value ? json_number(*value) : nlohmann::ordered_json(nullptr);
  };
  return {{"valid", valid},
          {"invalid", invalid},
          {"min", number(minimum)},
          {"max", number(maximum)},
          {"mean", number(mean)},
          {"std", number(deviation)},
          {"sum", valid == 0 ? nlohmann::ordered_json(nullptr) : json_number(sum)}};
}

void BandFigures::print() const {
  fmt::print("  valid {}, invalid {}\n", valid, invalid);
  if (!minimum || !maximum || !mean || !deviation) {
    fmt::print("  no valid pixel\n");
    return;
  }
  fmt::print("  min {}, max {}\n", *minimum, *maximum);
  fmt::print("  mean {}, std {}, sum {}\n", *mean, *deviation, sum);
}

}  // namespace tessera::cli
