#include <algorithm>

#include "graph/graph_state.hpp"
#include "graph/layout.hpp"

namespace tessera::detail {
namespace {

/// More ranges of one resource than this become their hull: hazards stay safe and the scheduler stays fast.
constexpr std::size_t most_ranges = 16;

void append_chunk(const std::vector<GraphResource>& resources, const std::vector<GraphImport>& imports,
                  const GraphChunk& chunk, Format format, std::uint64_t first, std::uint64_t rows, ResourceUse use,
                  std::vector<ResourceUse>& uses) {
  use.resource = chunk.resource;
  const std::uint64_t offset = chunk.byte_offset + first * chunk.byte_stride;
  const std::uint64_t bytes = occupied_bytes(rows, chunk.byte_stride, format);
  const GraphResource& resource = resources[chunk.resource];
  if (resource.kind == ResourceKind::imported_vector) {
    const ChunkList& shape = *imports[resource.import].shape;
    const std::uint64_t stride = shape.chunks[chunk.import_chunk].byte_stride;
    const std::uint64_t base = shape.first_row[chunk.import_chunk];
    use.begin = base + offset / stride;
    use.end = base + (offset + bytes + stride - 1) / stride;
  } else {
    use.begin = offset;
    use.end = offset + bytes;
  }
  if (!uses.empty() && uses.back().resource == use.resource && uses.back().end == use.begin &&
      uses.back().access == use.access && uses.back().stage == use.stage) {
    uses.back().end = use.end;
  } else {
    uses.push_back(use);
  }
}

/// Merges the ranges of each resource in `uses[first...]`, which share access and stage.
void merge_ranges(std::vector<ResourceUse>& uses, std::size_t first) {
  const auto begin = uses.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, uses.end(), [](const ResourceUse& left, const ResourceUse& right) {
    return left.resource != right.resource ? left.resource < right.resource : left.begin < right.begin;
  });
  std::vector<ResourceUse> merged;
  std::size_t group = 0;  // where the current resource begins in `merged`
  const auto close_group = [&] {
    if (merged.size() - group > most_ranges) {
      merged[group].end = merged.back().end;
      merged.resize(group + 1);
    }
    group = merged.size();
  };
  for (auto use = begin; use != uses.end(); ++use) {
    if (merged.size() > group && merged.back().resource != use->resource) close_group();
    if (merged.size() > group && use->begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, use->end);
    } else {
      merged.push_back(*use);
    }
  }
  close_group();
  uses.resize(first);
  uses.insert(uses.end(), merged.begin(), merged.end());
}

}  // namespace

void append_view_use(const std::vector<GraphResource>& resources, const std::vector<GraphImport>& imports,
                     const VectorView& view, Access access, Stage stage, std::vector<ResourceUse>& uses) {
  const ResourceUse form{.resource = 0, .begin = 0, .end = 0, .access = access, .stage = stage};
  const ChunkList& list = *view.chunk_list();
  if (view.length() > 0) {
    const std::uint64_t begin = view.first_row();
    const std::uint64_t end = begin + view.length();
    const std::uint32_t front = list.chunks.front().resource;
    const GraphResource& resource = resources[front];
    if (resource.kind == ResourceKind::imported_vector && imports[resource.import].shape.get() == &list) {
      uses.push_back({.resource = front, .begin = begin, .end = end, .access = access, .stage = stage});
    } else {
      const std::size_t first_use = uses.size();
      const auto after = std::upper_bound(list.first_row.begin(), list.first_row.end(), begin);
      std::vector<ResourceUse> ranges;
      for (auto index = static_cast<std::size_t>(after - list.first_row.begin()) - 1; index < list.chunks.size();
           ++index) {
        const std::uint64_t chunk_begin = std::max(begin, list.first_row[index]);
        const std::uint64_t chunk_end = std::min(end, list.first_row[index + 1]);
        if (list.first_row[index] >= end) break;
        if (chunk_begin >= chunk_end) continue;
        append_chunk(resources, imports, list.chunks[index], list.format, chunk_begin - list.first_row[index],
                     chunk_end - chunk_begin, form, ranges);
      }
      uses.insert(uses.end(), ranges.begin(), ranges.end());
      if (ranges.size() > 1) merge_ranges(uses, first_use);
    }
  }
  if (view.count()) append_view_use(resources, imports, VectorView(*view.count()), Access::read, stage, uses);
}

std::vector<ResourceUse> resolve_uses(const std::vector<GraphResource>& resources,
                                      const std::vector<GraphImport>& imports, const Dispatch& dispatch) {
  std::vector<ResourceUse> uses;
  for (const ViewUse& use : dispatch.view_uses) {
    append_view_use(resources, imports, use.view, use.access, Stage::compute, uses);
  }
  for (const BufferUse& use : dispatch.buffer_uses) {
    if (use.bytes == 0) continue;
    uses.push_back({.resource = use.buffer.resource(),
                    .begin = use.offset,
                    .end = use.offset + use.bytes,
                    .access = use.access,
                    .stage = Stage::compute});
  }
  if (!dispatch.image_uses.empty()) {
    std::vector<StagedImageUse> images;
    for (const ImageUse& use : dispatch.image_uses) {
      images.push_back({.image = use.image, .access = use.access, .stage = Stage::compute});
    }
    const std::vector<ResourceUse> resolved = resolve_image_uses(images);
    uses.insert(uses.end(), resolved.begin(), resolved.end());
  }
  if (dispatch.indirect) {
    append_view_use(resources, imports, VectorView(*dispatch.indirect), Access::read, Stage::indirect, uses);
  }
  return uses;
}

}  // namespace tessera::detail
