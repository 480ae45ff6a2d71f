#include "graph/graph_sink.hpp"

#include <algorithm>
#include <utility>

#include "graph/reject.hpp"

namespace tessera::detail {
namespace {

/// Beyond this a graph costs gigabytes of host memory; loops reach it with a slip of the pen.
constexpr std::uint64_t most_nodes = std::uint64_t{1} << 22;

/// Sets a value for as long as a scope lasts.
template <class T>
class Scoped {
 public:
  Scoped(T& variable, T value) : variable_(variable), former_(std::exchange(variable, std::move(value))) {}
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;
  ~Scoped() { variable_ = std::move(former_); }

 private:
  T& variable_;
  T former_;
};

std::string joined(std::string_view parent, std::string_view name) {
  std::string path(parent);
  if (!path.empty()) path += '/';
  return path += name;
}

}  // namespace

std::array<std::uint32_t, 3> fold_workgroups(std::uint64_t count, const DeviceLimits& limits,
                                             std::string_view operation) {
  const std::uint64_t largest = limits.largest_workgroup_count;
  const auto divide = [](std::uint64_t value, std::uint64_t divisor) { return (value + divisor - 1) / divisor; };
  const std::uint64_t groups = std::max<std::uint64_t>(count, 1);
  const std::uint64_t x = std::min(groups, largest);
  const std::uint64_t y = std::min(divide(groups, x), largest);
  const std::uint64_t z = divide(divide(groups, x), y);
  if (z > largest) {
    reject(ErrorCode::limit_exceeded, operation, "dispatch", "workgroups fit the device's three dimensions",
           values_of("workgroups", count, "largest per dimension", largest));
  }
  return {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(z)};
}

GraphSink& graph_sink(NodeSink& sink) {
  auto* graph = dynamic_cast<GraphSink*>(&sink);
  if (graph == nullptr) reject(ErrorCode::internal, "graph", "container", "containers are lowered into graphs");
  return *graph;
}

VectorView GraphSink::import(const Vector& vector) { return graph_.view_of_import(graph_.import_vector(vector, {})); }

GraphBuffer GraphSink::transient(std::uint64_t bytes, std::string_view name) {
  return graph_.transient(bytes, graph_.unused_resource_id(joined(path_, name)));
}

ConstantReference GraphSink::constant(std::vector<std::byte> bytes) {
  graph_.constants.push_back(std::move(bytes));
  return {static_cast<std::uint32_t>(graph_.constants.size() - 1)};
}

TableReference GraphSink::table(const VectorView& view) {
  graph_.require_view(view, path_, "view");
  return graph_.table(view.chunk_list());
}

std::optional<DataView> GraphSink::condition() const {
  return body_ == nullptr ? std::nullopt : std::optional<DataView>(body_->word);
}

void GraphSink::require_node_room(std::uint64_t count) const {
  if (count > most_nodes - std::min<std::uint64_t>(most_nodes, graph_.nodes.size())) {
    reject(ErrorCode::limit_exceeded, path_, "nodes", "a graph has at most 2^22 nodes",
           values_of("present", graph_.nodes.size(), "more", count));
  }
}

void GraphSink::dispatch(Dispatch dispatch) {
  require_node_room(1);
  for (const std::uint32_t groups : dispatch.groups) {
    if (groups > graph_.device.limits().largest_workgroup_count) {
      reject(ErrorCode::limit_exceeded, path_, dispatch.name, "workgroups fit the device's limit per dimension",
             values_of("workgroups", groups, "largest", graph_.device.limits().largest_workgroup_count));
    }
  }
  for (const ViewUse& use : dispatch.view_uses) graph_.require_view(use.view, path_, dispatch.name);
  for (const BufferUse& use : dispatch.buffer_uses) graph_.require_range(use, path_, dispatch.name);
  if (!dispatch.image_uses.empty()) require_kernel_images(dispatch);
  if (dispatch.indirect) {
    graph_.require_view(VectorView(*dispatch.indirect), path_, dispatch.name);
    if (graph_.resources[dispatch.indirect->buffer.resource()].kind != ResourceKind::transient) {
      reject(ErrorCode::unsupported_operation, path_, dispatch.name, "group counts on the device lie in a transient");
    }
  }

  GraphDispatch entry;
  entry.uses = resolve_uses(graph_.resources, graph_.imports, dispatch);
  entry.dispatch = std::move(dispatch);
  GraphNode node;
  if (entry.dispatch.indirect) {
    entry.indirect = {.resource = entry.dispatch.indirect->buffer.resource(),
                      .byte_offset = entry.dispatch.indirect->byte_offset};
    node.gated = true;
  } else if (body_ != nullptr) {
    gate(entry);
    node.gated = true;
  }
  const std::string& pass = entry.dispatch.name.empty() ? entry.dispatch.module : entry.dispatch.name;
  node.id = graph_.names.claim(path_, pass, false, nullptr);
  node.dispatch = static_cast<std::uint32_t>(graph_.dispatches.size());
  node.host_scope = host_scope_;
  graph_.dispatches.push_back(std::move(entry));
  graph_.nodes.push_back(std::move(node));
}

void GraphSink::describe_operands(std::vector<OperandUse> operands) {
  graph_.operations.push_back({.path = path_, .operands = std::move(operands)});
}

/// Ties a dispatch to the enclosing condition.
void GraphSink::gate(GraphDispatch& entry) {
  if (entry.dispatch.gating == Gating::by_operation) {
    entry.uses.push_back({.resource = body_->word.buffer.resource(),
                          .begin = body_->word.byte_offset,
                          .end = body_->word.byte_offset + 4,
                          .access = Access::read,
                          .stage = Stage::compute});
    entry.dispatch.buffer_uses.push_back(
        {.buffer = body_->word.buffer, .offset = body_->word.byte_offset, .bytes = 4, .access = Access::read});
    return;
  }
  const std::uint64_t offset = body_->geometry.size() * sizeof(body_->geometry.front());
  body_->geometry.push_back(entry.dispatch.groups);
  entry.indirect = {.resource = body_->groups.resource(), .byte_offset = offset};
  entry.uses.push_back({.resource = body_->groups.resource(),
                        .begin = offset,
                        .end = offset + 12,
                        .access = Access::read,
                        .stage = Stage::indirect});
}

void GraphSink::add(const Operation& operation, std::string_view name) { add_named(operation.lowering(), name, false); }

void GraphSink::add(const OperationList& operations) {
  for (const Operation& operation : operations) {
    const auto& lowering = operation.lowering();
    add_named(lowering, lowering->name(), !lowering->id().empty());
  }
}

void GraphSink::add_named(const std::shared_ptr<const Lowering>& lowering, std::string_view base, bool by_application) {
  // A group without a name of its own leaves no trace in node ids.
  const Scoped<std::string> path(path_,
                                 base.empty() ? path_ : graph_.names.claim(path_, base, by_application, lowering));
  lowering->lower(*this);
}

void GraphSink::add_custom(const CustomNode& node) {
  require_node_room(1);
  require_no_condition("custom node");
  GraphCustomNode entry{.node = node, .uses = {}};
  constexpr Access access_of[] = {Access::read, Access::write, Access::read_write};
  for (const NodeUse& use : node.uses) {
    graph_.require_view(use.view, path_, "uses");
    const Access access = access_of[static_cast<std::size_t>(use.access)];
    // What the application records is unknown: it may copy as well as compute.
    for (const Stage stage : {Stage::compute, Stage::transfer}) {
      append_view_use(graph_.resources, graph_.imports, use.view, access, stage, entry.uses);
    }
  }
  std::vector<StagedImageUse> images;
  for (const NodeImageUse& use : node.image_uses) {
    graph_.require_image(use.image, use.access, path_, "image_uses");
    const bool copies = use.access == ImageAccess::copy_source || use.access == ImageAccess::copy_target;
    const Stage stage = use.access == ImageAccess::attachment ? Stage::color
                        : copies                              ? Stage::transfer
                                                              : Stage::compute;
    images.push_back({.image = use.image, .access = use.access, .stage = stage});
  }
  const std::vector<ResourceUse> image_uses = resolve_image_uses(images);
  entry.uses.insert(entry.uses.end(), image_uses.begin(), image_uses.end());
  graph_.nodes.push_back(
      {.id = path_, .custom = static_cast<std::uint32_t>(graph_.customs.size()), .host_scope = host_scope_});
  graph_.customs.push_back(std::move(entry));
}

ConditionBody GraphSink::open_condition() {
  const GraphBuffer word = transient(4, "condition");
  return {.word = {.buffer = word, .format = Format::uint32, .length = 1, .byte_offset = 0, .byte_stride = 4},
          .groups = transient(0, "group counts"),
          .geometry = {}};
}

void GraphSink::add_conditional(ConditionBody& body, const OperationList& operations) {
  const Scoped<ConditionBody*> scope(body_, &body);
  add(operations);
}

ConstantReference GraphSink::close_condition(const ConditionBody& body) {
  const std::size_t bytes = body.geometry.size() * sizeof(body.geometry.front());
  graph_.resources[body.groups.resource()].bytes = bytes;
  const auto* data = reinterpret_cast<const std::byte*>(body.geometry.data());
  return constant(std::vector<std::byte>(data, data + bytes));
}

void GraphSink::add_host_conditional(const HostConditional& condition) {
  if (!condition.evaluate) {
    reject(ErrorCode::missing_operand, path_, "evaluate", "a host condition has a function");
  }
  const auto scope = static_cast<std::uint32_t>(graph_.host_scopes.size());
  graph_.host_scopes.push_back({.id = path_, .parent = host_scope_, .evaluate = condition.evaluate});
  const Scoped<std::uint32_t> inside(host_scope_, scope);
  add(condition.body);
}

void GraphSink::move_last_before(std::size_t first, std::size_t middle) {
  const auto begin = graph_.nodes.begin();
  std::rotate(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(middle),
              graph_.nodes.end());
}

void GraphSink::rename_last(std::string_view name, std::uint32_t round) {
  graph_.nodes.back().id = joined(path_ + "#" + std::to_string(round), name);
}

void GraphSink::repeat(std::size_t first, std::size_t last, std::uint32_t round) {
  require_node_room(last - first);
  for (std::size_t index = first; index < last; ++index) {
    GraphNode node = graph_.nodes[index];
    node.id.insert(path_.size(), "#" + std::to_string(round));
    graph_.nodes.push_back(std::move(node));
  }
}

}  // namespace tessera::detail
