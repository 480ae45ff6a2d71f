#include <cmath>
#include <numeric>

#include <tessera/operand/sum_state.hpp>
#include <tessera/ops/histogram.hpp>

#include "statistics/band_statistics.hpp"
#include "statistics/missing_pixels.hpp"
#include "statistics/window_results.hpp"

namespace tessera::cli {
namespace {

/// Adds count * value * value to a state that takes integers of 64 bits and exact products of floats.
void add_squares(SumState& squares, std::uint64_t magnitude, std::uint64_t count) {
  const std::uint64_t square = magnitude * magnitude;
  squares.add(square * (count & 0xffffffffU));
  const std::uint64_t high = square * (count >> 32);  // below 2^62: there are no 2^62 pixels
  constexpr unsigned piece_bits = 23;
  for (unsigned shift = 0; shift < 64 && high >> shift != 0; shift += piece_bits) {
    const auto piece = static_cast<float>(high >> shift & ((1U << piece_bits) - 1));
    squares.add_product(piece, std::ldexp(1.0F, static_cast<int>(32 + shift)));
  }
}

/// 8- and 16-bit integers: the device counts every value there is, and the counts give all figures.
class CountedBand final : public BandStatistics {
 public:
  CountedBand(const raster::BandInfo& info, const BandStatisticsOptions& options)
      : info_(info),
        has_quality_mask_(options.has_quality_mask),
        percentiles_(info, options),
        counts_(std::size_t{1} << bit_count(info.type)) {}

  bool needs_pass() const override { return !passed_; }
  bool on_host() const override { return false; }
  std::uint64_t result_bytes() const override { return counts_offset() + 4 * counts_.size(); }

  void add_operations(Graph& graph, const BandOperands& operands) const override {
    raster::Band band = operands.band;
    band.scale = 1.0;
    band.offset = 0.0;
    if (has_quality_mask_)
      add_missing_counts(graph, operands, 0, true);
    else
      band.no_data = {};  // its count is one of the counts
    const double lowest = raster::is_signed(info_.type) ? -static_cast<double>(counts_.size() / 2) : 0.0;
    const double highest = lowest + static_cast<double>(counts_.size() - 1);
    graph.add(Histogram{.input = band.source(),
                        .output = operands.results.view(Format::uint32, counts_.size(),
                                                        {.byte_offset = operands.offset + counts_offset()}),
                        .binning = Histogram::Domain{lowest, highest}});
  }

  void accept(const BandWindow& window) override {
    if (has_quality_mask_) {
      merge_missing_counts(window, 0, missing_);
    } else {
      missing_.add_masked(window);
    }
    add_counts(window.results, counts_offset(), counts_);
  }

  void end_pass() override {
    passed_ = true;
    if (!has_quality_mask_ && info_.no_data.needs_comparison()) {
      std::uint64_t& no_data = counts_[order_key(info_.type, info_.no_data.bits())];
      missing_.no_data = no_data;
      no_data = 0;
    }
    if (!percentiles_.begin(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}))) return;
    percentiles_.counts().front() = counts_;
    percentiles_.narrow();
  }

  BandFigures figures() const override {
    BandFigures figures{.missing = missing_};
    SumState sum;
    SumState squares;
    for (std::size_t key = 0; key < counts_.size(); ++key) {
      if (counts_[key] == 0) continue;
      const SampleValue value = value_of_bits(info_.type, bits_of_key(info_.type, key));
      if (figures.valid == 0) figures.minimum = value;
      figures.maximum = value;
      figures.valid += counts_[key];
      const auto number = static_cast<std::int64_t>(to_double(value));
      sum.add(number * static_cast<std::int64_t>(counts_[key]));
      add_squares(squares, static_cast<std::uint64_t>(std::abs(number)), counts_[key]);
    }
    figures.percentiles = percentiles_.values();
    if (figures.valid == 0) return figures;
    figures.sum = sum.to_double();
    figures.mean = mean(sum, figures.valid);
    figures.deviation = population_deviation(sum, squares, figures.valid);
    return figures;
  }

  const std::vector<std::uint64_t>* value_counts() const override { return &counts_; }

 private:
  std::uint64_t counts_offset() const noexcept { return has_quality_mask_ ? 32 : 0; }

  const raster::BandInfo& info_;
  bool has_quality_mask_;
  PercentileSearch percentiles_;
  std::vector<std::uint64_t> counts_;  ///< by order key
  MissingPixels missing_;
  bool passed_ = false;
};

}  // namespace

std::unique_ptr<BandStatistics> make_counted_band(const raster::BandInfo& info, const BandStatisticsOptions& options) {
  return std::make_unique<CountedBand>(info, options);
}

}  // namespace tessera::cli
