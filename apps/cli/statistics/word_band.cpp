#include <algorithm>
#include <cstring>

#include <tessera/operand/sum_state.hpp>
#include <tessera/ops/histogram.hpp>
#include <tessera/raster/statistics.hpp>

#include "statistics/band_statistics.hpp"
#include "statistics/missing_pixels.hpp"
#include "statistics/window_results.hpp"
#include "statistics/word_sums.hpp"

namespace tessera::cli {
namespace {

using raster::SampleType;

// What the first pass writes for one window.
constexpr std::uint64_t count_offset = 0;
constexpr std::uint64_t extent_offset = 8;
constexpr std::uint64_t sum_offset = 16;
constexpr std::uint64_t squares_offset = sum_offset + SumState::byte_size;
constexpr std::uint64_t missing_offset = squares_offset + SumState::byte_size;
constexpr std::uint64_t first_pass_bytes = missing_offset + 32;
constexpr std::uint64_t counts_bytes = 4 * std::uint64_t{RankSearch::bins};

/// 32-bit integers and float32: exact sums; percentiles by counting the halves of the raw bits.
class WordBand final : public BandStatistics {
 public:
  WordBand(const raster::BandInfo& info, const BandStatisticsOptions& options)
      : info_(info),
        has_quality_mask_(options.has_quality_mask),
        on_host_(options.place == residency::StreamPlace::host),
        percentiles_(info, options) {}

  bool needs_pass() const override { return pass_ == 0 || percentiles_.needs_pass(); }
  bool on_host() const override { return on_host_; }

  std::uint64_t result_bytes() const override {
    if (on_host_) return 0;
    if (pass_ == 0) return first_pass_bytes + (percentiles_.empty() ? 0 : counts_bytes);
    return percentiles_.prefixes().size() * counts_bytes;
  }

  void add_operations(Graph& graph, const BandOperands& operands) const override {
    if (pass_ > 0) {
      std::uint64_t offset = 0;
      for (const std::uint64_t prefix : percentiles_.prefixes()) {
        // The raw bits behind a prefix of order keys are one range as well.
        const std::uint64_t low = bits_of_key(info_.type, prefix << 16) & ~std::uint64_t{0xffff};
        add_bit_counts(graph, operands, offset, low, low + 0xffff);
        offset += counts_bytes;
      }
      return;
    }
    add_sums(graph, operands);
    if (counts_missing()) add_missing_counts(graph, operands, missing_offset, has_quality_mask_);
    if (!percentiles_.empty()) add_bit_counts(graph, operands, first_pass_bytes, 0, 0xffffffff);
  }

  void accept(const BandWindow& window) override {
    if (on_host_) {
      accept_on_host(window);
      return;
    }
    if (pass_ > 0) {
      for (std::size_t index = 0; index < counts().size(); ++index)
        add_counts(window.results, index * counts_bytes, counts()[index]);
      return;
    }
    merge_sums(window);
    if (!percentiles_.empty()) add_counts(window.results, first_pass_bytes, counts().front());
  }

  void end_pass() override {
    if (pass_++ == 0) {
      end_first_pass();
      if (!percentiles_.begin(valid_)) return;
      order_high_halves();
    } else {
      order_low_halves();
    }
    percentiles_.narrow();
  }

  BandFigures figures() const override {
    BandFigures figures{.valid = valid_, .missing = missing_};
    figures.percentiles = percentiles_.values();
    if (valid_ == 0) return figures;
    figures.minimum = minimum_;
    figures.maximum = maximum_;
    figures.sum = sum_.to_double();
    figures.mean = mean(sum_, valid_);
    figures.deviation = population_deviation(sum_, squares_, valid_);
    return figures;
  }

 private:
  std::vector<PercentileSearch::Counts>& counts() noexcept { return percentiles_.counts(); }
  bool is_float() const noexcept { return info_.type == SampleType::float32; }

  /// Elsewhere the one reason that is left accounts for all that the file's masks do not.
  bool counts_missing() const noexcept {
    using Kind = raster::NoData::Kind;
    const Kind kind = info_.no_data.kind();
    return has_quality_mask_ || (is_float() && (kind == Kind::floating || kind == Kind::not_a_number));
  }

