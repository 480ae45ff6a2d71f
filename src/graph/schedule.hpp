#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tessera/graph/images.hpp>

#include "graph/node_sink.hpp"

// From declared uses to order, scratch placement and barriers: pure functions on plain data, no Vulkan.
namespace tessera::detail {

/// A range of one resource that a node touches at one stage. Units are the resource's own: rows of an imported vector,
/// bytes of a buffer. An image is one unit, 0 to 1.
struct ResourceUse {
  std::uint32_t resource = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Access access = Access::read;
  Stage stage = Stage::compute;
  std::optional<ImageLayout> layout{};  ///< of an image, and of images only
};

struct ScheduleNode {
  std::string id;
  std::vector<ResourceUse> uses;
  std::vector<std::uint32_t> depends_on;  ///< explicit, indexes of nodes
};

/// What the scheduler must know of a resource. Transient buffers are placed in one scratch allocation; transient images
/// of one class may be one image, one after another.
struct ScheduleResource {
  std::string id;
  bool transient = false;
  std::uint64_t bytes = 0;
  std::uint32_t image_class = 0;  ///< 0 for a buffer
};

inline constexpr std::uint32_t stage_count = 6;
constexpr std::uint32_t bit_of(Stage stage) noexcept { return 1U << static_cast<std::uint32_t>(stage); }
/// Stages of computing and copying: all that a queue without rendering has.
inline constexpr std::uint32_t all_stages = bit_of(Stage::compute) | bit_of(Stage::indirect) | bit_of(Stage::transfer);
inline constexpr std::uint32_t every_stage = (1U << stage_count) - 1;
inline constexpr std::uint32_t writing_stages = bit_of(Stage::compute) | bit_of(Stage::transfer) | bit_of(Stage::color);
/// The layout in which imported images enter an execution and leave it.
inline constexpr ImageLayout resting_image_layout = ImageLayout::general;

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

/// Part of a barrier: orders accesses to one image, and changes its layout in between. Where nothing in this execution
/// came before, one source stage links it to the barrier that opens every encoding.
struct ImageBarrier {
  std::uint32_t resource = 0;
  ImageLayout before = ImageLayout::undefined;  ///< `undefined` drops the contents
  ImageLayout after = ImageLayout::undefined;
  ScheduleBarrier masks;
  friend bool operator==(const ImageBarrier&, const ImageBarrier&) = default;
};

struct ScheduleCommand {
  enum class Kind : std::uint8_t { node, barrier };
  Kind kind = Kind::node;
  std::uint32_t index = 0;
  friend bool operator==(const ScheduleCommand&, const ScheduleCommand&) = default;
};

/// Orders everything before it against everything after it: opens every encoding and every step.
inline constexpr ScheduleBarrier full_barrier{every_stage, writing_stages, every_stage, every_stage, writing_stages};

/// What the graph really recorded, in order, for tests to replay. A binding update writes the binding block at the
/// transfer stage; every node reads the block at the compute stage.
struct RecordedCommand {
  enum class Kind : std::uint8_t { node, barrier, binding_update };
  Kind kind = Kind::node;
  std::uint32_t node = 0;  ///< index into the node list
  ScheduleBarrier barrier;
  std::vector<ImageBarrier> images{};  ///< of a barrier
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
  std::vector<std::vector<ImageBarrier>> image_barriers;  ///< per barrier; empty for a graph without images
  /// Per resource that is a used transient: a buffer's byte offset in scratch, an image's physical image.
  std::vector<std::optional<std::uint64_t>> placement;
  std::uint64_t scratch_bytes = 0;
  std::uint64_t logical_transient_bytes = 0;
  std::uint64_t logical_transient_count = 0;
  std::vector<std::uint32_t> physical_images;  ///< per physical image: the first resource that is placed in it
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
/// Images are ordered and synchronized each by itself. Besides conflicts, a node that needs an image in another layout
/// waits for all that need it in the layout before. Accesses that only read in one layout share a barrier, which stands
/// in front of the first of them and names the stages of all. A barrier behind the last round takes imported images
/// back to the layout in which they came; there may be one in front of the first round as well.
///
/// Placement: by first use, each transient takes the smallest free slot that holds it, else grows the largest free one,
/// else opens a slot. A slot is free in the rounds after its last use. Slots follow one another at multiples of 256
/// bytes. A transient image takes the first free image of its class, else opens one. A use of no bytes orders nothing.
/// Accesses of earlier executions are ordered by the barrier that opens every encoding, not here.
///
/// Time: O(n log n) in the uses, and linear in the dependencies.
/// Throws `dependency_cycle`; `unknown_id` (a resource or node that does not exist), `range_out_of_bounds` (beyond a
/// transient), `invalid_argument` (a write at a stage that only reads, an image in two layouts in one node),
/// `limit_exceeded` (scratch beyond 64 bits).
Schedule make_schedule(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources);

}  // namespace tessera::detail
