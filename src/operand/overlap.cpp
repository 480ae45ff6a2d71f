#include "operand/overlap.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::detail {
namespace {

/// Rows of one chunk that a view covers, as bytes counted from the start of that memory.
struct Piece {
  std::uint32_t resource;
  std::uint32_t import_chunk;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t stride;
  bool second_view;

  auto place() const { return std::tuple(resource, import_chunk, begin); }
};

void append_pieces(std::vector<Piece>& pieces, const VectorView& view, bool second_view) {
  const ChunkList& list = *view.chunk_list();
  const std::uint64_t row_bytes = size_of(list.format);
  const std::uint64_t last_row = view.first_row() + view.length();
  const auto first = std::upper_bound(list.first_row.begin(), list.first_row.end(), view.first_row());
  for (auto i = static_cast<std::size_t>(first - list.first_row.begin()) - 1; i < list.chunks.size(); ++i) {
    if (list.first_row[i] >= last_row) break;
    const GraphChunk& chunk = list.chunks[i];
    const std::uint64_t from = std::max(list.first_row[i], view.first_row()) - list.first_row[i];
    const std::uint64_t to = std::min(list.first_row[i] + chunk.length, last_row) - list.first_row[i];
    if (from >= to) continue;
    pieces.push_back({chunk.resource, chunk.import_chunk, chunk.byte_offset + from * chunk.byte_stride,
                      chunk.byte_offset + (to - 1) * chunk.byte_stride + row_bytes, chunk.byte_stride, second_view});
  }
}

bool share_bytes(const Piece& left, const Piece& right, std::uint64_t row_bytes) {
  if (left.begin >= right.end || right.begin >= left.end) return false;
  if (left.stride != right.stride || left.stride < 2 * row_bytes) return true;
  const std::uint64_t low = std::min(left.begin, right.begin);
  const std::uint64_t distance = (std::max(left.begin, right.begin) - low) % left.stride;
  return distance < row_bytes || left.stride - distance < row_bytes;
}

/// Lowest and highest resource of a list.
std::pair<std::uint32_t, std::uint32_t> resource_range(const VectorView& view) {
  std::pair<std::uint32_t, std::uint32_t> range{0xffffffffU, 0};
  for (const GraphChunk& chunk : view.chunk_list()->chunks) {
    range.first = std::min(range.first, chunk.resource);
    range.second = std::max(range.second, chunk.resource);
  }
  return range;
}

/// Chunks of one import in their own order lie in memory of their own as far as a graph can tell; encoding compares the
/// memory.
bool distinct_import_chunks(const VectorView& view) {
  const auto& chunks = view.chunk_list()->chunks;
  return std::adjacent_find(chunks.begin(), chunks.end(), [](const GraphChunk& left, const GraphChunk& right) {
           return left.resource != right.resource || left.import_chunk >= right.import_chunk;
         }) == chunks.end();
}

bool any_shared(std::vector<Piece>& pieces, std::uint64_t row_bytes, bool between_views) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& left, const Piece& right) { return left.place() < right.place(); });
  std::vector<const Piece*> open;
  for (const Piece& piece : pieces) {
    std::erase_if(open, [&](const Piece* other) {
      return other->resource != piece.resource || other->import_chunk != piece.import_chunk ||
             other->end <= piece.begin;
    });
    for (const Piece* other : open)
      if ((!between_views || other->second_view != piece.second_view) && share_bytes(*other, piece, row_bytes))
        return true;
    open.push_back(&piece);
  }
  return false;
}

}  // namespace

bool overlaps(const VectorView& left, const VectorView& right) {
  const auto [left_low, left_high] = resource_range(left);
  const auto [right_low, right_high] = resource_range(right);
  if (left_high < right_low || right_high < left_low) return false;
  std::vector<Piece> pieces;
  append_pieces(pieces, left, false);
  append_pieces(pieces, right, true);
  return any_shared(pieces, std::max(size_of(left.format()), size_of(right.format())), true);
}

bool overlaps_itself(const VectorView& view) {
  if (distinct_import_chunks(view)) return false;
  std::vector<Piece> pieces;
  append_pieces(pieces, view, false);
  return any_shared(pieces, size_of(view.format()), false);
}

bool same_rows(const VectorView& left, const VectorView& right) {
  if (left.length() != right.length() || left.graph() != right.graph() ||
      size_of(left.format()) != size_of(right.format()))
    return false;
  if (left.chunk_list() == right.chunk_list()) return left.first_row() == right.first_row();
  std::vector<Piece> pieces;
  append_pieces(pieces, left, false);
  const std::size_t count = pieces.size();
  append_pieces(pieces, right, true);
  if (pieces.size() != 2 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Piece& a = pieces[i];
    const Piece& b = pieces[count + i];
    if (a.place() != b.place() || a.end != b.end || a.stride != b.stride) return false;
  }
  return true;
}

}  // namespace tessera::detail
