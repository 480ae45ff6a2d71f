// Column operations at full size, over one chunk and over many. `bandwidth` counts each input read once and each output
// written once.
#include <benchmark/benchmark.h>

#include <tessera/ops/aggregation.hpp>
#include <tessera/ops/arithmetic.hpp>
#include <tessera/ops/histogram.hpp>
#include <tessera/ops/prefix.hpp>

#include "support/columns.hpp"

namespace {

using namespace tessera;
using bench::column;
using bench::full_rows;
using bench::Values;

std::uint64_t chunks_of(const benchmark::State& state) { return static_cast<std::uint64_t>(state.range(0)); }

/// The device's own copy: what every share is a share of.
void device_copy(benchmark::State& state) {
  const std::uint64_t bytes = 4 * full_rows();
  const Buffer source = column(Format::uint32, full_rows(), 1, Values::any_bits).chunks().front().buffer;
  const Buffer target = bench::device().allocate(bytes);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(
            CopyNode{.id = "copy", .source = graph.import(source), .target = graph.import(target), .bytes = bytes});
      },
      2 * bytes);
}

void elementwise(benchmark::State& state) {
  const std::uint64_t rows = full_rows();
  const Vector a = column(Format::float32, rows, chunks_of(state), Values::moderate);
  const Vector b = column(Format::float32, rows, chunks_of(state), Values::moderate);
  const Vector output = column(Format::float32, rows, chunks_of(state), Values::moderate);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(Elementwise{.operation = Elementwise::Operation::add, .a = a, .b = b, .output = output});
      },
      12 * rows);
}

template <class T>
void reduction(benchmark::State& state, Reduction::Operation operation, Determinism determinism) {
  const Format format = format_of<T>;
  const Vector input =
      column(format, full_rows(), chunks_of(state), format == Format::float32 ? Values::moderate : Values::any_bits);
  const Vector output = column(format, operation == Reduction::Operation::extent ? 2 : 1, 1, Values::moderate);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        graph.add(Reduction{.input = input, .output = output, .operation = operation, .determinism = determinism});
      },
      4 * full_rows());
}

void scan(benchmark::State& state, Scan::Mode mode, bool segmented) {
  const std::uint64_t rows = full_rows();
  const Vector input = column(Format::uint32, rows, chunks_of(state), Values::any_bits);
  const Vector output = column(Format::uint32, rows, chunks_of(state), Values::any_bits);
  const Vector flags = column(Format::uint32, segmented ? rows : 1, 1, Values::any_bits);
  bench::run_graph(
      state,
      [&](Graph& graph) {
        Scan operation{.mode = mode, .input = input, .output = output};
        if (segmented) operation.segment_flags = flags;
        graph.add(operation);
      },
      (segmented ? 12 : 8) * rows);
}

template <class T>
void histogram(benchmark::State& state) {
  const Format format = format_of<T>;
  const std::uint64_t rows = full_rows();
  const auto bins = static_cast<std::uint64_t>(state.range(1));
  const Vector input =
      column(format, rows, chunks_of(state), format == Format::float32 ? Values::moderate : Values::any_bits);
  const Vector output = column(Format::uint32, bins, 1, Values::any_bits);
  const Histogram::Domain domain =
      format == Format::float32 ? Histogram::Domain{-1.0, 1.0} : Histogram::Domain{0.0, 4294967295.0};
  bench::run_graph(
      state, [&](Graph& graph) { graph.add(Histogram{.input = input, .output = output, .binning = domain}); },
      4 * rows);
}

void reproducible_float_sum(benchmark::State& state) {
  reduction<float>(state, Reduction::Operation::sum, Determinism::reproducible);
}
void fast_float_sum(benchmark::State& state) { reduction<float>(state, Reduction::Operation::sum, Determinism::fast); }
void integer_sum(benchmark::State& state) {
  reduction<std::uint32_t>(state, Reduction::Operation::sum, Determinism::reproducible);
}
void float_extent(benchmark::State& state) {
  reduction<float>(state, Reduction::Operation::extent, Determinism::reproducible);
}
void inclusive_scan(benchmark::State& state) { scan(state, Scan::Mode::inclusive, false); }
void segmented_scan(benchmark::State& state) { scan(state, Scan::Mode::inclusive, true); }

void settle(benchmark::internal::Benchmark* benchmark) {
  benchmark->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(5);
}

}  // namespace

BENCHMARK(device_copy)->Apply(settle);
BENCHMARK(elementwise)->ArgName("chunks")->Arg(1)->Arg(4096)->Arg(65536)->Arg(1048576)->Arg(4194304)->Apply(settle);
BENCHMARK(reproducible_float_sum)->ArgName("chunks")->Arg(1)->Arg(65536)->Apply(settle);
BENCHMARK(fast_float_sum)->ArgName("chunks")->Arg(1)->Apply(settle);
BENCHMARK(integer_sum)->ArgName("chunks")->Arg(1)->Arg(65536)->Apply(settle);
BENCHMARK(float_extent)->ArgName("chunks")->Arg(1)->Apply(settle);
BENCHMARK(inclusive_scan)->ArgName("chunks")->Arg(1)->Arg(65536)->Apply(settle);
BENCHMARK(segmented_scan)->ArgName("chunks")->Arg(1)->Apply(settle);
BENCHMARK(histogram<std::uint32_t>)
    ->ArgNames({"chunks", "bins"})
    ->Args({1, 256})
    ->Args({65536, 256})
    ->Args({1, 65536})
    ->Apply(settle);
BENCHMARK(histogram<float>)->ArgNames({"chunks", "bins"})->Args({1, 256})->Apply(settle);
BENCHMARK_MAIN();
