#include "ops/aggregation/histogram_plan.hpp"

#include <algorithm>
#include <bit>

#include "operand/histogram_edges.hpp"
#include "ops/aggregation/histogram_tuning.hpp"

namespace tessera::detail {
namespace {

std::int32_t key_of(Format format, double value) {
  if (format == Format::float32) return float_key(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  if (format == Format::sint32) return static_cast<std::int32_t>(value);
  return uint32_key(static_cast<std::uint32_t>(value));
}

HostBinning host_domain(Format format, double low, double high, std::uint32_t count) {
  HostBinning host{};
  if (format != Format::float32) {
    host.binning = uniform_integer_binning(key_of(format, low), key_of(format, high), count);
    return host;
  }
  const auto first = static_cast<float>(low);
  const auto last = static_cast<float>(high);
  host.binning = uniform_float_binning(std::bit_cast<std::uint32_t>(first), std::bit_cast<std::uint32_t>(last), count);
  for (const float edge : uniform_edges(first, last, count))
    host.keys.push_back(float_key(std::bit_cast<std::uint32_t>(edge)));
  return host;
}

// Chunks of all operands with rows, and how many borders lie between them.
struct Fragments {
  std::uint64_t chunks = 0;
  std::uint64_t borders = 0;
  void add(const VectorView& view) {
    const std::uint64_t count = view.chunk_list()->chunks.size();
    chunks += count;
    borders += count - std::min<std::uint64_t>(count, 1);
  }
};

Fragments fragments_of(const OperationContext& context) {
  Fragments fragments;
  for (const std::string_view port : {"input", "mask"}) {
    const Input* input = context.optional_input(port);
    if (input == nullptr) continue;
    fragments.add(input->values);
    if (input->validity) fragments.add(*input->validity);
  }
  return fragments;
}

// Tiles that one workgroup may take, so that no invocation loops too often.
std::uint64_t largest_tiles_per_group(const HistogramPlan& plan, std::uint32_t bins, std::uint32_t mode,
                                      const Fragments& fragments) {
  const bool search = mode == histogram_search || mode == histogram_resident;
  const std::uint64_t turns_per_row =
      3 + (search ? std::uint64_t{static_cast<std::uint32_t>(std::bit_width(bins))} + 1 : 0) +
      (fragments.borders == 0 ? 0 : 13);
  const std::uint64_t turns_per_tile = plan.tuning.tile.rows_per_thread * turns_per_row + 64;
  const std::uint64_t rounds = (std::uint64_t{bins} + 1) / plan.tuning.tile.workgroup_size + 1;
  std::uint64_t around = plan.key_words > 1 ? rounds : 0;
  if (plan.counter_words > 1) around += rounds * (2 * plan.copies + 1);
  return std::max<std::uint64_t>(1, (histogram_loop_limit - std::min(histogram_loop_limit, around)) / turns_per_tile);
}

// Long tiles cost less for each row; short chunks want short ones.
RowTuning row_tuning(const HistogramTuning& numbers, std::uint64_t rows, const Fragments& fragments) {
  RowTuning tuning = numbers.rows;
  const std::uint64_t chunk_rows = rows / std::max<std::uint64_t>(fragments.chunks, 1);
  if (rows >= histogram_large_input && chunk_rows >= histogram_long_chunk)
    tuning.tile.rows_per_thread = numbers.rows_per_long_thread;
  else if (fragments.borders > 0 && chunk_rows < histogram_short_chunk)
    tuning.tile.rows_per_thread = numbers.rows_per_short_thread;
  return tuning;
}

}  // namespace

ValueDomain histogram_values(const OperationContext& context) {
  return context.choice("values") == 1 ? ValueDomain::calibrated : ValueDomain::raw;
}

HistogramBins histogram_bins(const OperationContext& context) {
  return static_cast<HistogramBins>(context.choice("binning"));
}

Format histogram_format(const OperationContext& context) {
  const Input& input = context.input("input");
  const bool calibrated = input.calibration && *input.calibration != Calibration{};
  if (calibrated && histogram_values(context) == ValueDomain::calibrated) return Format::float32;
  return compute_format(input.format());
}

HostBinning make_host_binning(HistogramBins bins, Format format, const std::vector<double>& bounds,
                              std::uint32_t count) {
  if (bins == HistogramBins::domain) return host_domain(format, bounds.front(), bounds.back(), count);
  HostBinning host{};
  for (const double edge : bounds) host.keys.push_back(key_of(format, edge));
  host.binning = edges_binning(host.keys.front(), host.keys.back());
  return host;
}

HistogramPlan plan_histogram(const OperationContext& context, std::uint32_t bins, std::uint32_t mode) {
  const Device& device = context.sink().device();
  const bool cpu = device.info().type == DeviceType::cpu;
  const HistogramTuning& numbers = cpu ? histogram_cpu_tuning : histogram_gpu_tuning;
  HistogramPlan plan;
  const Fragments fragments = fragments_of(context);
  plan.tuning = row_tuning(numbers, context.rows(), fragments);
  plan.tuning.tile.workgroup_size = std::min(plan.tuning.tile.workgroup_size, device.limits().largest_workgroup_size);
  const std::uint32_t shared_words =
      (std::min(device.limits().shared_memory_bytes, histogram_shared_bytes) - histogram_reserved_bytes) / 4;
  // Few sizes keep the number of pipelines small.
  if (mode == histogram_search && bins < numbers.largest_shared_keys)
    plan.key_words = bins < numbers.few_shared_keys ? numbers.few_shared_keys : numbers.largest_shared_keys;
  const std::uint32_t counter_limit = shared_words - plan.key_words;
  if (bins <= counter_limit) {
    plan.counter_words = std::min(std::max(std::bit_ceil(bins), numbers.fewest_words), counter_limit);
    const std::uint32_t copied_words = std::min(numbers.fewest_words, counter_limit);
    while (plan.copies < numbers.largest_copies && std::uint64_t{bins} * plan.copies * 2 <= copied_words)
      plan.copies *= 2;
  } else {
    plan.join_lanes = !cpu;
  }

  // More workgroups share the work better, fewer merge less.
  const std::uint64_t tile_rows = plan.tuning.tile.tile_rows();
  const std::uint64_t most_tiles = context.rows() / tile_rows + fragments.chunks + 1;
  const std::uint64_t limit = largest_tiles_per_group(plan, bins, mode, fragments);
  const std::uint64_t worthwhile = plan.counter_words > 1 ? bins / tile_rows + 1 : 1;
  plan.pass.tiles_per_group = static_cast<std::uint32_t>(std::min(worthwhile, limit));
  const std::uint64_t groups = std::max<std::uint64_t>(numbers.persistent_groups, most_tiles / limit + 1);
  plan.pass.largest_groups = static_cast<std::uint32_t>(std::min<std::uint64_t>(groups, 0xffffffffU));
  return plan;
}

}  // namespace tessera::detail
