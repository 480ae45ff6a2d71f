#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "graph/schedule.hpp"

// What stands in for the synchronization validation that addressed buffers escape: a second implementation of Vulkan's
// rules, naive on purpose and sharing no code with the scheduler. It looks at every pair of accesses and follows the
// barriers between them.
namespace tessera::test {

enum class ViolationKind {
  read_after_write,
  write_after_read,
  write_after_write,
  explicit_dependency,
  order,              ///< nodes missing, repeated, or not in an order that declarations and dependencies allow
  placement,          ///< a transient outside scratch, unaligned, or on memory that another one still needs
  layout,             ///< an image is not in the layout that a node or a barrier takes it to be in
  malformed_barrier,  ///< accesses at stages that the barrier does not name, a write at a stage that only reads
};

struct Violation {
  ViolationKind kind = ViolationKind::order;
  std::string first;   ///< id of a node, `binding update`, or of a resource
  std::string second;  ///< the same
  std::string detail;
};
std::ostream& operator<<(std::ostream& stream, const Violation& violation);

/// The declared side of a recording.
struct DeclaredGraph {
  const std::vector<detail::ScheduleNode>& nodes;
  const std::vector<detail::ScheduleResource>& resources;
  const std::vector<std::optional<std::uint64_t>>& placement;
};

/// Replays what was recorded, any number of encodings and steps one after another in the order of submission: each pair
/// of accesses to the same bytes of which one writes, and each pair of nodes with an explicit dependency, needs a
/// barrier or a chain of barriers. Accesses of earlier encodings count as accesses to the same memory.
std::vector<Violation> check_recording(const DeclaredGraph& graph, std::span<const detail::RecordedCommand> commands);

/// Order, placement and barriers of a whole schedule.
std::vector<Violation> check_schedule(const std::vector<detail::ScheduleNode>& nodes,
                                      const std::vector<detail::ScheduleResource>& resources,
                                      const detail::Schedule& schedule);

/// A schedule as one recording without an opening barrier; `skipped` (per node, or empty) are left out.
std::vector<detail::RecordedCommand> record(const detail::Schedule& schedule, const std::vector<bool>& skipped = {});

detail::RecordedCommand recorded_barrier(const detail::ScheduleBarrier& barrier);

}  // namespace tessera::test
