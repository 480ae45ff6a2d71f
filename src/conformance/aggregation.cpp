#include <tessera/ops/aggregation.hpp>
#include <tessera/ops/histogram.hpp>

#include "conformance/case.hpp"
#include "reference/columns.hpp"
#include "reference/histogram.hpp"

namespace tessera::conformance {
namespace {

template <class T>
Outcome check_reduction_of(Device& device, Random& random) {
  const std::uint64_t rows = random.row_count();
  const auto operation = static_cast<Reduction::Operation>(random.below(4));
  const bool masked = random.one_in(2);
  Outcome outcome{.description = std::string(name_of(format_of<T>)) + ", operation " +
                                 std::to_string(static_cast<int>(operation)) + (masked ? ", masked, " : ", ") +
                                 std::to_string(rows) + " rows",
                  .failure = {}};
  const std::vector<T> values = random_values<T>(random, rows, random.one_in(2));
  const std::vector<std::uint32_t> mask = masked ? random_mask(random, rows) : std::vector<std::uint32_t>();
  const DeviceRows<T> input(device, random, values);
  const RandomValidity validity(device, random, rows);
  outcome.description += validity.text();
  const std::vector<T> expected = reference::reduce<T>(static_cast<reference::ReductionOperation>(operation), values,
                                                       {.mask = mask, .validity = validity.words()});
  const DeviceRows<T> output(device, random, std::vector<T>(expected.size(), T{7}),
                             {.name = "one", .lengths = {expected.size()}});
  Reduction reduction{.input = validity.limit(input.vector()), .output = output.vector(), .operation = operation};
  if (masked) reduction.mask = DeviceRows<std::uint32_t>(device, random, mask).vector();
  tessera::run(device, reduction);
  outcome.expect(compare<T>(output.rows(outcome.failure), expected), "result");
  return outcome;
}

template <class T>
Outcome check_histogram_of(Device& device, Random& random) {
  const std::uint64_t rows = random.row_count();
  const auto bins = random.pick<std::uint32_t>({1, 16, 17, 256, 257, 5000});
  const bool automatic = random.one_in(3);
  const bool masked = random.one_in(2);
  Outcome outcome{.description = std::string(name_of(format_of<T>)) + ", " + std::to_string(bins) + " bins" +
                                 (automatic ? ", automatic" : "") + (masked ? ", masked, " : ", ") +
                                 std::to_string(rows) + " rows",
                  .failure = {}};
  const std::vector<T> values = random_values<T>(random, rows);
  const std::vector<std::uint32_t> mask = masked ? random_mask(random, rows) : std::vector<std::uint32_t>();
  const RandomValidity validity(device, random, rows);
  outcome.description += validity.text();
  const reference::Rows selected{.mask = mask, .validity = validity.words()};
  auto bounds = random_values<T>(random, 2, false);
  if (bounds[0] > bounds[1]) std::swap(bounds[0], bounds[1]);
  const DeviceRows<T> input(device, random, values);
  const DeviceRows<std::uint32_t> output(device, random, std::vector<std::uint32_t>(bins, 7),
                                         {.name = "one", .lengths = {bins}});
  Histogram histogram{
      .input = validity.limit(input.vector()), .output = output.vector(), .binning = Histogram::AutomaticDomain{}};
  if (automatic) {
    const auto domain = reference::automatic_domain<T>(values, selected);
    bounds = {domain[0], domain[1]};
  } else {
    histogram.binning = Histogram::Domain{static_cast<double>(bounds[0]), static_cast<double>(bounds[1])};
  }
  if (masked) histogram.mask = DeviceRows<std::uint32_t>(device, random, mask).vector();
  tessera::run(device, histogram);
  const std::vector<std::uint64_t> counts = reference::histogram<T>(values, bounds[0], bounds[1], bins, selected);
  const std::vector<std::uint32_t> expected(counts.begin(), counts.end());
  outcome.expect(compare<std::uint32_t>(output.rows(outcome.failure), expected), "counts");
  return outcome;
}

}  // namespace

Outcome check_reduction(Device& device, Random& random) {
  switch (random.below(3)) {
    case 0:
      return check_reduction_of<std::uint32_t>(device, random);
    case 1:
      return check_reduction_of<std::int32_t>(device, random);
    default:
      return check_reduction_of<float>(device, random);
  }
}

Outcome check_histogram(Device& device, Random& random) {
  switch (random.below(3)) {
    case 0:
      return check_histogram_of<std::uint32_t>(device, random);
    case 1:
      return check_histogram_of<std::int32_t>(device, random);
    default:
      return check_histogram_of<float>(device, random);
  }
}

}  // namespace tessera::conformance
