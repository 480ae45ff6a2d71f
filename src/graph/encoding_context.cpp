#include "graph/encoding_context.hpp"

#include <algorithm>

#include "graph/compiled_images.hpp"
#include "graph/layout.hpp"
#include "graph/reject.hpp"

namespace tessera::detail {

std::vector<Chunk> EncodingContext::chunks(const VectorView& view) const {
  const ChunkList& list = *view.chunk_list();
  if (list.graph != graph_.program->graph) {
    reject(ErrorCode::foreign_graph, "custom node", "view", "views belong to the graph that is encoded");
  }
  std::vector<Chunk> found;
  const std::uint64_t begin = view.first_row();
  const std::uint64_t end = begin + view.length();
  for (std::size_t index = 0; index < list.chunks.size(); ++index) {
    const std::uint64_t first = std::max(begin, list.first_row[index]);
    const std::uint64_t last = std::min(end, list.first_row[index + 1]);
    if (first < last)
      found.push_back(located(list.chunks[index], list.format, first - list.first_row[index], last - first));
  }
  return found;
}

Image EncodingContext::image(const GraphImage& image) const {
  (void)layout(image);
  return image_of(graph_, bindings_, image.resource());
}

ImageLayout EncodingContext::layout(const GraphImage& image) const {
  if (image.graph() != graph_.program->graph) {
    reject(ErrorCode::foreign_graph, "node", "image", "images belong to the graph that is encoded");
  }
  const auto use = std::find_if(uses_.begin(), uses_.end(),
                                [&](const ResourceUse& each) { return each.resource == image.resource(); });
  if (use == uses_.end() || !use->layout) {
    reject(ErrorCode::unknown_id, "node", "image", "a node asks for images that it declares");
  }
  return *use->layout;
}

Chunk EncodingContext::located(const GraphChunk& chunk, Format format, std::uint64_t first, std::uint64_t rows) const {
  const Program& program = *graph_.program;
  if (chunk.resource >= program.parts.resources.size()) {
    reject(ErrorCode::unknown_id, "custom node", "view", "views name resources of their graph");
  }
  Chunk place{.buffer = {}, .byte_offset = 0, .length = rows, .byte_stride = chunk.byte_stride};
  const std::uint32_t import = program.parts.resources[chunk.resource].import;
  if (import == no_index) {
    const auto& placement = program.schedule.placement[chunk.resource];
    if (!placement) reject(ErrorCode::unknown_id, "custom node", "view", "scratch is declared as a use of a node");
    place.buffer = graph_.scratch;
    place.byte_offset = *placement;
  } else if (const ImportBinding& binding = bindings_[import]; binding.chunks != nullptr) {
    place.buffer = (*binding.chunks)[chunk.import_chunk].buffer;
    place.byte_offset = (*binding.chunks)[chunk.import_chunk].byte_offset;
  } else if (binding.buffer != nullptr) {
    place.buffer = *binding.buffer;
  } else {
    place.buffer = binding.count->buffer;
    place.byte_offset = binding.count->byte_offset;
  }
  place.byte_offset += chunk.byte_offset + first * stride_or_packed(chunk.byte_stride, format);
  return place;
}

}  // namespace tessera::detail
