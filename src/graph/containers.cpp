#include <tessera/graph/operation.hpp>

#include <cstddef>
#include <utility>

#include "graph/graph_sink.hpp"
#include "graph/node_records.h"
#include "graph/reject.hpp"

namespace tessera {
namespace detail {
namespace {

constexpr std::uint32_t gate_workgroup_size = 64;

void require_word(const DataView& view, std::string_view operation, std::string_view operand) {
  if (view.format != Format::uint32 || view.length != 1) {
    reject(ErrorCode::format_mismatch, operation, operand, "it is one uint32",
           values_of("format", name_of(view.format), "rows", view.length));
  }
}

/// One round's gate: what it reads and writes besides the body's word and group counts.
struct Gate {
  const ConditionBody& body;
  ConstantReference geometry;
  std::optional<DataView> predicate;
  std::optional<DataView> iterations;
  std::optional<GraphBuffer> history;  ///< two words that rounds write in turn
  std::uint32_t round = 0;
};

void add_gate(GraphSink& sink, const Gate& gate) {
  GateRecord record{};
  record.count = static_cast<uint>(gate.body.geometry.size());
  record.round = gate.round;
  const std::uint64_t former = std::uint64_t{4} * ((gate.round + 1) % 2);
  const std::uint64_t current = std::uint64_t{4} * (gate.round % 2);
  if (gate.history) {
    record.current = current;
    if (gate.round > 0) record.former = former;
  }

  Dispatch dispatch{
      .name = "gate", .module = "gate", .constants = {gate_workgroup_size}, .arguments = ArgumentRecord(record)};
  ArgumentRecord& arguments = dispatch.arguments;
  dispatch.gating = Gating::by_operation;
  dispatch.groups = fold_workgroups((record.count + gate_workgroup_size - 1) / gate_workgroup_size,
                                    sink.device().limits(), sink.path());
  const auto use_words = [&](const GraphBuffer& buffer, std::uint64_t offset, std::uint64_t bytes, Access access) {
    dispatch.buffer_uses.push_back({.buffer = buffer, .offset = offset, .bytes = bytes, .access = access});
  };
  if (const std::optional<DataView> parent = sink.condition()) {
    arguments.relocate_transient(offsetof(GateRecord, parent), parent->buffer);
  }
  if (gate.predicate) {
    sink.bind(dispatch, offsetof(GateRecord, predicate), VectorView(*gate.predicate), Access::read);
  }
  if (gate.iterations) {
    sink.bind(dispatch, offsetof(GateRecord, iterations), VectorView(*gate.iterations), Access::write);
  }
  if (gate.history) {
    arguments.relocate_transient(offsetof(GateRecord, current), *gate.history);
    use_words(*gate.history, current, 4, Access::write);
    if (gate.round > 0) {
      arguments.relocate_transient(offsetof(GateRecord, former), *gate.history);
      use_words(*gate.history, former, 4, Access::read);
    }
  }
  arguments.relocate_transient(offsetof(GateRecord, word), gate.body.word.buffer);
  use_words(gate.body.word.buffer, 0, 4, Access::write);
  if (record.count > 0) {
    arguments.relocate_transient(offsetof(GateRecord, groups), gate.body.groups);
    arguments.relocate(offsetof(GateRecord, geometry), gate.geometry);
    use_words(gate.body.groups, 0, std::uint64_t{record.count} * 12, Access::write);
  }
  sink.dispatch(std::move(dispatch));
}

/// An id and a type name, common to every container.
template <class Part>
class ContainerLowering : public Lowering {
 public:
  ContainerLowering(Part part, std::string_view type) : part_(std::move(part)), type_(type) {}
  std::string name() const override { return part_.id.empty() ? std::string(type_) : part_.id; }
  std::string id() const override { return part_.id; }

 protected:
  const Part& part() const noexcept { return part_; }

