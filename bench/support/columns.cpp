#include "support/columns.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

namespace tessera::bench {
namespace {

std::vector<std::uint32_t> random_block(Values values) {
  std::mt19937_64 engine(values == Values::any_bits ? 1 : 2);
  std::vector<std::uint32_t> block(std::size_t{1} << 22);
  for (std::uint32_t& word : block) {
    const auto bits = static_cast<std::uint32_t>(engine());
    const float value = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-31F;
    word = values == Values::any_bits ? bits : std::bit_cast<std::uint32_t>(value);
  }
  return block;
}

double seconds_of(CompiledGraph& graph, int executions) {
  Encoder encoder = device().encoder();
  for (int i = 0; i < executions; ++i) graph.encode(encoder);
  const auto start = std::chrono::steady_clock::now();
  device().submit(std::move(encoder)).wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Device& device() {
  static Device instance = Device::open(DeviceSelector::from_environment());
  return instance;
}

std::uint64_t full_rows() {
  if (const char* rows = std::getenv("TESSERA_BENCH_ROWS")) return std::strtoull(rows, nullptr, 10);
  return device().info().type == DeviceType::cpu ? std::uint64_t{1} << 22 : std::uint64_t{1} << 28;
}

std::vector<std::uint64_t> uneven_lengths(std::uint64_t rows, std::uint64_t chunks) {
  if (chunks <= 1) return {rows};
  std::mt19937_64 engine(chunks);
  const std::uint64_t mean = rows / chunks;
  std::vector<std::uint64_t> lengths;
  std::uint64_t left = rows;
  for (std::uint64_t i = 0; i + 1 < chunks; ++i) {
    const std::uint64_t fair = (left - (chunks - i - 1)) / (chunks - i);
    const std::uint64_t length =
        std::clamp<std::uint64_t>(fair / 2 + engine() % (mean + 1), 1, left - (chunks - i - 1));
    lengths.push_back(length);
    left -= length;
  }
  lengths.push_back(left);
  return lengths;
}

Vector column(Format format, std::uint64_t rows, std::uint64_t chunks, Values values) {
  Buffer buffer = device().allocate(rows * size_of(format), {.name = "column"});
  const std::vector<std::uint32_t> block = random_block(values);
  const auto bytes = std::as_bytes(std::span(block));
  for (std::uint64_t offset = 0; offset < buffer.size(); offset += bytes.size())
    device().write(buffer, offset, bytes.first(std::min<std::uint64_t>(bytes.size(), buffer.size() - offset)));
  std::vector<Chunk> list;
  std::uint64_t offset = 0;
  for (const std::uint64_t length : uneven_lengths(rows, chunks)) {
    list.push_back({.buffer = buffer, .byte_offset = offset, .length = length});
    offset += length * size_of(format);
  }
  return Vector(format, std::move(list));
}

double seconds_per_execution(CompiledGraph& graph) {
  seconds_of(graph, 1);
  const double once = std::max(seconds_of(graph, 1), 1e-6);
  const int executions = static_cast<int>(std::clamp(0.05 / once, 2.0, 200.0));
  return (seconds_of(graph, 2 * executions) - seconds_of(graph, executions)) / executions;
}

double kernel_seconds(CompiledGraph& graph) {
  Encoder encoder = device().encoder();
  const Encoding encoding =
      graph.encode(encoder, std::span<const Rebinding>(), {.parameters = {}, .timing = Timing::per_node});
  device().submit(std::move(encoder)).wait();
  const std::vector<double> nanoseconds = encoding.node_nanoseconds();
  return std::accumulate(nanoseconds.begin(), nanoseconds.end(), 0.0) * 1e-9;
}

void run_graph(benchmark::State& state, const std::function<void(Graph&)>& build, std::uint64_t bytes) {
  Graph graph(device());
  build(graph);
  CompiledGraph compiled = graph.compile();
  // The first executions over new tables of millions of chunks take several times as long as later ones.
  for (int i = 0; i < 3; ++i) seconds_per_execution(compiled);
  double kernels = 1e9;
  for (auto _ : state) {
    state.SetIterationTime(std::max(seconds_per_execution(compiled), 1e-9));
    kernels = std::min(kernels, kernel_seconds(compiled));
  }
  state.counters["bandwidth"] = benchmark::Counter(
      static_cast<double>(bytes), benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  state.counters["kernel_ms"] = kernels * 1e3;
  state.counters["dispatches"] = static_cast<double>(compiled.statistics().dispatch_count);
}

}  // namespace tessera::bench
