#include <algorithm>
#include <utility>

#include "device/internal.hpp"
#include "graph/access_tables.hpp"
#include "graph/arena.hpp"
#include "graph/bindings.hpp"
#include "graph/compiled_images.hpp"
#include "graph/encoding_context.hpp"
#include "graph/encoding_state.hpp"
#include "graph/recording.hpp"
#include "graph/reject.hpp"

namespace tessera::detail {
namespace {

/// A new version of a long table whose bytes the device copies from host-visible memory.
struct TableCopy {
  Buffer staging;
  std::shared_ptr<const TableVersion> version;
};

/// One encoding: checks first, then memory, then commands, so that a rejected one leaves no trace.
class EncodingRun {
 public:
  EncodingRun(const std::shared_ptr<CompiledGraph::State>& graph, Encoder& encoder, const EncodingRequest& request)
      : graph_(*graph),
        owner_(graph),
        program_(*graph->program),
        public_encoder_(encoder),
        encoder_(encoder.state()),
        request_(request),
        bindings_(graph->program->defaults),
        block_(&graph->default_block),
        image_sets_(graph->image_sets) {}

  Encoding run();

 private:
  void check();
  void decide_host_conditions();
  void rebind_tables();
  void rebind_table(std::uint32_t table, std::shared_ptr<const TableVersion>* known);
  void retain_bindings();
  void record();
  bool rebound() const { return block_ != &graph_.default_block; }
  void record_binding_block();
  void update_binding_block(const std::vector<std::uint64_t>& block);
  void restore_binding_block();
  void record_access_tables();
  void record_segments();
  bool submits_prepared() const;
  void count_segments();
  void record_inline();
  void record_commands(NodeRecorder& recorder, std::uint32_t first, std::uint32_t last);
  void record_node(NodeRecorder& recorder, std::uint32_t node);
  void record_callback(std::uint32_t node);
  void rebind_images();
  RecordedMemory memory() const { return {bindings_, image_sets_}; }
  bool names_rebound_memory(const Segment& segment) const;
  void report(std::uint32_t node, bool executed);
  bool runs(std::uint32_t host_scope) const {
    return host_scope == no_index || state_->host_conditions[host_scope] != 0;
  }

