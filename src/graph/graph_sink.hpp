#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_state.hpp"
#include "graph/node_sink.hpp"

namespace tessera::detail {

/// The body of one condition on the device while it is lowered.
struct ConditionBody {
  DataView word;                                       ///< not zero while the body runs
  GraphBuffer groups;                                  ///< three group counts per gated dispatch
  std::vector<std::array<std::uint32_t, 3>> geometry;  ///< of those dispatches
};

/// Turns operations into the nodes of a graph.
class GraphSink final : public NodeSink {
 public:
  explicit GraphSink(Graph::State& graph) : graph_(graph) {}

  Device& device() override { return graph_.device; }
  std::uint64_t graph() const override { return graph_.identity; }
  VectorView import(const Vector& vector) override;
  GraphBuffer transient(std::uint64_t bytes, std::string_view name) override;
  ConstantReference constant(std::vector<std::byte> bytes) override;
  TableReference table(const VectorView& view) override;
  std::optional<DataView> condition() const override;
  void dispatch(Dispatch dispatch) override;
  void describe_operands(std::vector<OperandUse> operands) override;
  void add(const Operation& operation, std::string_view name) override;

  // for containers
  void add(const OperationList& operations);
  void add_custom(const CustomNode& node);
  void add_render(const RenderNode& node);
  /// A transfer whose images, regions and buffer range were checked.
  void add_image_transfer(ImageTransfer transfer);
  Graph::State& graph_state() noexcept { return graph_; }
  ConditionBody open_condition();
  /// Lowers a body under a condition.
  void add_conditional(ConditionBody& body, const OperationList& operations);
  /// Fixes the size of the group counts and returns the geometry that a gate writes.
  ConstantReference close_condition(const ConditionBody& body);
  /// Lowers a body under a host condition.
  void add_host_conditional(const HostConditional& condition);
  std::size_t node_count() const noexcept { return graph_.nodes.size(); }
  /// Moves the nodes from `middle` on before those from `first` on.
  void move_last_before(std::size_t first, std::size_t middle);
  /// Appends copies of the nodes `[first, last)` as round `round` (2, 3, ...) of the current loop.
  void repeat(std::size_t first, std::size_t last, std::uint32_t round);
  /// Names the last node as the part `name` of round `round` (2, 3, ...) of the current loop.
  void rename_last(std::string_view name, std::uint32_t round);
  const std::string& path() const noexcept { return path_; }

 private:
  void add_named(const std::shared_ptr<const Lowering>& lowering, std::string_view base, bool by_application);
  void require_node_room(std::uint64_t count) const;
  /// Rejects what can't stand in a body under a condition on the device.
  void require_no_condition(std::string_view kind) const;
  void require_kernel_images(const Dispatch& dispatch) const;
  void gate(GraphDispatch& entry);

  Graph::State& graph_;
  std::string path_;
  ConditionBody* body_ = nullptr;
  std::uint32_t host_scope_ = no_index;
};

/// The graph's sink behind a NodeSink. Containers need more than operations do.
GraphSink& graph_sink(NodeSink& sink);

}  // namespace tessera::detail
