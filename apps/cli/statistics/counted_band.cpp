#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

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

/// Counts the samples of a window on the host, by order key. Two tables take turns, so that equal neighbours don't wait
/// for each other.
template <class Word>
class SampleCounter {
 public:
  explicit SampleCounter(raster::SampleType type) : flip_(static_cast<Word>(order_key(type, 0))) {}

  /// Counts each pixel that `accepts(pixel, bits)`.
  template <class Accepts>
  void count(std::span<const std::byte> samples, const Accepts& accepts, std::vector<std::uint64_t>& counts) {
    const std::size_t pixels = samples.size() / sizeof(Word);
    for (std::size_t first = 0; first < pixels; first += most_at_once) {
      count_some(samples, first, std::min(pixels, first + most_at_once), accepts);
      for (std::size_t key = 0; key < counts.size(); ++key) {
        for (auto& table : tables_) counts[key] += std::exchange(table[key], 0);
      }
    }
  }

 private:
  static constexpr std::size_t most_at_once = std::size_t{1} << 31;  // that a counter holds

  template <class Accepts>
  void count_some(std::span<const std::byte> samples, std::size_t first, std::size_t end, const Accepts& accepts) {
    const auto add = [&](std::size_t pixel, std::vector<std::uint32_t>& table) {
      Word bits{};
      std::memcpy(&bits, samples.data() + pixel * sizeof(Word), sizeof(Word));
      table[bits ^ flip_] += accepts(pixel, bits) ? 1 : 0;
    };
    std::size_t pixel = first;
    for (; pixel + 1 < end; pixel += 2) {
      add(pixel, tables_[0]);
      add(pixel + 1, tables_[1]);
    }
    if (pixel < end) add(pixel, tables_[0]);
  }

  Word flip_;  // what the order key of a narrow integer differs by
  std::array<std::vector<std::uint32_t>, 2> tables_{std::vector<std::uint32_t>(std::size_t{1} << 8 * sizeof(Word)),
                                                    std::vector<std::uint32_t>(std::size_t{1} << 8 * sizeof(Word))};
};

/// 8- and 16-bit integers: every value there is is counted, and the counts give all figures.
class CountedBand final : public BandStatistics {
 public:
  CountedBand(const raster::BandInfo& info, const BandStatisticsOptions& options)
      : info_(info),
        has_quality_mask_(options.has_quality_mask),
        on_host_(options.place == residency::StreamPlace::host),
        percentiles_(info, options),
        counts_(std::size_t{1} << bit_count(info.type)) {}

  bool needs_pass() const override { return !passed_; }
  bool on_host() const override { return on_host_; }
  std::uint64_t result_bytes() const override { return on_host_ ? 0 : counts_offset() + 4 * counts_.size(); }

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
    if (on_host_) {
      missing_.add_masked(window);
      if (raster::size_of(info_.type) == 1)
        count_on_host<std::uint8_t>(window);
      else
        count_on_host<std::uint16_t>(window);
      return;
    }
    if (has_quality_mask_) {
      merge_missing_counts(window, 0, missing_);
    } else {
      missing_.add_masked(window);
    }
    add_counts(window.results, counts_offset(), counts_);
  }

  void end_pass() override {
    passed_ = true;
    if (counts_no_data() && info_.no_data.needs_comparison()) {
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
  /// Whether the nodata value is counted as any other.
  bool counts_no_data() const noexcept { return on_host_ || !has_quality_mask_; }

  template <class Word>
  void count_on_host(const BandWindow& window) {
    SampleCounter<Word> counter(info_.type);
    const std::span<const std::uint8_t> validity = window.validity;
    const auto count = [&](const auto& accepts) { counter.count(window.samples, accepts, counts_); };
    if (validity.empty()) {
      count([](std::size_t, Word) { return true; });
    } else if (!has_quality_mask_) {
      count([&](std::size_t pixel, Word) { return validity[pixel] != 0; });
    } else {
      const std::span<const std::uint8_t> unmasked = window.unmasked;
      const bool compares = info_.no_data.needs_comparison();
      const auto no_data = static_cast<Word>(info_.no_data.bits());
      count([&](std::size_t pixel, Word bits) {
        if (!unmasked.empty() && unmasked[pixel] == 0) return false;
        const bool good = (compares && bits == no_data) || validity[pixel] != 0;
        missing_.quality += good ? 0 : 1;
        return good;
      });
    }
  }

  const raster::BandInfo& info_;
  bool has_quality_mask_;
  bool on_host_;
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
