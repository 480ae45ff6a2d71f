#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/graph/graph.hpp>
#include <tessera/raster/band.hpp>
#include <tessera/raster/band_info.hpp>
#include <tessera/residency/stream.hpp>

#include "statistics/rank_search.hpp"
#include "statistics/sample_value.hpp"

// Exact statistics of one band over any number of windows and passes.
namespace tessera::cli {

/// The part of a window that belongs to one band.
struct BandWindow {
  std::uint64_t pixels = 0;
  std::uint64_t missing_by_mask = 0;
  std::uint64_t missing_by_alpha = 0;
  std::uint64_t missing_by_unreadable = 0;
  std::span<const std::byte> results = {};      ///< what the band's operations wrote
  std::span<const std::byte> samples = {};      ///< bands on the host
  std::span<const std::uint8_t> validity = {};  ///< bands on the host: empty where there is no plane
  std::span<const std::uint8_t> unmasked = {};  ///< bands on the host with a quality mask: the plane without it
};

/// Pixels that are missing, each by its first reason in this order.
struct MissingPixels {
  std::uint64_t mask = 0;
  std::uint64_t alpha = 0;
  std::uint64_t no_data = 0;
  std::uint64_t not_finite = 0;
  std::uint64_t quality = 0;
  std::uint64_t unreadable = 0;  ///< in blocks that were skipped, before all other reasons

  std::uint64_t total() const noexcept { return mask + alpha + no_data + not_finite + quality + unreadable; }
  /// Adds what the file's masks take out of a window.
  void add_masked(const BandWindow& window) noexcept;
  nlohmann::ordered_json json() const;
};

/// Population statistics of the valid pixels; absent where there is none.
struct BandFigures {
  std::uint64_t valid = 0;
  MissingPixels missing = {};
  double sum = 0;
  std::optional<SampleValue> minimum = {};
  std::optional<SampleValue> maximum = {};
  std::optional<double> mean = {};
  std::optional<double> deviation = {};
  std::vector<std::pair<std::string, std::optional<double>>> percentiles = {};

  /// The figures of scale * value + offset, in double; a negative scale swaps minimum and maximum. Percentiles must
  /// have been taken with the sign of the scale in mind (see `BandStatistics`).
  BandFigures calibrated(double scale, double offset) const;
  nlohmann::ordered_json json() const;
  void print() const;
};

/// What the operations of one window's graph need.
struct BandOperands {
  raster::Band band;
  std::optional<Validity> unmasked = {};  ///< validity without the quality mask; none: every pixel
  GraphBuffer results;
  std::uint64_t offset = 0;  ///< of the band's results
};

struct BandStatisticsOptions {
  std::vector<Percentile> percentiles = {};
  /// A negative scale turns the order of values around: percentile p is taken at 100 - p.
  bool descending = false;
  bool has_quality_mask = false;
  /// Where samples of up to 32 bits are worked on, as `gathering_place` says.
  residency::StreamPlace place = residency::StreamPlace::device;
};

/// Where figures are best gathered. Kernels on a CPU-type device reach memory lane by lane, which for a counter takes
/// 20 times as long as counting on the host, and the samples lie in its memory anyway.
residency::StreamPlace gathering_place(const Device& device);

/// Gathers one band. How depends on the samples' type: all values of 8- and 16-bit integers are counted, 32-bit types
/// are summed and their ranks found by a second pass, 64-bit types are worked on by the host beside any device.
class BandStatistics {
 public:
  static std::unique_ptr<BandStatistics> create(const raster::BandInfo& info, const BandStatisticsOptions& options);
  virtual ~BandStatistics() = default;

  /// Whether a further pass over the pixels is needed. True before the first.
  virtual bool needs_pass() const = 0;
  /// Whether the band's samples are wanted on the host instead of the device.
  virtual bool on_host() const = 0;
  /// Bytes of results of each window in this pass.
  virtual std::uint64_t result_bytes() const = 0;
  virtual void add_operations(Graph& graph, const BandOperands& operands) const = 0;
  virtual void accept(const BandWindow& window) = 0;
  virtual void end_pass() = 0;
  virtual BandFigures figures() const = 0;
  /// How often each value occurs, by order key; null for types of which not every value is counted.
  virtual const std::vector<std::uint64_t>* value_counts() const { return nullptr; }
};

std::unique_ptr<BandStatistics> make_counted_band(const raster::BandInfo& info, const BandStatisticsOptions& options);
std::unique_ptr<BandStatistics> make_word_band(const raster::BandInfo& info, const BandStatisticsOptions& options);
std::unique_ptr<BandStatistics> make_wide_band(const raster::BandInfo& info, const BandStatisticsOptions& options);

/// The percentiles of one band, found by counting order keys pass by pass.
class PercentileSearch {
 public:
  using Counts = std::vector<std::uint64_t>;

  PercentileSearch(const raster::BandInfo& info, const BandStatisticsOptions& options);

  /// No percentile is asked for.
  bool empty() const noexcept { return percentiles_.empty(); }
  /// Whether keys are left to be told apart, once the search was begun.
  bool needs_pass() const noexcept { return search_ && !search_->done(); }
  /// Leading bits of the keys to count, and how many bits they have.
  std::vector<std::uint64_t> prefixes() const;
  unsigned known_bits() const noexcept { return search_ ? search_->known_bits() : 0; }
  /// For each prefix its keys by their next 16 bits.
  std::vector<Counts>& counts() noexcept { return counts_; }

  /// Behind the first pass: says whether there is something to find.
  bool begin(std::uint64_t valid);
  /// Behind each pass, with its counts by order key.
  void narrow();
  std::vector<std::pair<std::string, std::optional<double>>> values() const;

 private:
  double percent_of(const Percentile& percentile) const noexcept;
  std::vector<std::uint64_t> ranks() const;

  raster::SampleType type_;
  std::vector<Percentile> percentiles_;
  bool descending_;
  std::uint64_t valid_ = 0;
  std::optional<RankSearch> search_;
  std::vector<Counts> counts_;
};

}  // namespace tessera::cli
