#include <algorithm>

#include <tessera/error.hpp>

#include "operand/rows.hpp"

namespace tessera::detail {
namespace {

/// Walks the chunks under a view, row by row range.
class ChunkWalk {
 public:
  explicit ChunkWalk(const SpanView& column) : chunks_(&column.view->chunk_list()->chunks), bits_(column.bits.get()) {
    const VectorView& view = *column.view;
    if (bits_ == nullptr) {  // a bit mask's view is whole
      const auto& first_row = view.chunk_list()->first_row;
      const auto after = std::upper_bound(first_row.begin(), first_row.end(), view.first_row());
      chunk_ = static_cast<std::size_t>(after - first_row.begin()) - 1;
      if (chunk_ < chunks_->size()) row_ = view.first_row() - first_row[chunk_];
    }
    skip_finished();
  }
  std::uint64_t left() const { return length(chunk_) - row_; }
  std::uint32_t chunk() const { return static_cast<std::uint32_t>(chunk_); }
  /// Row in the chunk, or bit of it.
  std::uint32_t row() const {
    return static_cast<std::uint32_t>(bits_ == nullptr ? row_ : (*bits_)[chunk_].first_bit + row_);
  }
  void advance(std::uint64_t rows) {
    row_ += rows;
    skip_finished();
  }

 private:
  std::uint64_t length(std::size_t chunk) const {
    return bits_ == nullptr ? (*chunks_)[chunk].length : (*bits_)[chunk].length;
  }
  void skip_finished() {
    while (chunk_ < chunks_->size() && row_ >= length(chunk_)) {
      ++chunk_;
      row_ = 0;
    }
  }
  const std::vector<GraphChunk>* chunks_;
  const std::vector<BitRange>* bits_;
  std::size_t chunk_ = 0;
  std::uint64_t row_ = 0;
};

}  // namespace

SpanTable make_spans(std::uint64_t rows, const std::vector<SpanView>& views, std::string_view operation) {
  std::vector<std::optional<ChunkWalk>> walks;
  for (const SpanView& column : views) {
    walks.emplace_back();
    if (column.view) walks.back().emplace(column);
  }
  std::vector<std::vector<std::uint32_t>> placements(views.size());
  SpanTable table;
  std::uint64_t row = 0;
  while (row < rows) {
    std::uint64_t span = rows - row;
    for (const auto& walk : walks)
      if (walk) span = std::min(span, walk->left());
    if (table.first_row.size() == 0xffffffffU)
      throw Error(ErrorCode::limit_exceeded,
                  {std::string(operation), {}, "takes at most 2^32 - 2 spans", std::to_string(table.first_row.size())});
    table.first_row.push_back(row);
    for (std::size_t i = 0; i < walks.size(); ++i) {
      placements[i].push_back(walks[i] ? walks[i]->chunk() : 0);
      placements[i].push_back(walks[i] ? walks[i]->row() : 0);
      if (walks[i]) walks[i]->advance(span);
    }
    row += span;
  }
  table.spans = static_cast<std::uint32_t>(table.first_row.size());
  table.first_row.push_back(rows);
  for (const auto& column : placements) table.placements.insert(table.placements.end(), column.begin(), column.end());
  return table;
}

}  // namespace tessera::detail
