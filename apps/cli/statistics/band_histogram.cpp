#include "statistics/band_histogram.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include <tessera/ops/histogram.hpp>
#include <tessera/raster/statistics.hpp>

#include "statistics/window_results.hpp"

namespace tessera::cli {
namespace {

using raster::SampleType;

bool is_calibrated(const raster::BandInfo& info) { return info.scale.has_value() || info.offset.has_value(); }

/// A stored value as the histogram sees it: calibrated in float32, or exactly as stored.
double seen_value(const raster::BandInfo& info, const SampleValue& value) {
  if (!is_calibrated(info)) return to_double(value);
  const auto scale = static_cast<float>(info.scale_or_default());
  const auto offset = static_cast<float>(info.offset_or_default());
  const float product = static_cast<float>(to_double(value)) * scale;
  return product + offset;
}

/// Bins whose edges are rounded as the values are.
class EqualBins {
 public:
  EqualBins(double low, double high, std::uint32_t bins, bool single_precision) : high_(high) {
    edges_.reserve(bins + 1);
    for (std::uint32_t edge = 0; edge <= bins; ++edge) {
      const double place = low + (high - low) * edge / bins;
      edges_.push_back(single_precision ? static_cast<double>(static_cast<float>(place)) : place);
    }
    edges_.back() = high;
  }
  /// Absent outside the domain.
  std::optional<std::size_t> bin_of(double value) const {
    if (!(value >= edges_.front() && value <= high_)) return std::nullopt;
    const auto above = std::ranges::upper_bound(edges_, value);
    const auto bin = static_cast<std::size_t>(above - edges_.begin()) - 1;
    return edges_.front() == high_ ? 0 : std::min(bin, edges_.size() - 2);
  }

 private:
  double high_;
  std::vector<double> edges_;
};

void require_order(const BandHistogram& histogram) {
  if (!(histogram.low <= histogram.high))
    throw UsageError{fmt::format("--min {} is above --max {}", histogram.low, histogram.high)};
}

/// Before any pixel is read.
void require_ends(const HistogramRequest& request) {
  for (const auto& end : {request.low, request.high})
    if (end && !std::isfinite(static_cast<float>(*end)))
      throw UsageError{fmt::format("--min and --max are numbers that float32 holds: {}", *end)};
  if (request.low && request.high) require_order({.low = *request.low, .high = *request.high, .counts = {}});
}

/// The device bins integers between two of them.
bool are_device_ends(const raster::BandInfo& info, const HistogramRequest& request) {
  if (raster::size_of(info.type) != 4 || raster::is_floating_point(info.type) || is_calibrated(info)) return true;
  const double least = raster::is_signed(info.type) ? -0x1p31 : 0.0;
  return std::ranges::all_of(std::array{request.low, request.high}, [&](const std::optional<double>& end) {
    return !end || (*end == std::trunc(*end) && *end >= least && *end < least + 0x1p32);
  });
}

/// What was seen of the valid values, from which absent ends of the bins come.
struct ValueExtent {
  std::optional<double> smallest;
  std::optional<double> largest;

  void add(double low, double high) {
    smallest = std::min(smallest.value_or(low), low);
    largest = std::max(largest.value_or(high), high);
  }
};

void settle_ends(const HistogramRequest& request, const ValueExtent& extent, BandHistogram& histogram) {
  histogram.low = request.low.value_or(extent.smallest.value_or(0.0));
  histogram.high = request.high.value_or(extent.largest.value_or(histogram.low));
  require_order(histogram);
}

BandHistogram bins_of_counts(const raster::BandInfo& info, const std::vector<std::uint64_t>& value_counts,
                             const HistogramRequest& request) {
  BandHistogram histogram{.counts = std::vector<std::uint64_t>(request.bins)};
  const auto for_each_value = [&](const auto& visit) {
    for (std::uint64_t key = 0; key < value_counts.size(); ++key) {
      if (value_counts[key] == 0) continue;
      const double value = seen_value(info, value_of_bits(info.type, bits_of_key(info.type, key)));
      if (std::isfinite(value)) visit(value, value_counts[key]);
    }
  };
  ValueExtent extent;
  for_each_value([&](double value, std::uint64_t count) {
    histogram.valid += count;
    extent.add(value, value);
  });
  settle_ends(request, extent, histogram);
  const EqualBins bins(histogram.low, histogram.high, request.bins, is_calibrated(info));
  for_each_value([&](double value, std::uint64_t count) {
    if (const auto bin = bins.bin_of(value)) histogram.counts[*bin] += count;
  });
  return histogram;
}

/// Passes over the pixels of one band: one that measures and one that counts, or both in one where the ends are known.
class HistogramPasses {
 public:
  HistogramPasses(const JobContext& context, const BandChoice& band, const HistogramRequest& request)
      : context_(context),
        info_(context.inputs.info(band)),
        request_(request),
        job_(stream_job(context.inputs, {band})) {
    histogram_.counts.resize(request.bins);
  }
  virtual ~HistogramPasses() = default;

  BandHistogram run(const std::string& progress_name) {
    if (request_.low && request_.high) {
      settle_ends(request_, extent_, histogram_);
      pass(progress_name, true, true);
    } else {
      pass(progress_name, true, false);
      settle_ends(request_, extent_, histogram_);
      pass(progress_name + ", pass 2", false, true);
    }
    return histogram_;
  }

