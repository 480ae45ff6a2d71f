#include <tessera/graph/image_nodes.hpp>

#include <array>
#include <utility>

#include "device/internal.hpp"
#include "graph/graph_sink.hpp"
#include "graph/image_values.hpp"
#include "graph/reject.hpp"

// Render nodes: checks, and what they declare.
namespace tessera {
namespace detail {
namespace {

void require_attachments(const Graph::State& graph, const RenderNode& node, const std::string& path) {
  if (node.attachments.empty()) {
    reject(ErrorCode::missing_operand, path, "attachments", "a render node has at least one attachment");
  }
  const DeviceLimits& limits = graph.device.limits();
  if (node.attachments.size() > limits.color_attachments) {
    reject(ErrorCode::limit_exceeded, path, "attachments", "attachments fit the device's limit",
           values_of("attachments", node.attachments.size(), "largest", limits.color_attachments));
  }
  const GraphImage& first = node.attachments.front().image;
  for (const RenderAttachment& attachment : node.attachments) {
    const GraphImage& image = attachment.image;
    graph.require_image(image, ImageAccess::attachment, path, "attachments");
    require_image_value(attachment.clear, image.format(), path, "attachments");
    if (image.width() != first.width() || image.height() != first.height()) {
      reject(ErrorCode::extent_mismatch, path, "attachments", "all attachments have the same extents",
             values_of("width", image.width(), "height", image.height(), "first width", first.width(), "first height",
                       first.height()));
    }
    for (const RenderAttachment& other : node.attachments) {
      if (&other == &attachment) break;
      if (other.image.resource() == image.resource()) {
        reject(ErrorCode::alias, path, "attachments", "an image is attached once",
               values_of("image", graph.resources[image.resource()].id));
      }
    }
  }
}

void require_images(const Graph::State& graph, const RenderNode& node, const std::string& path) {
  for (const RenderImage& read : node.images) {
    if (read.access != ImageAccess::sampled && read.access != ImageAccess::storage_read) {
      reject(ErrorCode::invalid_argument, path, "images", "shaders of a render node only read images");
    }
    if (read.stage == RenderStage::indirect) {
      reject(ErrorCode::invalid_argument, path, "images", "parameters of draws come from buffers");
    }
    graph.require_image(read.image, read.access, path, "images");
    for (const RenderAttachment& attachment : node.attachments) {
      if (attachment.image.resource() == read.image.resource()) {
        reject(ErrorCode::alias, path, "images", "an attachment is not read as an image of the same node",
               values_of("image", graph.resources[read.image.resource()].id));
      }
    }
  }
}

std::span<const Stage> stages_of(RenderStage stage) {
  static constexpr std::array both{Stage::vertex, Stage::fragment};
  static constexpr std::array indirect{Stage::indirect};
  switch (stage) {
    case RenderStage::vertex:
      return std::span(both).first(1);
    case RenderStage::fragment:
      return std::span(both).last(1);
    case RenderStage::indirect:
      return indirect;
    case RenderStage::vertex_and_fragment:
      break;
  }
  return both;
}

class RenderLowering final : public Lowering {
 public:
  explicit RenderLowering(const RenderNode& node) : node_(node) {}
  std::string name() const override { return node_.id.empty() ? "render" : node_.id; }
  std::string id() const override { return node_.id; }
  void lower(NodeSink& sink) const override { graph_sink(sink).add_render(node_); }

 private:
  RenderNode node_;
};

}  // namespace

void GraphSink::add_render(const RenderNode& node) {
  require_node_room(1);
  require_no_condition("render node");
  if (!node.record) reject(ErrorCode::missing_operand, path_, "record", "a render node has a function");
  require_attachments(graph_, node, path_);
  require_images(graph_, node, path_);
  GraphRenderNode entry{.node = node, .uses = {}};
  for (const RenderRead& read : node.reads) {
    graph_.require_view(read.view, path_, "reads");
    for (const Stage stage : stages_of(read.stage)) {
      append_view_use(graph_.resources, graph_.imports, read.view, Access::read, stage, entry.uses);
    }
  }
  std::vector<StagedImageUse> images;
  for (const RenderImage& read : node.images) {
    for (const Stage stage : stages_of(read.stage)) {
      images.push_back({.image = read.image, .access = read.access, .stage = stage});
    }
  }
  for (const RenderAttachment& attachment : node.attachments) {
    images.push_back({.image = attachment.image, .access = ImageAccess::attachment, .stage = Stage::color});
  }
  const std::vector<ResourceUse> image_uses = resolve_image_uses(images);
  entry.uses.insert(entry.uses.end(), image_uses.begin(), image_uses.end());
  graph_.nodes.push_back(
      {.id = path_, .host_scope = host_scope_, .render = static_cast<std::uint32_t>(graph_.renders.size())});
  graph_.renders.push_back(std::move(entry));
}

}  // namespace detail

std::shared_ptr<const detail::Lowering> make_lowering(const RenderNode& node) {
  return std::make_shared<const detail::RenderLowering>(node);
}

}  // namespace tessera
