#pragma once

#include <span>
#include <vector>

#include "support/barrier_oracle.hpp"

// The part of the oracle that knows images: a layout change is an access of its own, inside its barrier.
namespace tessera::test {

/// Every image in the right layout for each node, at rest in the end where it is imported, and a sufficient barrier for
/// each pair of accesses and layout changes.
void check_images(const DeclaredGraph& graph, std::span<const detail::RecordedCommand> commands,
                  std::vector<Violation>& violations);

/// Transient images in one place are of one class and never alive together; none loses contents that it had.
void check_image_placement(const std::vector<detail::ScheduleNode>& nodes,
                           const std::vector<detail::ScheduleResource>& resources, const detail::Schedule& schedule,
                           std::vector<Violation>& violations);

}  // namespace tessera::test
