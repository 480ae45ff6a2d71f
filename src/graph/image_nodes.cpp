#include <tessera/graph/image_nodes.hpp>

#include <algorithm>
#include <utility>

#include "device/internal.hpp"
#include "graph/graph_sink.hpp"
#include "graph/image_values.hpp"
#include "graph/reject.hpp"

// Copies and clears of images: checks, and the nodes they become.
namespace tessera {
namespace detail {

void require_image_value(const std::optional<ImageValue>& value, ImageFormat format, std::string_view operation,
                         std::string_view operand) {
  if (!value || value->index() == static_cast<std::size_t>(component_of(format))) return;
  reject(ErrorCode::format_mismatch, operation, operand, "a clear value has the components of the image's format",
         values_of("format", name_of(format)));
}

void GraphSink::add_image_transfer(ImageTransfer transfer) {
  require_node_room(1);
  require_no_condition("image node");
  graph_.nodes.push_back(
      {.id = path_, .host_scope = host_scope_, .transfer = static_cast<std::uint32_t>(graph_.transfers.size())});
  graph_.transfers.push_back(std::move(transfer));
}

namespace {

/// Rows of texels in a buffer.
struct BufferRows {
  std::uint32_t row_texels = 0;
  std::uint64_t bytes = 0;  ///< from the first row's begin to the last one's end
};

BufferRows rows_in_buffer(const ImageRegion& region, ImageFormat format, std::uint64_t offset,
                          std::uint64_t bytes_per_row, std::string_view operation, std::string_view operand) {
  const std::uint64_t texel = size_of(format);
  const std::uint64_t packed = region.width * texel;
  const std::uint64_t row = bytes_per_row == 0 ? packed : bytes_per_row;
  if (offset % texel != 0 || row % texel != 0) {
    reject(ErrorCode::layout_mismatch, operation, operand, "offset and row distance are multiples of the texel's size",
           values_of("offset", offset, "bytes per row", row, "texel", texel));
  }
  constexpr std::uint64_t most_row_texels = 0x7fffffff;
  if (row < packed || row / texel > most_row_texels) {
    reject(ErrorCode::layout_mismatch, operation, operand, "the row distance is at least one row of texels",
           values_of("bytes per row", row, "row bytes", packed));
  }
  return {.row_texels = static_cast<std::uint32_t>(row / texel), .bytes = (region.height - 1) * row + packed};
}

ResourceUse buffer_use(const GraphBuffer& buffer, std::uint64_t offset, std::uint64_t bytes, Access access) {
  return {.resource = buffer.resource(),
          .begin = offset,
          .end = offset + bytes,
          .access = access,
          .stage = Stage::transfer};
}

ResourceUse image_use(const GraphImage& image, ImageAccess access) {
  const StagedImageUse use{.image = image, .access = access, .stage = Stage::transfer};
  return resolve_image_uses({&use, 1}).front();
}

Workload workload_of(std::uint64_t texels, ImageFormat format, Access access) {
  const std::uint64_t bytes = texels * size_of(format);
  return {.invocations = texels, .read_bytes = access == Access::write ? 0 : bytes, .write_bytes = bytes};
}

std::uint64_t texels_of(const ImageRegion& region) { return std::uint64_t{region.width} * region.height; }

/// An id and a type name, common to every image transfer.
template <class Node>
class TransferLowering : public Lowering {
 public:
  TransferLowering(Node node, std::string_view type) : node_(std::move(node)), type_(type) {}
  std::string name() const override { return node_.id.empty() ? std::string(type_) : node_.id; }
  std::string id() const override { return node_.id; }

 protected:
  const Node& node() const noexcept { return node_; }
  ImageRegion checked_region(const GraphImage& image, std::string_view operation, std::string_view operand) const {
    return require_region(image.description(), node_.region, operation, operand);
  }