 private:
  Part part_;
  std::string_view type_;
};

class CompositeLowering final : public ContainerLowering<Composite> {
 public:
  explicit CompositeLowering(const Composite& part) : ContainerLowering(part, {}) {}
  void lower(NodeSink& sink) const override { graph_sink(sink).add(part().operations); }
};

class ConditionalLowering final : public ContainerLowering<Conditional> {
 public:
  explicit ConditionalLowering(const Conditional& part) : ContainerLowering(part, "conditional") {}
  void lower(NodeSink& target) const override {
    GraphSink& sink = graph_sink(target);
    require_word(part().predicate, sink.path(), "predicate");
    const std::size_t first = sink.node_count();
    ConditionBody body = sink.open_condition();
    sink.add_conditional(body, part().body);
    const std::size_t last = sink.node_count();
    // The gate stands first, but what it writes is known only once the body is lowered.
    add_gate(sink, {.body = body,
                    .geometry = sink.close_condition(body),
                    .predicate = part().predicate,
                    .iterations = {},
                    .history = {}});
    sink.move_last_before(first, last);
  }
};

class LoopLowering final : public ContainerLowering<Loop> {
 public:
  explicit LoopLowering(const Loop& part) : ContainerLowering(part, "loop") {}
  void lower(NodeSink& target) const override {
    GraphSink& sink = graph_sink(target);
    require_valid(sink.path());
    if (part().predicate) {
      lower_gated(sink);
    } else {
      lower_unconditional(sink);
    }
  }

 private:
  void require_valid(const std::string& path) const {
    const Loop& loop = part();
    if (loop.maximum_iterations < 1 || loop.minimum_iterations > loop.maximum_iterations) {
      reject(ErrorCode::invalid_argument, path, "maximum_iterations",
             "a loop has at least one round, and not fewer than its minimum",
             values_of("minimum", loop.minimum_iterations, "maximum", loop.maximum_iterations));
    }
    if (loop.predicate) require_word(*loop.predicate, path, "predicate");
    if (loop.iterations) require_word(*loop.iterations, path, "iterations");
    if (loop.predicate && loop.iterations && loop.predicate->buffer == loop.iterations->buffer &&
        loop.predicate->byte_offset == loop.iterations->byte_offset) {
      reject(ErrorCode::alias, path, "iterations", "the round counter is not the predicate");
    }
  }

  void lower_unconditional(GraphSink& sink) const {
    if (const auto& word = part().iterations) {
      sink.add(FillNode{.id = {},
                        .target = word->buffer,
                        .offset = word->byte_offset,
                        .bytes = 4,
                        .word = part().maximum_iterations},
               "iterations");
    }
    const std::size_t first = sink.node_count();
    sink.add(part().body);
    const std::size_t last = sink.node_count();
    for (std::uint32_t round = 1; round < part().maximum_iterations; ++round) sink.repeat(first, last, round + 1);
  }

  void lower_gated(GraphSink& sink) const {
    const Loop& loop = part();
    const GraphBuffer history = sink.transient(8, "rounds");
    const std::size_t first = sink.node_count();
    ConditionBody body = sink.open_condition();
    sink.add_conditional(body, loop.body);
    const std::size_t last = sink.node_count();
    Gate gate{.body = body,
              .geometry = sink.close_condition(body),
              .predicate = {},
              .iterations = loop.iterations,
              .history = history};
    for (; gate.round < loop.maximum_iterations; ++gate.round) {
      if (gate.round >= loop.minimum_iterations) gate.predicate = loop.predicate;
      add_gate(sink, gate);
      if (gate.round == 0) {
        sink.move_last_before(first, last);
      } else {
        sink.rename_last("gate", gate.round + 1);
        sink.repeat(first + 1, last + 1, gate.round + 1);
      }
    }
  }
};

class HostConditionalLowering final : public ContainerLowering<HostConditional> {
 public:
  explicit HostConditionalLowering(const HostConditional& part) : ContainerLowering(part, "host conditional") {}
  void lower(NodeSink& sink) const override { graph_sink(sink).add_host_conditional(part()); }
};

class CustomLowering final : public ContainerLowering<CustomNode> {
 public:
  explicit CustomLowering(const CustomNode& part) : ContainerLowering(part, "custom") {}
  void lower(NodeSink& sink) const override {
    if (!part().record) {
      reject(ErrorCode::missing_operand, graph_sink(sink).path(), "record", "a custom node has a function");
    }
    graph_sink(sink).add_custom(part());
  }
};

}  // namespace
}  // namespace detail

std::shared_ptr<const detail::Lowering> make_lowering(const Composite& part) {
  return std::make_shared<const detail::CompositeLowering>(part);
}
std::shared_ptr<const detail::Lowering> make_lowering(const Conditional& part) {
  return std::make_shared<const detail::ConditionalLowering>(part);
}
std::shared_ptr<const detail::Lowering> make_lowering(const Loop& part) {
  return std::make_shared<const detail::LoopLowering>(part);
}
std::shared_ptr<const detail::Lowering> make_lowering(const HostConditional& part) {
  return std::make_shared<const detail::HostConditionalLowering>(part);
}
std::shared_ptr<const detail::Lowering> make_lowering(const CustomNode& part) {
  return std::make_shared<const detail::CustomLowering>(part);
}

}  // namespace tessera
