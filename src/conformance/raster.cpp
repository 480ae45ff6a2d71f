#include <cmath>

#include <tessera/raster/pixel.hpp>
#include <tessera/raster/statistics.hpp>

#include "conformance/random_band.hpp"
#include "reference/statistics.hpp"

namespace tessera::conformance {
namespace {

/// A quotient of float32 values: devices round the division within 2.5 units in the last place.
std::string compare_index(std::span<const float> actual, std::span<const double> expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(actual[i])) continue;
    const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
    // Numerator and denominator round once each before.
    if (error <= 4e-7 * std::abs(expected[i]) + 1e-37) continue;
    return "pixel " + std::to_string(i) + ": " + std::to_string(actual[i]) + " instead of " +
           std::to_string(expected[i]);
  }
  return {};
}

template <class Sample>
Outcome check_ndvi_of(Device& device, Random& random) {
  const std::uint64_t pixels = random.row_count();
  Outcome outcome{.description = std::string(name_of(format_of<Sample>)) + ", " + std::to_string(pixels) + " pixels",
                  .failure = {}};
  const RandomBand<Sample> near_infrared(device, random, pixels);
  const RandomBand<Sample> red(device, random, pixels);
  const DeviceRows<float> output(device, random, std::vector<float>(pixels));
  const DeviceRows<std::uint32_t> validity(device, random, std::vector<std::uint32_t>(pixels, 7));
  tessera::run(device, raster::Ndvi{.near_infrared = near_infrared.on_device(),
                                    .red = red.on_device(),
                                    .output = output.vector(),
                                    .output_validity = validity.vector(),
                                    .epsilon = 1e-30F});
  const auto left = reference::calibrated(near_infrared.on_host());
  const auto right = reference::calibrated(red.on_host());
  const reference::NdviOptions options{.epsilon = 1e-30F, .clamp = {}};
  const reference::Pixels expected = reference::ndvi(right, left, options);
  outcome.expect(compare<std::uint32_t>(validity.rows(outcome.failure), expected.validity), "validity");
  const std::vector<double> exact(expected.values.begin(), expected.values.end());
  outcome.expect(compare_index(output.rows(outcome.failure), exact), "index");
  return outcome;
}

template <class Sample, class Value>
Outcome check_statistics_of(Device& device, Random& random) {
  const std::uint64_t pixels = random.row_count();
  Outcome outcome{.description = std::string(name_of(format_of<Sample>)) + ", " + std::to_string(pixels) + " pixels",
                  .failure = {}};
  const RandomBand<Sample> band(device, random, pixels);
  const auto one = [&]<class T>(T value, std::uint64_t rows) {
    return DeviceRows<T>(device, random, std::vector<T>(rows, value), {.name = "one", .lengths = {rows}});
  };
  const auto count = one(std::uint64_t{7}, 1);
  const auto sum = one(7.0, 1);
  const auto mean = one(7.0, 1);
  const auto extent = one(Value{7}, 2);
  tessera::run(device, raster::Statistics{.input = band.on_device(),
                                          .values = raster::BandValues::raw,
                                          .count = count.vector(),
                                          .sum = sum.vector(),
                                          .mean = mean.vector(),
                                          .extent = extent.vector()});
  const reference::Band<Sample> on_host = band.on_host();
  const std::vector<std::uint32_t> validity = reference::raw_validity(on_host);
  const auto expected = reference::statistics<Sample>(on_host.samples, validity);
  outcome.expect(compare<std::uint64_t>(count.rows(outcome.failure), std::vector<std::uint64_t>{expected.count}),
                 "count");
  outcome.expect(compare<double>(sum.rows(outcome.failure), std::vector<double>{expected.sum.to_double()}), "sum");
  outcome.expect(compare<double>(mean.rows(outcome.failure), std::vector<double>{expected.mean}), "mean");
  const std::vector<Value> bounds{static_cast<Value>(expected.minimum), static_cast<Value>(expected.maximum)};
  outcome.expect(compare<Value>(extent.rows(outcome.failure), bounds), "extent");
  return outcome;
}

}  // namespace

Outcome check_ndvi(Device& device, Random& random) {
  switch (random.below(3)) {
    case 0:
      return check_ndvi_of<std::uint16_t>(device, random);
    case 1:
      return check_ndvi_of<std::int16_t>(device, random);
    default:
      return check_ndvi_of<float>(device, random);
  }
}

Outcome check_statistics(Device& device, Random& random) {
  switch (random.below(4)) {
    case 0:
      return check_statistics_of<std::uint8_t, std::uint32_t>(device, random);
    case 1:
      return check_statistics_of<std::uint16_t, std::uint32_t>(device, random);
    case 2:
      return check_statistics_of<std::int16_t, std::int32_t>(device, random);
    default:
      return check_statistics_of<float, float>(device, random);
  }
}

}  // namespace tessera::conformance
