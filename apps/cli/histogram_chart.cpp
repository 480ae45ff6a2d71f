#include "histogram_chart.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/io/raster_writer.hpp>

#include "option_help.hpp"
#include "output_options.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

constexpr std::int64_t width = 640;
constexpr std::int64_t height = 400;
constexpr std::int64_t margin = 8;
constexpr std::uint8_t white = 255;
constexpr std::uint8_t axis = 96;
constexpr std::uint8_t bar = 48;

/// The largest count of the bins that a column stands for.
std::uint64_t column_count(const BandHistogram& histogram, std::int64_t column, std::int64_t columns) {
  const auto bins = static_cast<std::int64_t>(histogram.counts.size());
  const std::int64_t first = column * bins / columns;
  const std::int64_t last = std::max(first + 1, (column + 1) * bins / columns);
  return *std::max_element(histogram.counts.begin() + first, histogram.counts.begin() + last);
}

std::vector<std::byte> draw(const BandHistogram& histogram) {
  std::vector<std::byte> pixels(width * height, std::byte{white});
  const auto set = [&](std::int64_t column, std::int64_t row, std::uint8_t shade) {
    pixels[static_cast<std::size_t>(row * width + column)] = std::byte{shade};
  };
  const std::int64_t columns = width - 2 * margin;
  const std::int64_t rows = height - 2 * margin - 1;
  const std::int64_t base = height - margin - 1;
  const std::uint64_t tallest = *std::ranges::max_element(histogram.counts);
  for (std::int64_t column = 0; column < columns; ++column) {
    set(margin + column, base, axis);
    if (tallest == 0) continue;
    const double share = static_cast<double>(column_count(histogram, column, columns)) / static_cast<double>(tallest);
    const std::int64_t tall = std::llround(share * static_cast<double>(rows));
    for (std::int64_t row = 0; row < tall; ++row) set(margin + column, base - 1 - row, bar);
  }
  return pixels;
}

io::RasterWriter open_writer(const std::string& path, bool overwrite, const std::vector<std::string>& inputs) {
  raster::RasterMetadata metadata{.width = width, .height = height};
  metadata.pixel_interpretation = raster::PixelInterpretation::area;
  metadata.georeferencing = raster::Georeferencing::absent;
  raster::BandInfo band{.type = raster::SampleType::uint8};
  band.color_interpretation = "Gray";
  io::RasterWriterOptions options;
  options.driver = "PNG";
  options.overwrite = overwrite ? io::OverwritePolicy::replace : io::OverwritePolicy::refuse;
  options.inputs = inputs;
  return with_advice(ErrorCode::file_exists, overwrite_advice, [&] {
    return io::RasterWriter::create(path, metadata, {&band, 1}, options);
  });
}

}  // namespace

HistogramChart::HistogramChart(const std::string& path, bool overwrite, const std::vector<std::string>& inputs)
    : path_(path), overwrite_(overwrite), inputs_(inputs) {
  open_writer(path_, overwrite_, inputs_).abandon();
}

void HistogramChart::write(const BandHistogram& histogram) {
  io::RasterWriter writer = open_writer(path_, overwrite_, inputs_);
  const std::vector<std::byte> pixels = draw(histogram);
  const residency::BandSamples samples{.band = 1, .samples = pixels};
  writer.write({.window = {0, 0, width, height}, .bands = {&samples, 1}});
  writer.finish();
}

}  // namespace tessera::cli
