#pragma once

#include <cstdint>
#include <vector>

#include "graph/schedule.hpp"

namespace tessera::test {

struct RandomGraph {
  std::vector<detail::ScheduleNode> nodes;
  std::vector<detail::ScheduleResource> resources;
};

/// Explicit dependencies on nodes declared later may form cycles.
enum class ExplicitDependencies { none, backward, any };

struct RandomGraphShape {
  std::uint32_t nodes = 24;      ///< at most; at least 1
  std::uint32_t imports = 3;     ///< at most; at least 1
  std::uint32_t transients = 6;  ///< at most
  ExplicitDependencies dependencies = ExplicitDependencies::backward;
  std::uint32_t images = 0;  ///< of imported and of transient ones, each at most; with any there are render nodes
};

/// A graph of computing, copying, rendering and gated nodes, over slices of imports and transients, some of them used
/// by no node. The same for the same seed, everywhere.
RandomGraph random_graph(std::uint64_t seed, const RandomGraphShape& shape = {});

}  // namespace tessera::test
