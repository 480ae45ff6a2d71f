#pragma once

#include <vector>

#include "graph/compiled_state.hpp"

namespace tessera {

/// What one encoding did.
struct Encoding::State {
  std::shared_ptr<const detail::Program> program;
  std::uint64_t executed = 0;
  std::uint64_t skipped = 0;
  std::uint64_t barriers = 0;
  std::vector<NodeReport> reports;
  std::shared_ptr<detail::TimestampPool> timestamps;
  std::vector<std::uint32_t> first_query;  ///< per report: its begin, followed by its end; `no_index` for skipped nodes
  std::vector<std::uint8_t> host_conditions;  ///< per host scope: whether its body was recorded
  std::uint32_t first_command = 0;            ///< of the schedule
  std::uint32_t last_command = 0;             ///< behind the last
  bool updates_bindings = false;              ///< wrote the addresses of other bindings than the defaults
  bool restores_bindings = false;             ///< and put those of the defaults back
};

}  // namespace tessera

namespace tessera::detail {

/// A part of the schedule to record, and how.
struct EncodingRequest {
  std::span<const Rebinding> rebindings;
  const EncodeOptions& options;
  std::uint32_t first_command = 0;
  std::uint32_t last_command = 0;
  /// What an earlier step of the same execution decided; null when host conditions are evaluated now.
  const std::vector<std::uint8_t>* decided = nullptr;
};

/// Checks everything, then records.
Encoding encode(const std::shared_ptr<CompiledGraph::State>& graph, Encoder& encoder, const EncodingRequest& request);

/// When each node of a timed encoding began and how long it took, in schedule order; waits for its submission.
/// Throws `execution_order` when it was not submitted.
struct NodeSpan {
  double begin = 0;
  double nanoseconds = 0;
};
std::vector<NodeSpan> node_spans(const Encoding::State& encoding);

/// The commands of an encoding, the opening barrier and the updates of the binding block included. For tests.
std::vector<RecordedCommand> recorded_commands(const Encoding::State& encoding);

}  // namespace tessera::detail