 private:
  Node node_;
  std::string_view type_;
};

class CopyToImageLowering final : public TransferLowering<CopyToImageNode> {
 public:
  explicit CopyToImageLowering(const CopyToImageNode& node) : TransferLowering(node, "copy to image") {}
  void lower(NodeSink& target) const override {
    GraphSink& sink = graph_sink(target);
    const std::string& path = sink.path();
    const GraphImage& image = node().target;
    sink.graph_state().require_image(image, ImageAccess::copy_target, path, "target");
    const ImageRegion region = checked_region(image, path, "region");
    const BufferRows rows =
        rows_in_buffer(region, image.format(), node().source_offset, node().bytes_per_row, path, "source");
    sink.graph_state().require_range(
        {.buffer = node().source, .offset = node().source_offset, .bytes = rows.bytes, .access = Access::read}, path,
        "source");
    sink.add_image_transfer({.kind = ImageTransfer::Kind::buffer_to_image,
                             .source = node().source.resource(),
                             .target = image.resource(),
                             .region = region,
                             .buffer_offset = node().source_offset,
                             .row_texels = rows.row_texels,
                             .uses = {buffer_use(node().source, node().source_offset, rows.bytes, Access::read),
                                      image_use(image, ImageAccess::copy_target)},
                             .workload = workload_of(texels_of(region), image.format(), Access::read_write)});
  }
};

class CopyFromImageLowering final : public TransferLowering<CopyFromImageNode> {
 public:
  explicit CopyFromImageLowering(const CopyFromImageNode& node) : TransferLowering(node, "copy from image") {}
  void lower(NodeSink& target) const override {
    GraphSink& sink = graph_sink(target);
    const std::string& path = sink.path();
    const GraphImage& image = node().source;
    sink.graph_state().require_image(image, ImageAccess::copy_source, path, "source");
    const ImageRegion region = checked_region(image, path, "region");
    const BufferRows rows =
        rows_in_buffer(region, image.format(), node().target_offset, node().bytes_per_row, path, "target");
    sink.graph_state().require_range(
        {.buffer = node().target, .offset = node().target_offset, .bytes = rows.bytes, .access = Access::write}, path,
        "target");
    sink.add_image_transfer({.kind = ImageTransfer::Kind::image_to_buffer,
                             .source = image.resource(),
                             .target = node().target.resource(),
                             .region = region,
                             .buffer_offset = node().target_offset,
                             .row_texels = rows.row_texels,
                             .uses = {image_use(image, ImageAccess::copy_source),
                                      buffer_use(node().target, node().target_offset, rows.bytes, Access::write)},
                             .workload = workload_of(texels_of(region), image.format(), Access::read_write)});
  }
};

class CopyImageLowering final : public TransferLowering<CopyImageNode> {
 public:
  explicit CopyImageLowering(const CopyImageNode& node) : TransferLowering(node, "copy image") {}
  void lower(NodeSink& sink_of_graph) const override {
    GraphSink& sink = graph_sink(sink_of_graph);
    const std::string& path = sink.path();
    const GraphImage& source = node().source;
    const GraphImage& target = node().target;
    sink.graph_state().require_image(source, ImageAccess::copy_source, path, "source");
    sink.graph_state().require_image(target, ImageAccess::copy_target, path, "target");
    if (source.resource() == target.resource()) {
      reject(ErrorCode::alias, path, "target", "source and target are two images");
    }
    if (source.format() != target.format()) {
      reject(ErrorCode::format_mismatch, path, "target", "source and target have one format",
             values_of("source", name_of(source.format()), "target", name_of(target.format())));
    }
    const ImageRegion region = checked_region(source, path, "region");
    require_region(
        target.description(),
        ImageRegion{.x = node().target_x, .y = node().target_y, .width = region.width, .height = region.height}, path,
        "target");
    sink.add_image_transfer(
        {.kind = ImageTransfer::Kind::image_to_image,
         .source = source.resource(),
         .target = target.resource(),
         .region = region,
         .target_x = node().target_x,
         .target_y = node().target_y,
         .uses = {image_use(source, ImageAccess::copy_source), image_use(target, ImageAccess::copy_target)},
         .workload = workload_of(texels_of(region), source.format(), Access::read_write)});
  }
};

class ClearImageLowering final : public TransferLowering<ClearImageNode> {
 public:
  explicit ClearImageLowering(const ClearImageNode& node) : TransferLowering(node, "clear image") {}
  void lower(NodeSink& target) const override {
    GraphSink& sink = graph_sink(target);
    const GraphImage& image = node().target;
    sink.graph_state().require_image(image, ImageAccess::copy_target, sink.path(), "target");
    require_image_value(node().value, image.format(), sink.path(), "value");
    const ImageRegion all{.x = 0, .y = 0, .width = image.width(), .height = image.height()};
    sink.add_image_transfer({.kind = ImageTransfer::Kind::clear,
                             .target = image.resource(),
                             .region = all,
                             .value = node().value.value_or(ImageValue{}),
                             .uses = {image_use(image, ImageAccess::copy_target)},
                             .workload = workload_of(texels_of(all), image.format(), Access::write)});
  }
};

}  // namespace
}  // namespace detail

std::shared_ptr<const detail::Lowering> make_lowering(const CopyToImageNode& node) {
  return std::make_shared<const detail::CopyToImageLowering>(node);
}
std::shared_ptr<const detail::Lowering> make_lowering(const CopyFromImageNode& node) {
  return std::make_shared<const detail::CopyFromImageLowering>(node);
}
std::shared_ptr<const detail::Lowering> make_lowering(const CopyImageNode& node) {
  return std::make_shared<const detail::CopyImageLowering>(node);
}
std::shared_ptr<const detail::Lowering> make_lowering(const ClearImageNode& node) {
  return std::make_shared<const detail::ClearImageLowering>(node);
}

}  // namespace tessera
