#include <bit>
#include <cmath>
#include <cstring>

#include <tessera/operand/sum_state.hpp>

#include "statistics/band_statistics.hpp"

namespace tessera::cli {
namespace {

/// 64-bit integers and float64, which kernels would round: the host works on them.
template <class Sample>
class WideBand final : public BandStatistics {
 public:
  WideBand(const raster::BandInfo& info, const BandStatisticsOptions& options)
      : info_(info), has_quality_mask_(options.has_quality_mask), percentiles_(info, options) {}

  bool needs_pass() const override { return pass_ == 0 || percentiles_.needs_pass(); }
  bool on_host() const override { return true; }
  std::uint64_t result_bytes() const override { return 0; }
  void add_operations(Graph& /*graph*/, const BandOperands& /*operands*/) const override {}

  void accept(const BandWindow& window) override {
    if (pass_ == 0) missing_.add_masked(window);
    const std::vector<std::uint64_t> prefixes = percentiles_.prefixes();
    const unsigned shift = 48 - percentiles_.known_bits();
    for (std::uint64_t pixel = 0; pixel < window.pixels; ++pixel) {
      const std::byte* place = window.samples.data() + pixel * sizeof(Sample);
      if (!accepts(window, pixel, place)) continue;
      if (pass_ == 0) add(place);
      if (percentiles_.empty()) continue;
      const std::uint64_t key = order_key(info_.type, read_bits(info_.type, place)) >> shift;
      for (std::size_t index = 0; index < prefixes.size(); ++index)
        if (key >> 16 == prefixes[index]) ++percentiles_.counts()[index][key & 0xffff];
    }
  }

  void end_pass() override {
    if (pass_++ == 0 && !percentiles_.begin(valid_)) return;
    percentiles_.narrow();
  }

  BandFigures figures() const override {
    BandFigures figures{.valid = valid_, .missing = missing_};
    figures.percentiles = percentiles_.values();
    if (valid_ == 0) return figures;
    figures.minimum = SampleValue(minimum_);
    figures.maximum = SampleValue(maximum_);
    figures.sum = sum_.to_double();
    figures.mean = mean(sum_, valid_);
    figures.deviation = population_deviation(distances_, squares_, valid_);
    return figures;
  }

 private:
  /// Whether a pixel counts; in the first pass the reason of one that does not is noted.
  bool accepts(const BandWindow& window, std::uint64_t pixel, const std::byte* place) {
    const auto& file_validity = has_quality_mask_ ? window.unmasked : window.validity;
    if (!file_validity.empty() && file_validity[pixel] == 0) return false;
    if (is_no_data(place)) return note(missing_.no_data);
    if constexpr (std::is_floating_point_v<Sample>)
      if (!std::isfinite(value_at(place))) return note(missing_.not_finite);
    if (has_quality_mask_ && !window.validity.empty() && window.validity[pixel] == 0) return note(missing_.quality);
    return true;
  }

  bool is_no_data(const std::byte* place) const {
    if constexpr (std::is_floating_point_v<Sample>)
      if (info_.no_data.kind() == raster::NoData::Kind::not_a_number) return std::isnan(value_at(place));
    return info_.no_data.needs_comparison() && info_.no_data.matches(place);
  }

  bool note(std::uint64_t& reason) const {
    if (pass_ == 0) ++reason;
    return false;
  }

  static Sample value_at(const std::byte* place) {
    Sample value{};
    std::memcpy(&value, place, sizeof(value));
    return value;
  }

  void add(const std::byte* place) {
    const Sample value = value_at(place);
    minimum_ = valid_ == 0 ? value : std::min(minimum_, value);
    maximum_ = valid_ == 0 ? value : std::max(maximum_, value);
    if (valid_ == 0) first_ = value;
    const double distance = distance_from_first(value);
    sum_.add(value);
    distances_.add(distance);
    squares_.add_square(distance);
    ++valid_;
  }

  /// The deviation is taken from distances, which double holds exactly for integers of any size within a range of 2^53.
  double distance_from_first(Sample value) const {
    if constexpr (std::is_floating_point_v<Sample>) {
      return value;
    } else {
      const auto apart = [](Sample high, Sample low) {
        return static_cast<double>(static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low));
      };
      return value >= first_ ? apart(value, first_) : -apart(first_, value);
    }
  }

  const raster::BandInfo& info_;
  bool has_quality_mask_;
  PercentileSearch percentiles_;
  unsigned pass_ = 0;
  std::uint64_t valid_ = 0;
  MissingPixels missing_;
  Sample minimum_{};
  Sample maximum_{};
  Sample first_{};
  WideSumState sum_;
  WideSumState distances_;
  WideSquareSumState squares_;
};

}  // namespace

std::unique_ptr<BandStatistics> make_wide_band(const raster::BandInfo& info, const BandStatisticsOptions& options) {
  switch (info.type) {
    case raster::SampleType::uint64:
      return std::make_unique<WideBand<std::uint64_t>>(info, options);
    case raster::SampleType::sint64:
      return std::make_unique<WideBand<std::int64_t>>(info, options);
    default:
      return std::make_unique<WideBand<double>>(info, options);
  }
}

}  // namespace tessera::cli
