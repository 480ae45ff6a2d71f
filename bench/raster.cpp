// Raster operations on bands as files deliver them, and masks. `bandwidth` counts each input read once and each output
// written once.
#include <array>

#include <benchmark/benchmark.h>

#include <tessera/ops/selection.hpp>
#include <tessera/raster/pixel.hpp>
#include <tessera/raster/statistics.hpp>
#include <tessera/raster/threshold.hpp>

#include "support/columns.hpp"

namespace {

using namespace tessera;
using bench::column;
using bench::full_rows;
using bench::Values;

raster::Band band(std::uint64_t chunks) {
  return {.id = "band",
          .values = column(Format::uint16, full_rows(), chunks, Values::any_bits),
          .no_data = raster::NoData::of_unsigned(raster::SampleType::uint16, 65535),
          .scale = 0.0001};
}

void ndvi(benchmark::State& state) {
  const raster::Band near_infrared = band(1);
  const raster::Band red = band(1);
  const Vector output = column(Format::float32, full_rows(), 1, Values::moderate);
  bench::run_graph(
      state,
      [&](Graph& graph) { graph.add(raster::Ndvi{.near_infrared = near_infrared, .red = red, .output = output}); },
      8 * full_rows());
}

void statistics(benchmark::State& state) {
  const raster::Band input = band(1);
  const Vector sum = Vector(Format::sum_state, {Chunk{.buffer = bench::device().allocate(96), .length = 1}});
  const Vector squares = Vector(Format::sum_state, {Chunk{.buffer = bench::device().allocate(96), .length = 1}});
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(raster::Statistics{
            .input = input, .values = raster::BandValues::raw, .sum = sum, .sum_of_squares = squares});
      },
      2 * full_rows());
}

void missing_counts(benchmark::State& state) {
  const raster::Band input = band(1);
  const Vector output = column(Format::uint32, raster::MissingCounts::rows, 1, Values::any_bits);
  bench::run_graph(
      state, [&](Graph& graph) { graph.add(raster::MissingCounts{.band = input, .output = output}); }, 2 * full_rows());
}

void threshold(benchmark::State& state) {
  const raster::Band input = band(1);
  const Vector output = column(Format::float32, full_rows(), 1, Values::moderate);
  bench::run_graph(
      state, [&](Graph& graph) { graph.add(raster::Threshold{.band = input, .output = output, .threshold = 3.0}); },
      6 * full_rows());
}

void otsu_threshold(benchmark::State& state) {
  const Vector histogram = column(Format::uint32, raster::OtsuThreshold::largest_bin_count, 1, Values::any_bits);
  const Vector output = column(Format::float32, 1, 1, Values::moderate);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(raster::OtsuThreshold{.histogram = histogram, .domain = std::array{0.0, 1.0}, .output = output});
      },
      4 * raster::OtsuThreshold::largest_bin_count);
}

void mask(benchmark::State& state) {
  const Vector first = column(Format::uint32, full_rows(), 1, Values::any_bits);
  const Vector second = column(Format::uint32, full_rows(), 1, Values::any_bits);
  const Vector output = column(Format::uint32, full_rows(), 1, Values::any_bits);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(Mask{.inputs = {first, second}, .output = output});
      },
      12 * full_rows());
}

void settle(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);
}

}  // namespace

BENCHMARK(ndvi)->Apply(settle);
BENCHMARK(statistics)->Apply(settle);
BENCHMARK(missing_counts)->Apply(settle);
BENCHMARK(threshold)->Apply(settle);
BENCHMARK(otsu_threshold)->Apply(settle);
BENCHMARK(mask)->Apply(settle);
BENCHMARK_MAIN();
