#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/format.hpp>

namespace tessera {

struct DataView;

/// Where rows lie inside a buffer.
struct ViewLayout {
  std::uint64_t byte_offset = 0;
  std::uint64_t byte_stride = 0;  ///< 0 means packed
};

/// A buffer of one graph: a handle. Thread-safe to copy and read.
class TESSERA_EXPORT GraphBuffer {
 public:
  std::uint64_t graph() const noexcept { return graph_; }
  std::uint32_t resource() const noexcept { return resource_; }
  std::uint64_t size() const noexcept { return size_; }

  /// Rows of this buffer. Throws `range_out_of_bounds`, `layout_mismatch` (alignment; stride shorter than a row).
  DataView view(Format format, std::uint64_t length, const ViewLayout& layout = {}) const;
  template <class T>
  DataView view(std::uint64_t length, const ViewLayout& layout = {}) const;

  /// Made by `Graph` only.
  GraphBuffer(std::uint64_t graph, std::uint32_t resource, std::uint64_t size) noexcept
      : graph_(graph), resource_(resource), size_(size) {}
  friend bool operator==(const GraphBuffer&, const GraphBuffer&) noexcept = default;

 private:
  std::uint64_t graph_;
  std::uint32_t resource_;
  std::uint64_t size_;
};

/// A typed, strided window on one buffer of a graph. Occupies `length == 0 ? 0 : (length - 1) * byte_stride +
/// size_of(format)` bytes.
struct DataView {
  GraphBuffer buffer;
  Format format;
  std::uint64_t length;
  std::uint64_t byte_offset;
  std::uint64_t byte_stride;

  friend bool operator==(const DataView&, const DataView&) noexcept = default;
};

template <class T>
DataView GraphBuffer::view(std::uint64_t length, const ViewLayout& layout) const {
  return view(format_of<T>, length, layout);
}

namespace detail {

/// One chunk of a view. `resource` is an import or a transient of the graph; for an imported or declared vector
/// `import_chunk` names its chunk, and `byte_offset` counts from that chunk's first row; for a buffer it counts from
/// the buffer's start.
struct GraphChunk {
  std::uint32_t resource = 0;
  std::uint32_t import_chunk = 0;
  std::uint64_t byte_offset = 0;
  std::uint64_t length = 0;
  std::uint64_t byte_stride = 0;
};

/// The immutable chunk list behind views. `first_row` has one entry per chunk and a last one with the total.
struct ChunkList {
  std::uint64_t graph = 0;
  Format format = Format::uint32;
  std::vector<GraphChunk> chunks;
  std::vector<std::uint64_t> first_row;
};

}  // namespace detail

/// An ordered list of chunks of one graph that together form one logical array; borders are storage only.
/// A view may be a row range of a longer list. Immutable; copies share the list. Thread-safe.
class TESSERA_EXPORT VectorView {
 public:
  VectorView(const DataView& view);  // NOLINT(google-explicit-constructor): a data view is a one-chunk vector view
  /// Joins views of one graph and format, in order. Throws `foreign_graph`, `format_mismatch`, `missing_operand` (no
  /// view).
  explicit VectorView(std::span<const DataView> views);
  VectorView(std::shared_ptr<const detail::ChunkList> chunks, std::uint64_t first_row, std::uint64_t length,
             std::optional<DataView> count) noexcept;

  std::uint64_t graph() const noexcept { return chunks_->graph; }
  Format format() const noexcept { return chunks_->format; }
  /// Rows; with a count word, the capacity.
  std::uint64_t length() const noexcept { return length_; }
  /// First row of this view in its chunk list.
  std::uint64_t first_row() const noexcept { return first_row_; }
  /// The uint32 word that limits the length at execution.
  const std::optional<DataView>& count() const noexcept { return count_; }
  const std::shared_ptr<const detail::ChunkList>& chunk_list() const noexcept { return chunks_; }

  /// Rows `[first, first + length)`: a borrowed sub-view. Throws `range_out_of_bounds`; `unsupported_operation` on a
  /// view with a count.
  VectorView slice(std::uint64_t first, std::uint64_t length) const;
  /// The same rows with a length that a word on the device limits. Throws `format_mismatch` (not one uint32),
  /// `foreign_graph`.
  VectorView with_count(const DataView& count) const;
  /// The same rows read in another format of the same size, for example the bits of float32 as uint32. Keeps the count.
  /// Throws `format_mismatch` (another size). Costs a copy of the chunk list, not of rows.
  VectorView reinterpret(Format format) const;

 private:
  std::shared_ptr<const detail::ChunkList> chunks_;
  std::uint64_t first_row_ = 0;
  std::uint64_t length_ = 0;
  std::optional<DataView> count_;
};

}  // namespace tessera
