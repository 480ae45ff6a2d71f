#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <tessera/device/device.hpp>
#include <tessera/graph/graph.hpp>

// What the column benchmarks share: one device, random columns in any number of chunks, and times that include barriers
// and arguments.
namespace tessera::bench {

/// The device that `TESSERA_DEVICE` selects, opened once.
Device& device();

/// Rows of a full-size benchmark: 268,435,456, or 4,194,304 on a CPU-type device; `TESSERA_BENCH_ROWS` overrides it.
std::uint64_t full_rows();

/// What the values of a column look like.
enum class Values : std::uint8_t {
  any_bits,  ///< uint32 of any bits
  moderate,  ///< float32 in [-1, 1)
};

/// Chunk lengths of uneven sizes (none empty) around the mean that `chunks` gives, not multiples of anything; one chunk
/// is the whole.
std::vector<std::uint64_t> uneven_lengths(std::uint64_t rows, std::uint64_t chunks);

/// A column in one buffer, cut into chunks.
Vector column(Format format, std::uint64_t rows, std::uint64_t chunks, Values values);

/// Seconds of device work per execution, from the difference between many and few executions in one submission, so that
/// submission and waiting drop out.
double seconds_per_execution(CompiledGraph& graph);
/// Seconds that the graph's kernels alone take, by timestamps.
double kernel_seconds(CompiledGraph& graph);

/// Times a graph with manual time; reports bytes moved a second, and kernel time.
void run_graph(benchmark::State& state, const std::function<void(Graph&)>& build, std::uint64_t bytes);

}  // namespace tessera::bench
