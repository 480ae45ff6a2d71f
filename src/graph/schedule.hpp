#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/node_sink.hpp"

// From declared uses to order, scratch placement and barriers: pure functions on plain data, no Vulkan.
namespace tessera::detail {

/// A range of one resource that a node touches at one stage. Units are the resource's own: rows of an imported vector,
/// bytes of a buffer.
struct ResourceUse {
  std::uint32_t resource = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Access access = Access::read;
  Stage stage = Stage::compute;
};

struct ScheduleNode {
  std::string id;
  std::vector<ResourceUse> uses;
  std::vector<std::uint32_t> depends_on;  ///< explicit, indexes of nodes
};

/// What the scheduler must know of a resource. Transients are placed in one scratch allocation.
struct ScheduleResource {
  std::string id;
  bool transient = false;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint32_t stage_count = 3;
constexpr std::uint32_t bit_of(Stage stage) noexcept { return 1U << static_cast<std::uint32_t>(stage); }
inline constexpr std::uint32_t all_stages = bit_of(Stage::compute) | bit_of(Stage::indirect) | bit_of(Stage::transfer);
/// The indirect stage only reads.
inline constexpr std::uint32_t writing_stages = bit_of(Stage::compute) | bit_of(Stage::transfer);

/// Stages are bits `1 << Stage`. A barrier makes writes at `source_writes` available and visible to accesses at the
/// destination stages, and execution of the source stages finish before the destination stages begin. Masks of writes
/// and reads are subsets of the masks of stages beside them.
struct ScheduleBarrier {
  std::uint32_t source_stages = 0;
  std::uint32_t source_writes = 0;  ///< stages whose writes are made available
  std::uint32_t destination_stages = 0;
  std::uint32_t destination_reads = 0;   ///< stages whose reads see them
  std::uint32_t destination_writes = 0;  ///< stages whose writes see them
  friend bool operator==(const ScheduleBarrier&, const ScheduleBarrier&) = default;
};

struct ScheduleCommand {
  enum class Kind : std::uint8_t { node, barrier };
  Kind kind = Kind::node;
  std::uint32_t index = 0;
  friend bool operator==(const ScheduleCommand&, const ScheduleCommand&) = default;
};

/// Orders everything before it against everything after it: opens every encoding and every step.
inline constexpr ScheduleBarrier full_barrier{all_stages, writing_stages, all_stages, all_stages, writing_stages};

/// What the graph really recorded, in order, for tests to replay. A binding update writes the binding block at the
/// transfer stage; every node reads the block at the compute stage.
struct RecordedCommand {
  enum class Kind : std::uint8_t { node, barrier, binding_update };
  Kind kind = Kind::node;
  std::uint32_t node = 0;  ///< index into the node list
  ScheduleBarrier barrier;
};

/// Positions in `Schedule::order`, both included.
struct ScheduleLifetime {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  friend bool operator==(const ScheduleLifetime&, const ScheduleLifetime&) = default;
};

struct Schedule {
  std::vector<std::uint32_t> order;  ///< node indexes in execution order
  std::vector<std::uint32_t> round;  ///< per node; a barrier stands before every round but the first
  /// Per node, ascending: the nodes it waits for, by hazard or explicitly.
  std::vector<std::vector<std::uint32_t>> dependencies;
  std::vector<std::optional<ScheduleLifetime>> lifetimes;  ///< per resource that a node uses
  std::vector<ScheduleCommand> commands;  ///< nodes (by index into the node list) and barriers, in recording order
  std::vector<ScheduleBarrier> barriers;
  std::vector<std::optional<std::uint64_t>> placement;  ///< per resource: byte offset in scratch of a used transient
  std::uint64_t scratch_bytes = 0;
  std::uint64_t logical_transient_bytes = 0;
  std::uint64_t logical_transient_count = 0;
};

/// Derives order, placement and barriers. Deterministic.
///
/// Order: rounds of nodes whose dependencies are done, in declaration order. Conflicting uses keep the order of
/// declaration. Between two rounds stands exactly one barrier, whose stages are those that the hazards across it need
/// and no more (dropping any of them leaves a hazard open). Nodes of one round are independent. An explicit dependency
/// covers what uses do not tell: all that the first node writes is visible to all that the second does, at the stages
/// of their uses (at all stages for a node without uses). Leaving nodes out while keeping the barriers keeps the rest
/// right, since barriers chain.
///
/// Placement: by first use, each transient takes the smallest free slot that holds it, else grows the largest free one,
/// else opens a slot. A slot is free in the rounds after its last use. Slots follow one another at multiples of 256
/// bytes. A use of no bytes orders nothing. Accesses of earlier executions are ordered by the barrier that opens every
/// encoding, not here.
///
/// Time: O(n log n) in the uses, and linear in the dependencies.
/// Throws `dependency_cycle`; `unknown_id` (a resource or node that does not exist), `range_out_of_bounds` (beyond a
/// transient), `invalid_argument` (a write at the indirect stage), `limit_exceeded` (scratch beyond 64 bits).
Schedule make_schedule(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources);

}  // namespace tessera::detail
