#include <tessera/graph/views.hpp>

#include <string>

#include "graph/layout.hpp"
#include "graph/reject.hpp"

namespace tessera {
namespace {

std::shared_ptr<const detail::ChunkList> list_of(std::span<const DataView> views) {
  auto list = std::make_shared<detail::ChunkList>();
  list->graph = views.front().buffer.graph();
  list->format = views.front().format;
  list->chunks.reserve(views.size());
  list->first_row.reserve(views.size() + 1);
  std::uint64_t row = 0;
  for (const DataView& view : views) {
    if (view.buffer.graph() != list->graph) {
      detail::reject(ErrorCode::foreign_graph, "vector view", "views", "all views belong to one graph");
    }
    if (view.format != list->format) {
      detail::reject(ErrorCode::format_mismatch, "vector view", "views", "all views have one format",
                     detail::values_of("first", name_of(list->format), "other", name_of(view.format)));
    }
    list->chunks.push_back({.resource = view.buffer.resource(),
                            .import_chunk = 0,
                            .byte_offset = view.byte_offset,
                            .length = view.length,
                            .byte_stride = detail::stride_or_packed(view.byte_stride, view.format)});
    list->first_row.push_back(row);
    row += view.length;
  }
  list->first_row.push_back(row);
  return list;
}

}  // namespace

DataView GraphBuffer::view(Format format, std::uint64_t length, const ViewLayout& layout) const {
  const std::uint64_t stride = detail::stride_or_packed(layout.byte_stride, format);
  detail::require_layout("view", "buffer", format, layout.byte_offset, stride);
  detail::require_range("view", "buffer", format, layout.byte_offset, stride, length, size_);
  return {
      .buffer = *this, .format = format, .length = length, .byte_offset = layout.byte_offset, .byte_stride = stride};
}

VectorView::VectorView(const DataView& view)
    : chunks_(list_of(std::span<const DataView>(&view, 1))), length_(view.length) {}

VectorView::VectorView(std::span<const DataView> views) {
  if (views.empty()) detail::reject(ErrorCode::missing_operand, "vector view", "views", "at least one view is joined");
  chunks_ = list_of(views);
  length_ = chunks_->first_row.back();
}

VectorView::VectorView(std::shared_ptr<const detail::ChunkList> chunks, std::uint64_t first_row, std::uint64_t length,
                       std::optional<DataView> count) noexcept
    : chunks_(std::move(chunks)), first_row_(first_row), length_(length), count_(count) {}

VectorView VectorView::slice(std::uint64_t first, std::uint64_t length) const {
  if (count_) {
    detail::reject(ErrorCode::unsupported_operation, "vector view", "slice",
                   "a view whose length is on the device has no slices");
  }
  if (first > length_ || length > length_ - first) {
    detail::reject(ErrorCode::range_out_of_bounds, "vector view", "slice", "rows stay inside the view",
                   detail::values_of("first", first, "rows", length, "view rows", length_));
  }
  return VectorView(chunks_, first_row_ + first, length, std::nullopt);
}

VectorView VectorView::with_count(const DataView& count) const {
  if (count.format != Format::uint32 || count.length != 1) {
    detail::reject(ErrorCode::format_mismatch, "vector view", "count", "a count is one uint32",
                   detail::values_of("format", name_of(count.format), "rows", count.length));
  }
  if (count.buffer.graph() != graph()) {
    detail::reject(ErrorCode::foreign_graph, "vector view", "count", "the count belongs to the view's graph");
  }
  return VectorView(chunks_, first_row_, length_, count);
}

VectorView VectorView::reinterpret(Format format) const {
  if (format == this->format()) return *this;
  if (size_of(format) != size_of(this->format())) {
    detail::reject(ErrorCode::format_mismatch, "vector view", "reinterpret", "both formats have one size",
                   detail::values_of("format", name_of(this->format()), "other", name_of(format)));
  }
  auto list = std::make_shared<detail::ChunkList>(*chunks_);
  list->format = format;
  return VectorView(std::move(list), first_row_, length_, count_);
}

}  // namespace tessera
