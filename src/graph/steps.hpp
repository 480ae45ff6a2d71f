#pragma once

#include <span>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "graph/node_sink.hpp"

namespace tessera::detail {

/// Cuts nodes, given by their cost in execution order, into steps: a step takes nodes until the next one would exceed a
/// limit or a limit is reached exactly. The first node of a step is always taken, and flagged where it exceeds a limit
/// alone. Nothing is reordered. A step also ends where a sum without a limit would leave 64 bits. Throws
/// `invalid_argument` for a limit of zero.
std::vector<ExecutionStep> plan_steps(std::span<const Workload> costs, const WorkBudget& budget);

}  // namespace tessera::detail
