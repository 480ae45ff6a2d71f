#include <tessera/ops/arithmetic.hpp>
#include <tessera/ops/prefix.hpp>
#include <tessera/ops/selection.hpp>

#include "conformance/case.hpp"
#include "reference/columns.hpp"

namespace tessera::conformance {
namespace {

template <class T>
Outcome check_elementwise_of(Device& device, Random& random) {
  const std::uint64_t rows = random.row_count();
  const auto operation = static_cast<Elementwise::Operation>(random.below(7));
  const auto inputs = operation == Elementwise::Operation::copy           ? 1
                      : operation == Elementwise::Operation::multiply_add ? 3
                                                                          : 2;
  Outcome outcome{.description = std::string(name_of(format_of<T>)) + ", operation " +
                                 std::to_string(static_cast<int>(operation)) + ", " + std::to_string(rows) + " rows",
                  .failure = {}};
  std::vector<std::vector<T>> values;
  std::vector<DeviceRows<T>> columns;
  for (int i = 0; i < 3; ++i) {
    values.push_back(random_values<T>(random, rows));
    columns.emplace_back(device, random, values.back());
  }
  const DeviceRows<T> output(device, random, std::vector<T>(rows));
  Elementwise elementwise{.operation = operation, .a = columns[0].vector(), .output = output.vector()};
  if (inputs > 1) elementwise.b = columns[1].vector();
  if (inputs > 2) elementwise.c = columns[2].vector();
  tessera::run(device, elementwise);
  const auto expected = reference::elementwise<T>(static_cast<reference::ElementwiseOperation>(operation), values[0],
                                                  values[1], values[2]);
  const std::vector<T> actual = output.rows(outcome.failure);
  if constexpr (std::is_same_v<T, float>) {
    // Devices may flush denormal products and results to zero; everything else is the same bits.
    for (std::size_t i = 0; i < rows; ++i) {
      const bool small = std::abs(expected[i] - actual[i]) <= 0x1p-126F;
      if (operation != Elementwise::Operation::copy && small) continue;
      outcome.expect(compare<float>({&actual[i], 1}, {&expected[i], 1}, operation == Elementwise::Operation::copy),
                     "result");
    }
  } else {
    outcome.expect(compare<T>(actual, expected), "result");
  }
  return outcome;
}

}  // namespace

Outcome check_elementwise(Device& device, Random& random) {
  switch (random.below(3)) {
    case 0:
      return check_elementwise_of<std::uint32_t>(device, random);
    case 1:
      return check_elementwise_of<std::int32_t>(device, random);
    default:
      return check_elementwise_of<float>(device, random);
  }
}

Outcome check_scan(Device& device, Random& random) {
  const std::uint64_t rows = random.row_count();
  const auto mode = random.one_in(2) ? Scan::Mode::inclusive : Scan::Mode::exclusive;
  const bool segmented = random.one_in(2);
  Outcome outcome{.description = std::string(mode == Scan::Mode::inclusive ? "inclusive" : "exclusive") +
                                 (segmented ? ", segmented, " : ", ") + std::to_string(rows) + " rows",
                  .failure = {}};
  const auto values = random_values<std::uint32_t>(random, rows);
  std::vector<std::uint32_t> flags(segmented ? rows : 0);
  for (std::uint32_t& flag : flags) flag = random.one_in(300) ? static_cast<std::uint32_t>(random.below(9)) : 0;
  const DeviceRows<std::uint32_t> input(device, random, values);
  const DeviceRows<std::uint32_t> output(device, random, std::vector<std::uint32_t>(rows));
  const RandomValidity validity(device, random, rows);
  outcome.description += validity.text();
  Scan scan{.mode = mode, .input = validity.limit(input.vector()), .output = output.vector()};
  if (segmented) scan.segment_flags = DeviceRows<std::uint32_t>(device, random, flags).vector();
  tessera::run(device, scan);
  const auto reference_mode =
      mode == Scan::Mode::inclusive ? reference::ScanMode::inclusive : reference::ScanMode::exclusive;
  const std::vector<std::uint32_t> expected = reference::scan(values, reference_mode, flags, validity.words());
  outcome.expect(compare<std::uint32_t>(output.rows(outcome.failure), expected), "result");
  return outcome;
}

Outcome check_mask(Device& device, Random& random) {
  const std::uint64_t rows = random.row_count();
  const auto operation = static_cast<Mask::Operation>(random.below(5));
  const std::uint64_t count = operation == Mask::Operation::negation ? 1 : random.below(9) + 1;
  Outcome outcome{.description = "operation " + std::to_string(static_cast<int>(operation)) + ", " +
                                 std::to_string(count) + " inputs, " + std::to_string(rows) + " rows",
                  .failure = {}};
  std::vector<std::vector<std::uint32_t>> masks;
  Mask mask{.operation = operation, .inputs = {}, .output = DeviceRows<std::uint32_t>(device, random, {}).vector()};
  for (std::uint64_t i = 0; i < count; ++i) {
    masks.push_back(random_mask(random, rows));
    mask.inputs.emplace_back(DeviceRows<std::uint32_t>(device, random, masks.back()).vector());
  }
  const DeviceRows<std::uint32_t> output(device, random, std::vector<std::uint32_t>(rows));
  mask.output = output.vector();
  tessera::run(device, mask);
  const std::vector<std::span<const std::uint32_t>> spans(masks.begin(), masks.end());
  const auto expected = reference::combine_masks(static_cast<reference::MaskOperation>(operation), spans);
  outcome.expect(compare<std::uint32_t>(output.rows(outcome.failure), expected), "result");
  return outcome;
}

}  // namespace tessera::conformance