  void add_sums(Graph& graph, const BandOperands& operands) const {
    const auto target = [&](Format format, std::uint64_t rows, std::uint64_t place) {
      return Target(operands.results.view(format, rows, {.byte_offset = operands.offset + place}));
    };
    raster::Band band = operands.band;
    band.scale = 1.0;
    band.offset = 0.0;
    // A float that is not finite is missing here, with or without a declaration of missing data.
    graph.add(raster::Statistics{.input = is_float() ? band.source().as_observations() : band.source(),
                                 .values = raster::BandValues::raw,
                                 .count = target(Format::uint64, 1, count_offset),
                                 .sum = target(Format::sum_state, 1, sum_offset),
                                 .sum_of_squares = target(Format::sum_state, 1, squares_offset),
                                 .extent = target(compute_format(info_.type), 2, extent_offset)});
  }

  /// Counts raw bits from `low` to `high` in 65,536 bins.
  void add_bit_counts(Graph& graph, const BandOperands& operands, std::uint64_t offset, std::uint64_t low,
                      std::uint64_t high) const {
    Source source(std::get<VectorView>(operands.band.values).reinterpret(Format::uint32));
    if (operands.band.validity) source = source.with_validity(*operands.band.validity);
    if (info_.no_data.needs_comparison()) source = source.with_no_data({.bits = info_.no_data.bits()});
    graph.add(Histogram{
        .input = source,
        .output = operands.results.view(Format::uint32, RankSearch::bins, {.byte_offset = operands.offset + offset}),
        .binning = Histogram::Domain{static_cast<double>(low), static_cast<double>(high)}});
  }

  void merge_sums(const BandWindow& window) {
    pixels_ += window.pixels;
    if (counts_missing()) {
      merge_missing_counts(window, missing_offset, missing_);
    } else {
      missing_.add_masked(window);
    }
    const auto count = read_value<std::uint64_t>(window.results, count_offset);
    if (count == 0) return;
    valid_ += count;
    sum_.merge(SumState::from_bytes(window.results.subspan(sum_offset, SumState::byte_size)));
    squares_.merge(SumState::from_bytes(window.results.subspan(squares_offset, SumState::byte_size)));
    merge_extent(value_of_bits(info_.type, read_value<std::uint32_t>(window.results, extent_offset)),
                 value_of_bits(info_.type, read_value<std::uint32_t>(window.results, extent_offset + 4)));
  }

  void accept_on_host(const BandWindow& window) {
    if (pass_ > 0) {
      count_prefixes(window);
    } else if (is_float()) {
      gather_on_host<FloatSums>(window);
    } else if (info_.type == SampleType::sint32) {
      gather_on_host<IntegerSums<std::int32_t>>(window);
    } else {
      gather_on_host<IntegerSums<std::uint32_t>>(window);
    }
  }

  /// The first pass: sums, extent, reasons, and the high halves.
  template <class Sums>
  void gather_on_host(const BandWindow& window) {
    missing_.add_masked(window);
    Sums sums;
    std::uint64_t* const halves = percentiles_.empty() ? nullptr : counts().front().data();
    const MissingPixels missing = visit_valid(window, [&](std::uint32_t bits) {
      sums.add(bits);
      if (halves != nullptr) ++halves[bits >> 16];
    });
    missing_.no_data += missing.no_data;
    missing_.not_finite += missing.not_finite;
    missing_.quality += missing.quality;
    if (sums.count() == 0) return;
    valid_ += sums.count();
    sum_.merge(sums.sum());
    squares_.merge(sums.squares());
    merge_extent(value_of_bits(info_.type, bits_of_key(info_.type, sums.smallest_key())),
                 value_of_bits(info_.type, bits_of_key(info_.type, sums.largest_key())));
  }

  /// The second pass: the low halves of what the prefixes hold.
  void count_prefixes(const BandWindow& window) {
    std::vector<std::uint32_t> highs;
    for (const std::uint64_t prefix : percentiles_.prefixes())
      highs.push_back(static_cast<std::uint32_t>(bits_of_key(info_.type, prefix << 16) >> 16));
    visit_valid(window, [&](std::uint32_t bits) {
      for (std::size_t index = 0; index < highs.size(); ++index)
        if (bits >> 16 == highs[index]) ++counts()[index][bits & 0xffff];
    });
  }