 protected:
  /// Measures: valid pixels and the extent. Counts: between the ends.
  virtual void pass(const std::string& progress_name, bool measures, bool counts) = 0;

  const JobContext& context_;
  const raster::BandInfo& info_;
  const HistogramRequest& request_;
  residency::StreamJob job_;
  ValueExtent extent_;
  BandHistogram histogram_;
};

/// 32-bit types.
class DeviceHistogram final : public HistogramPasses {
 public:
  using HistogramPasses::HistogramPasses;

 private:
  static constexpr std::uint64_t extent_offset = 8;
  static constexpr std::uint64_t counts_offset = 16;

  bool is_float() const { return is_calibrated(info_) || info_.type == SampleType::float32; }

  void pass(const std::string& progress_name, bool measures, bool counts) override {
    job_.blank_windows = residency::BlankWindows::reuse;
    job_.result_bytes = counts_offset + (counts ? 4 * histogram_.counts.size() : 0);
    job_.build = [&](Graph& graph, const residency::StreamViews& views) {
      if (measures) add_measures(graph, views);
      if (counts) add_histogram(graph, views);
    };
    job_.accept = [&](const residency::StreamedWindow& window) {
      if (measures) merge_measures(window.results);
      if (counts) add_counts(window.results, counts_offset, histogram_.counts);
    };
    run_stream(context_, job_, progress_name);
  }

  void add_measures(Graph& graph, const residency::StreamViews& views) const {
    const Format format = is_float() ? Format::float32 : compute_format(info_.type);
    graph.add(raster::Statistics{.input = views.inputs[0].source().as_observations(),
                                 .values = raster::BandValues::calibrated,
                                 .count = views.results.view(Format::uint64, 1),
                                 .extent = views.results.view(format, 2, {.byte_offset = extent_offset})});
  }

  void add_histogram(Graph& graph, const residency::StreamViews& views) const {
    graph.add(Histogram{
        .input = views.inputs[0].source(),
        .output = views.results.view(Format::uint32, histogram_.counts.size(), {.byte_offset = counts_offset}),
        .binning = Histogram::Domain{histogram_.low, histogram_.high},
        .values = Histogram::Values::calibrated});
  }

  void merge_measures(std::span<const std::byte> results) {
    const auto count = read_value<std::uint64_t>(results, 0);
    if (count == 0) return;
    histogram_.valid += count;
    extent_.add(extent_value(results, extent_offset), extent_value(results, extent_offset + 4));
  }

  double extent_value(std::span<const std::byte> results, std::uint64_t offset) const {
    if (is_float()) return read_value<float>(results, offset);
    return to_double(value_of_bits(info_.type, read_value<std::uint32_t>(results, offset)));
  }
};

/// On the host, for 64-bit types and for ends that are no values of the type.
class HostHistogram final : public HistogramPasses {
 public:
  using HistogramPasses::HistogramPasses;

 private:
  void pass(const std::string& progress_name, bool measures, bool counts) override {
    std::optional<EqualBins> bins;
    if (counts) bins.emplace(histogram_.low, histogram_.high, request_.bins, false);
    job_.inputs.front().place = residency::StreamPlace::host;
    job_.accept = [&](const residency::StreamedWindow& window) {
      for_each_value(window, [&](double value) {
        if (measures) {
          ++histogram_.valid;
          extent_.add(value, value);
        }
        if (!counts) return;
        if (const auto bin = bins->bin_of(value)) ++histogram_.counts[*bin];
      });
    };
    run_stream(context_, job_, progress_name);
  }

  template <class Visitor>
  void for_each_value(const residency::StreamedWindow& window, const Visitor& visit) const {
    const double scale = info_.scale_or_default();
    const double offset = info_.offset_or_default();
    for (std::uint64_t pixel = 0; pixel < window.window.pixel_count(); ++pixel) {
      const std::byte* place = window.samples[0].data() + raster::size_of(info_.type) * pixel;
      if (!window.validity[0].empty() && window.validity[0][pixel] == 0) continue;
      if (info_.no_data.matches(place)) continue;
      const double value = to_double(value_of_bits(info_.type, read_bits(info_.type, place))) * scale + offset;
      if (std::isfinite(value)) visit(value);
    }
  }
};

}  // namespace

std::uint64_t BandHistogram::outside() const noexcept {
  return valid - std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

BandHistogram gather_histogram(const JobContext& context, const BandChoice& band, const HistogramRequest& request,
                               const std::string& progress_name) {
  require_ends(request);
  const raster::BandInfo& info = context.inputs.info(band);
  if (raster::size_of(info.type) == 8 || !are_device_ends(info, request))
    return HostHistogram(context, band, request).run(progress_name);
  if (raster::size_of(info.type) == 4) return DeviceHistogram(context, band, request).run(progress_name);
  const auto statistics = BandStatistics::create(
      info, {.has_quality_mask = context.inputs.has_quality_mask(), .place = gathering_place(context.device)});
  gather(context, {band}, {statistics.get()}, progress_name);
  return bins_of_counts(info, *statistics->value_counts(), request);
}

}  // namespace tessera::cli
