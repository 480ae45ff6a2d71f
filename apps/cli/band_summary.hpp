#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

#include <tessera/graph/views.hpp>
#include <tessera/operand/sum_state.hpp>
#include <tessera/raster/band_info.hpp>
#include <tessera/raster/statistics.hpp>

// Exact statistics of one band, gathered window by window.
namespace tessera::cli {

/// What a window's graph writes for one band.
struct BandResultLayout {
  static constexpr std::uint64_t count = 0;
  static constexpr std::uint64_t extent = 8;
  static constexpr std::uint64_t sum = 16;
  static constexpr std::uint64_t squares = 112;
  static constexpr std::uint64_t bytes = 208;
};

/// The statistics operation that fills one band's results at a byte offset of a buffer.
raster::Statistics window_statistics(const Source& band, const GraphBuffer& results, std::uint64_t offset,
                                     Format values);

/// Population statistics; absent where there is no valid pixel.
struct BandFigures {
  std::uint64_t valid = 0;
  std::uint64_t invalid = 0;
  double sum = 0;
  std::optional<double> minimum = {};
  std::optional<double> maximum = {};
  std::optional<double> mean = {};
  std::optional<double> deviation = {};

  /// The figures of scale * value + offset, in double; a negative scale swaps minimum and maximum.
  BandFigures calibrated(double scale, double offset) const;
  nlohmann::ordered_json json() const;
  void print() const;
};

/// Merges windows. Types that kernels compute in 32 bits come from the device; 64-bit types are summed here, exactly.
class BandSummary {
 public:
  explicit BandSummary(const raster::BandInfo& info) : info_(info) {}

  /// Whether the device's kernels keep the type's precision.
  static bool on_device(raster::SampleType type) noexcept;

  void merge_device(std::span<const std::byte> results, std::uint64_t pixels);
  void merge_host(std::span<const std::byte> samples, std::span<const std::uint8_t> validity);
  BandFigures figures() const;

 private:
  template <class Sample>
  void merge_samples(std::span<const std::byte> samples, std::span<const std::uint8_t> validity);
  void merge_extent(double minimum, double maximum);

  const raster::BandInfo& info_;
  std::uint64_t pixels_ = 0;
  std::uint64_t valid_ = 0;
  std::optional<double> minimum_;
  std::optional<double> maximum_;
  SumState sum_;
  SumState squares_;
  WideSumState wide_sum_;
  WideSquareSumState wide_squares_;
};

}  // namespace tessera::cli
