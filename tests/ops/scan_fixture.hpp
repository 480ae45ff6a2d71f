#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/graph/graph.hpp>
#include <tessera/ops/prefix.hpp>

#include "reference/columns.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {

using Words = std::vector<std::uint32_t>;

/// Which kernels a scan is made of; every one gives the same result.
struct Kernels {
  std::string strategy = "automatic";
  std::int64_t poll_limit = -1;

  std::string name() const {
    return strategy + (poll_limit < 0 ? "" : " with a poll limit of " + std::to_string(poll_limit));
  }
};
inline const std::vector<Kernels> every_kernel = {{"single_pass", -1}, {"single_pass", 0}, {"multi_pass", -1}};

class ScanFixture : public DeviceFixture {
 protected:
  static Operation with(const Scan& scan, const Kernels& kernels) {
    Request request = to_request(scan);
    request.option("strategy", kernels.strategy).option("poll_limit", kernels.poll_limit);
    return Operation::from_request(request);
  }

  static void execute(CompiledGraph& compiled, std::initializer_list<Rebinding> rebindings = {}) {
    Encoder encoder = device().encoder();
    compiled.encode(encoder, rebindings);
    device().submit(std::move(encoder)).wait();
  }

  /// One execution of a graph of one scan.
  static GraphStatistics run_scan(const Scan& scan, const Kernels& kernels = {}) {
    Graph graph(device());
    graph.add(with(scan, kernels));
    CompiledGraph compiled = graph.compile();
    execute(compiled);
    return compiled.statistics();
  }

  static Partition one_chunk(std::uint64_t rows) { return {"one chunk", {rows}}; }

  static Vector vector_of(const Words& values) { return tessera::upload<std::uint32_t>(device(), values); }

  static reference::ScanMode reference_mode(Scan::Mode mode) {
    return mode == Scan::Mode::inclusive ? reference::ScanMode::inclusive : reference::ScanMode::exclusive;
  }

  /// Flags with about one start in `distance` rows, also with values above 1.
  static Words random_flags(std::size_t rows, std::uint64_t seed, std::uint64_t distance) {
    RandomBits random(seed);
    Words flags(rows);
    for (std::uint32_t& flag : flags)
      if (random.below(distance) == 0) flag = static_cast<std::uint32_t>(random.next()) | 1U << random.below(32);
    return flags;
  }

  static Words random_words(std::size_t rows, std::uint64_t seed) {
    return random_values<std::uint32_t>(rows, seed, Spread::all_bits);
  }
};

}  // namespace tessera::test