  CompiledGraph::State& graph_;
  const std::shared_ptr<CompiledGraph::State>& owner_;
  const Program& program_;
  Encoder& public_encoder_;
  EncoderState& encoder_;
  const EncodingRequest& request_;
  std::span<const ImportBinding> bindings_;
  const std::vector<std::uint64_t>* block_;
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  std::vector<TableCopy> copies_;
  std::vector<std::shared_ptr<const TableVersion>> versions_;
  std::span<const VkDescriptorSet> image_sets_;
  ReboundImages rebound_images_;
  std::shared_ptr<Encoding::State> state_ = std::make_shared<Encoding::State>();
  std::uint32_t next_query_ = 0;
};

Encoding EncodingRun::run() {
  check();
  state_->program = graph_.program;
  state_->first_command = request_.first_command;
  state_->last_command = request_.last_command;
  decide_host_conditions();
  rebind_tables();
  if (!program_.image_dispatches.empty()) rebind_images();
  const bool timed = request_.options.timing == Timing::per_node;
  if (timed) {
    const auto nodes = static_cast<std::uint32_t>(std::max<std::size_t>(1, program_.parts.nodes.size()));
    state_->timestamps = std::make_shared<TimestampPool>(program_.device.state(), 2 * nodes);
  }
  if (timed || !program_.parts.host_scopes.empty()) state_->reports.reserve(program_.parts.nodes.size());
  record();
  return Encoding(std::move(state_));
}

void EncodingRun::check() {
  encoder_.require_open("encode");
  if (encoder_.device() != program_.device.state()) {
    reject(ErrorCode::foreign_device, "encode", "encoder", "the encoder is of the graph's device");
  }
  if (request_.rebindings.empty() && graph_.defaults_complete) return;
  check_rebindings(graph_, request_.rebindings);
  bindings_ = graph_.bindings.imports;
}

void EncodingRun::decide_host_conditions() {
  const std::vector<HostScope>& scopes = program_.parts.host_scopes;
  if (request_.decided != nullptr) {
    state_->host_conditions = *request_.decided;
    return;
  }
  // Scopes are declared from the outside in. What stands inside a body that is left out is not asked.
  state_->host_conditions.resize(scopes.size());
  for (std::size_t index = 0; index < scopes.size(); ++index) {
    if (!runs(scopes[index].parent)) continue;
    state_->host_conditions[index] = scopes[index].evaluate(request_.options.parameters) ? 1 : 0;
  }
}

void EncodingRun::rebind_tables() {
  if (bindings_.data() == program_.defaults.data()) return;
  graph_.block = graph_.default_block;
  block_ = &graph_.block;
  for (const std::uint32_t import : graph_.bindings.changed) {
    KnownBinding* known = find_known(graph_, import, bindings_[import]);
    const std::vector<std::uint32_t>& tables = program_.usage[import].tables;
    for (std::size_t index = 0; index < tables.size(); ++index) {
      rebind_table(tables[index], known != nullptr ? &known->versions[index] : nullptr);
    }
  }
}

void EncodingRun::rebind_table(std::uint32_t table, std::shared_ptr<const TableVersion>* known) {
  const TablePlace& place = program_.table_places[table];
  const ChunkList& list = *program_.parts.tables[table];
  if (place.external == no_index) {
    write_addresses(graph_, list, bindings_, graph_.block.data() + place.address_word);
    return;
  }
  // A table that joins chunks of several imports depends on all of their bindings.
  const std::uint32_t import = program_.parts.resources[list.chunks.front().resource].import;
  const bool reusable = known != nullptr && import != no_index && program_.parts.imports[import].shape.get() == &list;
  if (reusable && *known != nullptr) {
    graph_.block[place.slot_word] = (*known)->buffer.address();
    versions_.push_back(*known);
    return;
  }
  const std::uint64_t bytes = list.chunks.size() * 8;
  std::shared_ptr<const TableVersion> version = graph_.pool->take(bytes);
  const std::span<std::byte> mapped = version->buffer.mapped();
  if (mapped.empty()) {
    Buffer staging = encoder_.staging(bytes);
    write_addresses(graph_, list, bindings_, reinterpret_cast<std::uint64_t*>(staging.mapped().data()));
    copies_.push_back({.staging = std::move(staging), .version = version});
  } else {
    write_addresses(graph_, list, bindings_, reinterpret_cast<std::uint64_t*>(mapped.data()));
    if (reusable) *known = version;
  }
  graph_.block[place.slot_word] = version->buffer.address();
  versions_.push_back(std::move(version));
}

void EncodingRun::retain_bindings() {
  encoder_.retain(owner_);
  for (const Rebinding& rebinding : request_.rebindings) {
    if (rebinding.vector) {
      encoder_.retain(rebinding.vector->chunk_list());
      if (rebinding.vector->count()) encoder_.retain(rebinding.vector->count()->buffer.state());
    } else if (rebinding.image) {
      encoder_.retain(rebinding.image.state());
    } else {
      encoder_.retain(rebinding.buffer.state());
    }
  }
  for (auto& version : versions_) encoder_.retain(std::move(version));
  if (rebound_images_.descriptors) encoder_.retain(rebound_images_.descriptors);
  if (state_->timestamps) encoder_.retain(state_->timestamps);
}

void EncodingRun::rebind_images() {
  if (bindings_.data() == program_.defaults.data()) return;
  rebound_images_ = rebind_image_sets(graph_, graph_.bindings);
  if (rebound_images_.descriptors) image_sets_ = rebound_images_.sets;
}

bool EncodingRun::names_rebound_memory(const Segment& segment) const {
  if (segment.commands == nullptr) return true;
  if (segment.fixed_imports.empty() || bindings_.data() == program_.defaults.data()) return false;
  const std::vector<std::uint32_t>& changed = graph_.bindings.changed;
  return std::any_of(changed.begin(), changed.end(), [&](std::uint32_t import) {
    return std::binary_search(segment.fixed_imports.begin(), segment.fixed_imports.end(), import);
  });
}

void EncodingRun::record() {
  if (submits_prepared()) {
    retain_bindings();
    if (!graph_.prepared) graph_.prepared = prepare_segments(graph_);
    encoder_.adopt(graph_.prepared);
    count_segments();
    return;
  }
  commands_ = encoder_.commands();
  retain_bindings();
  encoder_.begin_external_work();
  encoder_.mark_external_work();
  record_binding_block();
  const bool whole = request_.first_command == 0 && request_.last_command == program_.schedule.commands.size();
  if (whole && !state_->timestamps) {
    record_segments();
  } else {
    record_inline();
  }
  restore_binding_block();
}

/// The arena holds the addresses of the default bindings, so an encoding without others has nothing to write.
/// Everything earlier is ordered before this: by the encoder's barrier, or by the one that ends every submission.
void EncodingRun::record_binding_block() {
  for (const TableCopy& copy : copies_) {
    const BufferState& source = *copy.staging.state();
    const BufferState& target = *copy.version->buffer.state();
    const VkBufferCopy region{.srcOffset = source.offset, .dstOffset = target.offset, .size = target.size};
    encoder_.device()->functions().vkCmdCopyBuffer(commands_, source.buffer, target.buffer, 1, &region);
  }
  state_->updates_bindings = rebound() && !block_->empty();
  if (state_->updates_bindings) update_binding_block(*block_);
  if (access_is_checked) record_access_tables();
  if (state_->updates_bindings || access_is_checked) {
    encoder_.barrier(VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT, VK_ACCESS_2_TRANSFER_WRITE_BIT,
                     VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT, VK_ACCESS_2_SHADER_STORAGE_READ_BIT);
  }
}

void EncodingRun::update_binding_block(const std::vector<std::uint64_t>& block) {
  const BufferState& arena = *graph_.arena.state();
  const std::uint64_t bytes = block.size() * 8;
  for (std::uint64_t offset = 0; offset < bytes; offset += largest_update_bytes) {
    encoder_.device()->functions().vkCmdUpdateBuffer(commands_, arena.buffer, arena.offset + offset,
                                                     std::min(largest_update_bytes, bytes - offset),
                                                     reinterpret_cast<const std::byte*>(block.data()) + offset);
  }
}

/// Encodings may be submitted in another order than they were made in: each leaves the default addresses behind.
void EncodingRun::restore_binding_block() {
  state_->restores_bindings = state_->updates_bindings && graph_.defaults_complete;
  if (!state_->restores_bindings) return;
  encoder_.barrier(VK_PIPELINE_STAGE_2_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                   VK_ACCESS_2_TRANSFER_WRITE_BIT, VK_PIPELINE_STAGE_2_ALL_TRANSFER_BIT,
                   VK_ACCESS_2_TRANSFER_WRITE_BIT);
  update_binding_block(graph_.default_block);
}

void EncodingRun::record_access_tables() {
  const std::uint64_t bytes = program_.access_bytes;
  if (bytes == 0) return;
  Buffer staging = encoder_.staging(bytes);
  write_access_tables(graph_, bindings_, *block_, staging.mapped().data());
  const BufferState& source = *staging.state();
  const BufferState& target = *graph_.access_tables.state();
  const VkBufferCopy region{.srcOffset = source.offset, .dstOffset = target.offset, .size = bytes};
  encoder_.device()->functions().vkCmdCopyBuffer(commands_, source.buffer, target.buffer, 1, &region);
}

void EncodingRun::record_segments() {
  const DeviceFunctions& functions = encoder_.device()->functions();
  std::vector<VkCommandBuffer>& batch = graph_.batch;
  batch.clear();
  const auto flush = [&] {
    if (!batch.empty())
      functions.vkCmdExecuteCommands(commands_, static_cast<std::uint32_t>(batch.size()), batch.data());
    batch.clear();
  };
  const bool reported = !program_.parts.host_scopes.empty();
  for (const Segment& segment : graph_.segments) {
    const bool recorded = runs(segment.host_scope);
    (recorded ? state_->executed : state_->skipped) += segment.nodes;
    state_->barriers += segment.barriers;
    if (reported) {
      for (std::uint32_t place = segment.first_command; place < segment.last_command; ++place) {
        const ScheduleCommand& command = program_.schedule.commands[place];
        if (command.kind == ScheduleCommand::Kind::node) report(command.index, recorded);
      }
    }
    if (!recorded) continue;
    if (segment.callback != no_index) {
      flush();
      record_callback(segment.callback);
    } else if (names_rebound_memory(segment)) {
      flush();
      NodeRecorder recorder(graph_, commands_, memory());
      record_commands(recorder, segment.first_command, segment.last_command);
    } else {
      batch.push_back(segment.commands->handle());
      // The validation layer knows layouts from call to call, not from one command buffer of a call to the next.
      if (!program_.parts.images.empty()) flush();
    }
  }
  flush();
}

/// Whether the encoding is what any other is, and alone in its encoder so far.
bool EncodingRun::submits_prepared() const {
  const bool whole = request_.first_command == 0 && request_.last_command == program_.schedule.commands.size();
  return whole && !rebound() && !state_->timestamps && !access_is_checked && encoder_.takes_prepared() &&
         program_.parts.images.empty() && !graph_.segments.empty() &&
         std::all_of(graph_.segments.begin(), graph_.segments.end(), [](const Segment& segment) {
           return segment.commands != nullptr && segment.host_scope == no_index && segment.callback == no_index;
         });
}

void EncodingRun::count_segments() {
  for (const Segment& segment : graph_.segments) {
    state_->executed += segment.nodes;
    state_->barriers += segment.barriers;
  }
}

/// Commands without callbacks.
void EncodingRun::record_commands(NodeRecorder& recorder, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t place = first; place < last; ++place) {
    const ScheduleCommand& command = program_.schedule.commands[place];
    if (command.kind == ScheduleCommand::Kind::barrier) {
      recorder.barrier(command.index);
    } else {
      recorder.node(command.index);
    }
  }
}

void EncodingRun::record_inline() {
  NodeRecorder recorder(graph_, commands_, memory());
  const std::vector<ImageBarrier> resumed = images_resumed_at(program_, request_.first_command);
  if (!resumed.empty()) recorder.image_barriers(resumed);
  if (state_->timestamps) state_->timestamps->reset(commands_, 0, state_->timestamps->count());
  for (std::uint32_t place = request_.first_command; place < request_.last_command; ++place) {
    const ScheduleCommand& command = program_.schedule.commands[place];
    if (command.kind == ScheduleCommand::Kind::barrier) {
      recorder.barrier(command.index);
      ++state_->barriers;
      continue;
    }
    const bool recorded = runs(program_.parts.nodes[command.index].host_scope);
    ++(recorded ? state_->executed : state_->skipped);
    report(command.index, recorded);
    if (recorded) record_node(recorder, command.index);
  }
  const std::vector<ImageBarrier> paused = images_paused_at(program_, request_.last_command);
  if (!paused.empty()) recorder.image_barriers(paused);
}

void EncodingRun::record_node(NodeRecorder& recorder, std::uint32_t node) {
  const auto stamp = [&] {
    if (!state_->timestamps) return;
    state_->timestamps->write(commands_, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, next_query_++);
  };
  if (state_->timestamps) state_->first_query.back() = next_query_;
  stamp();
  if (program_.parts.nodes[node].has_callback()) {
    record_callback(node);
    recorder.forget();
  } else {
    recorder.node(node);
  }
  stamp();
}

/// A custom node's commands stand between full barriers: what they do beyond the declared uses is its affair alone.
/// What a render node can do is known.
void EncodingRun::record_callback(std::uint32_t node) {
  const GraphNode& entry = program_.parts.nodes[node];
  const EncodingContext context(graph_, bindings_, request_.options.parameters, program_.parts.uses_of(entry));
  if (entry.render != no_index) {
    record_render(program_.parts.renders[entry.render].node, public_encoder_, context);
    return;
  }
  encoder_.mark_external_work();
  program_.parts.customs[entry.custom].node.record(public_encoder_, context);
  encoder_.begin_external_work();
  encoder_.mark_external_work();
}

void EncodingRun::report(std::uint32_t node, bool executed) {
  if (program_.parts.host_scopes.empty() && !state_->timestamps) return;
  const GraphNode& entry = program_.parts.nodes[node];
  const NodeOutcome outcome = !executed     ? NodeOutcome::skipped
                              : entry.gated ? NodeOutcome::resolved_on_device
                                            : NodeOutcome::executed;
  state_->reports.push_back({.id = entry.id, .outcome = outcome});
  if (state_->timestamps) state_->first_query.push_back(no_index);
}

}  // namespace

Encoding encode(const std::shared_ptr<CompiledGraph::State>& graph, Encoder& encoder, const EncodingRequest& request) {
  return EncodingRun(graph, encoder, request).run();
}

}  // namespace tessera::detail
