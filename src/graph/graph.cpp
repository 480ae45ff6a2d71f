#include <tessera/graph/graph.hpp>

#include <algorithm>
#include <utility>

#include "graph/graph_sink.hpp"
#include "graph/reject.hpp"

namespace tessera {

Graph::Graph(Device device) : state_(std::make_unique<State>(std::move(device))) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

const Device& Graph::device() const noexcept { return state_->device; }
std::uint64_t Graph::identity() const noexcept { return state_->identity; }

ImportedVector Graph::import(const Vector& vector, std::string_view id) {
  const std::uint32_t import = state_->import_vector(vector, id);
  return ImportedVector(state_->view_of_import(import), import);
}

ImportedBuffer Graph::import(const Buffer& buffer, std::string_view id) {
  const std::uint32_t import = state_->import_buffer(buffer, id);
  const std::uint32_t resource = state_->imports[import].resource;
  return ImportedBuffer(GraphBuffer(state_->identity, resource, state_->resources[resource].bytes), import);
}

ImportedVector Graph::declare(const VectorDeclaration& declaration) {
  const std::uint32_t import = state_->declare_vector(declaration);
  return ImportedVector(state_->view_of_import(import), import);
}

ImportedBuffer Graph::declare_buffer(std::string_view id, std::uint64_t bytes) {
  const std::uint32_t import = state_->declare_buffer(id, bytes);
  return ImportedBuffer(GraphBuffer(state_->identity, state_->imports[import].resource, bytes), import);
}

GraphBuffer Graph::transient(std::uint64_t bytes, std::string_view id) { return state_->transient(bytes, id); }

ImportedImage Graph::import(const Image& image, std::string_view id) {
  const std::uint32_t import = state_->import_image(image, id);
  return ImportedImage(state_->image_of_import(import), import);
}

ImportedImage Graph::declare_image(std::string_view id, const ImageDescription& description) {
  const std::uint32_t import = state_->declare_image(id, description);
  return ImportedImage(state_->image_of_import(import), import);
}

GraphImage Graph::transient_image(const ImageDescription& description, std::string_view id) {
  return state_->transient_image(description, id);
}

DataView Graph::transient_view(Format format, std::uint64_t length, std::string_view id) {
  const std::uint64_t row = size_of(format);
  if (length > state_->device.limits().largest_buffer_bytes / row) {
    detail::reject(ErrorCode::limit_exceeded, "graph", id.empty() ? "transient" : id,
                   "scratch memory fits the device's largest buffer",
                   detail::values_of("rows", length, "row bytes", row));
  }
  return transient(std::max<std::uint64_t>(length, 1) * row, id).view(format, length);
}

VectorView Graph::transient_like(const VectorView& shape, Format format, std::string_view id) {
  state_->require_mutable("transient_like");
  state_->require_view(shape, "transient_like", "shape");
  const State::Checkpoint checkpoint = state_->checkpoint();
  try {
    const auto name = [&](const std::string& part) { return id.empty() ? std::string() : std::string(id) + part; };
    const detail::ChunkList& list = *shape.chunk_list();
    const std::uint64_t begin = shape.first_row();
    const std::uint64_t end = begin + shape.length();
    std::vector<DataView> views;
    std::optional<DataView> empty;  // shared by all chunks without rows
    for (std::size_t index = 0; index < list.chunks.size(); ++index) {
      const std::uint64_t first = std::clamp(list.first_row[index], begin, end);
      const std::uint64_t last = std::clamp(list.first_row[index + 1], begin, end);
      const bool outside = list.first_row[index + 1] < begin || list.first_row[index] > end;
      const bool only_touches =
          first == last && list.chunks[index].length > 0;  // a border of the slice, not a chunk of it
      if (outside || only_touches) continue;
      if (first < last) {
        views.push_back(transient_view(format, last - first, name("-chunk-" + std::to_string(index))));
      } else {
        if (!empty) empty = transient_view(format, 0, name("-empty"));
        views.push_back(*empty);
      }
    }
    if (views.empty()) views.push_back(transient_view(format, 0, name("-empty")));
    return VectorView(views);
  } catch (...) {
    state_->roll_back(checkpoint);
    throw;
  }
}

void Graph::add(const Operation& operation) {
  state_->require_mutable("add");
  const State::Checkpoint checkpoint = state_->checkpoint();
  try {
    detail::GraphSink(*state_).add(OperationList{operation});
  } catch (...) {
    state_->roll_back(checkpoint);
    throw;
  }
}

}  // namespace tessera