  /// Visits the bits of valid pixels; returns how many of the others there are by reason, but for the file's masks.
  template <class Visit>
  MissingPixels visit_valid(const BandWindow& window, const Visit& visit) const {
    const std::span<const std::uint8_t> accepted = has_quality_mask_ ? window.unmasked : window.validity;
    const std::span<const std::uint8_t> good = has_quality_mask_ ? window.validity : std::span<const std::uint8_t>();
    const bool nan_is_no_data = info_.no_data.kind() == raster::NoData::Kind::not_a_number;
    const bool compares = info_.no_data.needs_comparison();
    const auto no_data = static_cast<std::uint32_t>(info_.no_data.bits());
    const bool zero_is_no_data = both_zeros_missing();
    const std::uint32_t not_finite = is_float() ? 0x7f800000 : 0;
    MissingPixels missing;
    for (std::uint64_t pixel = 0; pixel < window.pixels; ++pixel) {
      if (!accepted.empty() && accepted[pixel] == 0) continue;
      std::uint32_t bits = 0;
      std::memcpy(&bits, window.samples.data() + 4 * pixel, sizeof(bits));
      if (compares && (bits == no_data || (zero_is_no_data && bits << 1 == 0))) {
        ++missing.no_data;
      } else if (not_finite != 0 && (bits & not_finite) == not_finite) {
        ++(nan_is_no_data && (bits & 0x7fffff) != 0 ? missing.no_data : missing.not_finite);
      } else if (!good.empty() && good[pixel] == 0) {
        ++missing.quality;
      } else {
        visit(bits);
      }
    }
    return missing;
  }

  void merge_extent(const SampleValue& minimum, const SampleValue& maximum) {
    if (!minimum_ || to_double(minimum) < to_double(*minimum_)) minimum_ = minimum;
    if (!maximum_ || to_double(maximum) > to_double(*maximum_)) maximum_ = maximum;
  }

  void end_first_pass() {
    if (on_host_ || counts_missing()) return;
    const std::uint64_t rest = pixels_ - valid_ - missing_.total();
    (is_float() ? missing_.not_finite : missing_.no_data) = rest;
  }

  /// From bins of the raw high half to bins of the order key's, without NaN and infinities.
  void order_high_halves() {
    std::vector<std::uint64_t>& raw = counts().front();
    if (is_float()) {
      for (std::uint64_t sign : {0x0000U, 0x8000U})
        for (std::uint64_t half = 0x7f80; half <= 0x7fff; ++half) raw[sign | half] = 0;
      // A nodata value of zero is both zeros, of which the comparison of bits has seen one.
      if (both_zeros_missing()) {
        std::uint64_t total = 0;
        for (const std::uint64_t count : raw) total += count;
        other_zeros_ = total - valid_;
        raw[other_zero() >> 16] -= other_zeros_;
      }
    }
    std::vector<std::uint64_t> ordered(RankSearch::bins);
    for (std::uint64_t half = 0; half < raw.size(); ++half)
      ordered[order_key(info_.type, half << 16) >> 16] = raw[half];
    raw = std::move(ordered);
  }

  /// From bins of the raw low half to bins of the order key's.
  void order_low_halves() {
    const std::vector<std::uint64_t> prefixes = percentiles_.prefixes();
    for (std::size_t index = 0; index < prefixes.size(); ++index) {
      const std::uint64_t low = bits_of_key(info_.type, prefixes[index] << 16) & ~std::uint64_t{0xffff};
      if (both_zeros_missing() && low == (other_zero() & ~std::uint64_t{0xffff})) counts()[index][0] -= other_zeros_;
      std::vector<std::uint64_t> ordered(RankSearch::bins);
      for (std::uint64_t half = 0; half < ordered.size(); ++half)
        ordered[order_key(info_.type, low | half) & 0xffff] = counts()[index][half];
      counts()[index] = std::move(ordered);
    }
  }

  bool both_zeros_missing() const noexcept {
    return is_float() && info_.no_data.needs_comparison() && (info_.no_data.bits() & 0x7fffffff) == 0;
  }
  std::uint64_t other_zero() const noexcept { return info_.no_data.bits() ^ 0x80000000U; }

  const raster::BandInfo& info_;
  bool has_quality_mask_;
  bool on_host_;
  PercentileSearch percentiles_;
  unsigned pass_ = 0;
  std::uint64_t pixels_ = 0;
  std::uint64_t valid_ = 0;
  MissingPixels missing_;
  std::optional<SampleValue> minimum_;
  std::optional<SampleValue> maximum_;
  SumState sum_;
  SumState squares_;
  std::uint64_t other_zeros_ = 0;
};

}  // namespace

std::unique_ptr<BandStatistics> make_word_band(const raster::BandInfo& info, const BandStatisticsOptions& options) {
  return std::make_unique<WordBand>(info, options);
}

}  // namespace tessera::cli
