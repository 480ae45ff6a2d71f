// CPU time of encoding and submitting a compiled graph of 100 dependent nodes again.
#include <chrono>

#include <benchmark/benchmark.h>

#include <tessera/ops/arithmetic.hpp>

#include "support/columns.hpp"

namespace {

using namespace tessera;

constexpr int node_count = 100;
// One after another without waiting, as an application in its stride does.
constexpr int replays = 50;

/// A chain of additions between two columns, the first read from an import of its own.
class Chain {
 public:
  explicit Chain(std::uint64_t chunks)
      : source_(bench::column(Format::uint32, rows(chunks), chunks, bench::Values::any_bits)) {
    Graph graph(bench::device());
    import_ = graph.import(source_);
    VectorView from = *import_;
    const VectorView scratch[] = {graph.transient_view(Format::uint32, source_.length()),
                                  graph.transient_view(Format::uint32, source_.length())};
    for (int node = 0; node < node_count; ++node) {
      const VectorView& to = scratch[node % 2];
      graph.add(Elementwise{.operation = Elementwise::Operation::add, .a = from, .b = from, .output = to});
      from = to;
    }
    compiled_ = graph.compile();
  }

  void replay(benchmark::State& state, bool rebinds) {
    const Vector other =
        bench::column(Format::uint32, source_.length(), source_.chunks().size(), bench::Values::any_bits);
    const Rebinding rebinding[] = {rebind(*import_, other)};
    const auto rebindings = rebinds ? std::span<const Rebinding>(rebinding) : std::span<const Rebinding>();
    for (int i = 0; i < 10; ++i) replay_in_stride(rebindings);  // clocks and caches
    double encoding = 0;
    for (auto _ : state) {
      const Cost cost = replay_in_stride(rebindings);
      state.SetIterationTime(cost.total / replays);
      encoding += cost.encoding;
    }
    state.counters["encode_us"] = encoding / replays / static_cast<double>(state.iterations()) * 1e6;
  }

 private:
  /// Seconds of CPU time.
  struct Cost {
    double total = 0;
    double encoding = 0;
  };

  Cost replay_in_stride(std::span<const Rebinding> rebindings) {
    Cost cost;
    Fence fence;
    for (int i = 0; i < replays; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Encoder encoder = bench::device().encoder();
      compiled_->encode(encoder, rebindings);
      const auto encoded = std::chrono::steady_clock::now();
      fence = bench::device().submit(std::move(encoder));
      cost.total += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      cost.encoding += std::chrono::duration<double>(encoded - start).count();
    }
    fence.wait();
    return cost;
  }

  static std::uint64_t rows(std::uint64_t chunks) { return chunks * 16; }

  Vector source_;
  std::optional<ImportedVector> import_;
  std::optional<CompiledGraph> compiled_;
};

void replay_unchanged(benchmark::State& state) { Chain(1).replay(state, false); }
void replay_rebound(benchmark::State& state) { Chain(static_cast<std::uint64_t>(state.range(0))).replay(state, true); }

}  // namespace

BENCHMARK(replay_unchanged)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(20);
BENCHMARK(replay_rebound)
    ->ArgName("chunks")
    ->Arg(1)
    ->Arg(65536)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(20);
BENCHMARK_MAIN();
