#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "graph/node_sink.hpp"
#include "graph/schedule.hpp"

// A compiled graph as plain data for people and tools, and its exports. Names in the exports are stable.
namespace tessera::detail {

struct InspectedResource {
  enum class Kind : std::uint8_t {
    imported_vector,
    imported_buffer,
    declared_vector,
    declared_buffer,
    transient,
    imported_image,
    declared_image,
    transient_image
  };

  std::string id;
  Kind kind = Kind::transient;
  std::uint64_t bytes = 0;
  std::string format;        ///< of a vector's rows or an image's texels; empty for a buffer
  std::uint64_t rows = 0;    ///< of a vector
  std::uint64_t chunks = 0;  ///< of a vector
  std::uint32_t width = 0;   ///< of an image
  std::uint32_t height = 0;
  std::string usage{};

  /// Uses of vectors count rows, those of buffers bytes.
  bool is_vector() const noexcept { return kind == Kind::imported_vector || kind == Kind::declared_vector; }
  bool is_image() const noexcept { return kind >= Kind::imported_image; }
};

struct InspectedNode {
  enum class Kind : std::uint8_t { dispatch, custom, render, image_transfer };
  /// Where group counts are read from.
  struct Indirect {
    std::uint32_t resource = 0;
    std::uint64_t byte_offset = 0;
  };

  std::string id;
  Kind kind = Kind::dispatch;
  std::string module;
  std::vector<std::uint32_t> constants;
  std::array<std::uint32_t, 3> groups{
      1, 1, 1};  ///< of a dispatch that is not indirect; the most of one that a condition gates
  std::optional<Indirect> indirect;
  std::vector<ResourceUse> uses;
  Workload workload;
  std::string note;
  std::vector<std::string> host_conditions;  ///< ids, outermost first
  bool gated = false;                        ///< by a condition on the device
};

struct GraphInspection {
  std::string device;
  std::vector<InspectedResource> resources;  ///< indexed as in the schedule
  std::vector<InspectedNode> nodes;          ///< indexed as in the schedule, that is in declaration order
  Schedule schedule;
  GraphStatistics statistics;
};

/// When a node ran; counted from any origin that all nodes share.
struct NodeTime {
  double begin_nanoseconds = 0;
  double nanoseconds = 0;
  NodeOutcome outcome = NodeOutcome::executed;
};

/// An object with `"schema": 1`: resources, nodes in schedule order, commands, barriers, statistics. Text that is not
/// UTF-8 is repaired.
std::string inspection_json(const GraphInspection& inspection);

/// A Graphviz digraph: one cluster per round with the barrier in front of it, one edge per dependency.
std::string inspection_dot(const GraphInspection& inspection);

/// Times where only durations are known, each node beginning where the last one ended. `outcomes` may be empty: all
/// executed.
std::vector<NodeTime> consecutive_times(std::span<const double> nanoseconds, std::span<const NodeReport> outcomes);

/// Trace events for `chrome://tracing` and Perfetto; `times` has one entry per node in schedule order. Skipped nodes
/// are instants. Throws `invalid_argument` for another count, a duration below zero or a time that is not finite.
std::string inspection_chrome_trace(const GraphInspection& inspection, std::span<const NodeTime> times);

}  // namespace tessera::detail
