#include <tessera/raster/statistics.hpp>
#include <tessera/raster/threshold.hpp>

#include "conformance/random_band.hpp"
#include "reference/threshold.hpp"

namespace tessera::conformance {
namespace {

template <class Sample>
Outcome check_missing_counts_of(Device& device, Random& random) {
  const std::uint64_t pixels = random.row_count();
  const bool judged = random.one_in(2);
  Outcome outcome{.description = std::string(name_of(format_of<Sample>)) + ", " + std::to_string(pixels) + " pixels" +
                                 (judged ? ", with quality" : ""),
                  .failure = {}};
  const RandomBand<Sample> band(device, random, pixels);
  const std::vector<std::uint32_t> quality = judged ? random_mask(random, pixels) : std::vector<std::uint32_t>();
  const DeviceRows<std::uint32_t> output(device, random, std::vector<std::uint32_t>(5, 7),
                                         {.name = "one", .lengths = {5}});
  raster::MissingCounts operation{.band = band.on_device(), .output = output.vector()};
  if (judged) operation.quality = Validity{.rows = DeviceRows<std::uint32_t>(device, random, quality).vector()};
  tessera::run(device, operation);
  const auto expected = reference::missing_counts(band.on_host(), quality);
  outcome.expect(compare<std::uint32_t>(output.rows(outcome.failure), expected), "counts");
  return outcome;
}

template <class Sample>
Outcome check_threshold_of(Device& device, Random& random) {
  const std::uint64_t pixels = random.row_count();
  const auto operation = static_cast<raster::Threshold::Operation>(random.below(3));
  const auto bounds = static_cast<raster::Threshold::Bounds>(random.below(2));
  Outcome outcome{.description = std::string(name_of(format_of<Sample>)) + ", operation " +
                                 std::to_string(static_cast<int>(operation)) + ", " + std::to_string(pixels) +
                                 " pixels",
                  .failure = {}};
  const RandomBand<Sample> band(device, random, pixels);
  const reference::Pixels values = reference::calibrated(band.on_host());
  std::vector<float> limits{0.0F, 100.0F};
  if (pixels != 0 && random.one_in(2)) {
    const float value = values.values[random.below(pixels)];
    if (std::isfinite(value)) limits = {value, value + 10.0F};
  }
  if (operation != raster::Threshold::Operation::range) limits.resize(1);
  const DeviceRows<float> output(device, random, std::vector<float>(pixels, 7.0F));
  const DeviceRows<float> resident(device, random, limits, {.name = "one", .lengths = {limits.size()}});
  tessera::run(device, raster::Threshold{.operation = operation,
                                         .bounds = bounds,
                                         .band = band.on_device(),
                                         .output = output.vector(),
                                         .threshold = Source(resident.vector())});
  const std::vector<float> expected =
      reference::threshold(values, static_cast<reference::ThresholdOperation>(operation),
                           bounds == raster::Threshold::Bounds::inclusive, limits.front(), limits.back());
  outcome.expect(compare<float>(output.rows(outcome.failure), expected), "selection");
  return outcome;
}

/// One of the checks above for a random type of sample.
template <class Check>
Outcome of_any_type(Random& random, const Check& check) {
  switch (random.below(4)) {
    case 0:
      return check.template operator()<std::uint8_t>();
    case 1:
      return check.template operator()<std::uint16_t>();
    case 2:
      return check.template operator()<std::int16_t>();
    default:
      return check.template operator()<float>();
  }
}

}  // namespace

Outcome check_missing_counts(Device& device, Random& random) {
  return of_any_type(random, [&]<class Sample>() { return check_missing_counts_of<Sample>(device, random); });
}

Outcome check_threshold(Device& device, Random& random) {
  return of_any_type(random, [&]<class Sample>() { return check_threshold_of<Sample>(device, random); });
}

Outcome check_otsu_threshold(Device& device, Random& random) {
  const auto bins = random.pick<std::uint64_t>({1, 2, 63, 64, 65, 256, 257, 4099, 65536});
  const std::uint64_t largest = random.pick<std::uint64_t>({1, 3, 1000, std::uint64_t{1} << 32});
  Outcome outcome{.description = std::to_string(bins) + " bins, counts below " + std::to_string(largest),
                  .failure = {}};
  std::vector<std::uint64_t> counts(bins);
  for (std::uint64_t& count : counts) count = random.one_in(3) ? 0 : random.below(largest);
  const float low = static_cast<float>(random.below(200)) - 100.0F;
  const float high = low + static_cast<float>(random.below(70000));
  const DeviceRows<std::uint64_t> histogram(device, random, counts, {.name = "one", .lengths = {bins}});
  const DeviceRows<float> output(device, random, std::vector<float>{7.0F}, {.name = "one", .lengths = {1}});
  tessera::run(device, raster::OtsuThreshold{.histogram = histogram.vector(),
                                             .domain = std::array<double, 2>{low, high},
                                             .output = output.vector()});
  const std::vector<float> expected{reference::otsu_threshold(counts, low, high)};
  outcome.expect(compare<float>(output.rows(outcome.failure), expected), "threshold");
  return outcome;
}

}  // namespace tessera::conformance
