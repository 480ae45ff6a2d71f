#include <tessera/graph/vector.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "graph/layout.hpp"
#include "graph/reject.hpp"

namespace tessera {
namespace {

std::string chunk_name(std::size_t index) { return "chunk " + std::to_string(index); }

void require_same_device(const std::shared_ptr<detail::DeviceState>& expected, const Buffer& buffer,
                         std::size_t index) {
  if (buffer.device().state() != expected) {
    detail::reject(ErrorCode::foreign_device, "vector", chunk_name(index), "all chunks are on one device");
  }
}

bool same_chunk(const Chunk& left, const Chunk& right) noexcept {
  return left.buffer == right.buffer && left.byte_offset == right.byte_offset && left.length == right.length &&
         left.byte_stride == right.byte_stride;
}

}  // namespace

Vector::Vector(Format format, std::vector<Chunk> chunks, std::optional<CountWord> count)
    : format_(format), count_(std::move(count)) {
  std::shared_ptr<detail::DeviceState> device;
  const detail::BufferState* checked = nullptr;  // long lists in one buffer ask for its device once
  for (std::size_t index = 0; index < chunks.size(); ++index) {
    Chunk& chunk = chunks[index];
    chunk.byte_stride = detail::stride_or_packed(chunk.byte_stride, format);
    if (chunk.length > std::numeric_limits<std::uint32_t>::max()) {
      detail::reject(ErrorCode::limit_exceeded, "vector", chunk_name(index), "a chunk has fewer than 2^32 rows",
                     detail::values_of("rows", chunk.length));
    }
    if (!chunk.buffer && chunk.length == 0) continue;
    const bool valid_layout =
        chunk.byte_offset % alignment_of(format) == 0 && chunk.byte_stride % alignment_of(format) == 0;
    if (!valid_layout || chunk.byte_stride < size_of(format)) {
      detail::require_layout("vector", chunk_name(index), format, chunk.byte_offset, chunk.byte_stride);
    }
    const std::uint64_t size = chunk.buffer ? chunk.buffer.size() : 0;
    if (chunk.byte_offset > size || chunk.length > (size - chunk.byte_offset) / chunk.byte_stride) {
      detail::require_range("vector", chunk_name(index), format, chunk.byte_offset, chunk.byte_stride, chunk.length,
                            size);
    }
    if (chunk.buffer.state().get() != checked) {
      checked = chunk.buffer.state().get();
      if (device == nullptr) device = chunk.buffer.device().state();
      require_same_device(device, chunk.buffer, index);
    }
    length_ += chunk.length;
  }
  if (count_) {
    if (!count_->buffer) {
      detail::reject(ErrorCode::missing_operand, "vector", "count", "a count word names its buffer");
    }
    detail::require_layout("vector", "count", Format::uint32, count_->byte_offset, 4);
    detail::require_range("vector", "count", Format::uint32, count_->byte_offset, 4, 1, count_->buffer.size());
    if (device != nullptr && count_->buffer.device().state() != device) {
      detail::reject(ErrorCode::foreign_device, "vector", "count", "the count word is on the chunks' device");
    }
  }
  chunks_ = std::make_shared<const std::vector<Chunk>>(std::move(chunks));
}

std::optional<Device> Vector::device() const {
  for (const Chunk& chunk : *chunks_) {
    if (chunk.buffer) return chunk.buffer.device();
  }
  return count_ ? std::optional<Device>(count_->buffer.device()) : std::nullopt;
}

bool Vector::same_chunks(const Vector& other) const noexcept {
  if (format_ != other.format_) return false;
  if (chunks_ == other.chunks_) return true;
  return length_ == other.length_ && std::ranges::equal(*chunks_, *other.chunks_, same_chunk);
}

namespace detail {
namespace {

/// Reads one chunk in pieces of bounded host memory and keeps the rows' own bytes.
void download_strided(Device& device, const Chunk& chunk, std::uint32_t row_bytes, std::byte* rows) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
  const std::uint64_t rows_per_piece = std::max<std::uint64_t>(1, piece_bytes / chunk.byte_stride);
  std::vector<std::byte> piece;
  for (std::uint64_t first = 0; first < chunk.length; first += rows_per_piece) {
    const std::uint64_t count = std::min(rows_per_piece, chunk.length - first);
    piece.resize((count - 1) * chunk.byte_stride + row_bytes);
    device.read(chunk.buffer, chunk.byte_offset + first * chunk.byte_stride, piece);
    for (std::uint64_t row = 0; row < count; ++row) {
      std::memcpy(rows + (first + row) * row_bytes, piece.data() + row * chunk.byte_stride, row_bytes);
    }
  }
}

}  // namespace

Vector upload_chunks(Device& device, Format format, std::span<const std::span<const std::byte>> chunks) {
  std::vector<Chunk> list;
  list.reserve(chunks.size());
  for (const std::span<const std::byte> bytes : chunks) {
    const std::uint64_t length = bytes.size() / size_of(format);
    Buffer buffer;
    if (length > 0) {
      buffer = device.allocate(bytes.size());
      device.write(buffer, 0, bytes);
    }
    list.push_back({.buffer = std::move(buffer), .byte_offset = 0, .length = length, .byte_stride = size_of(format)});
  }
  return Vector(format, std::move(list));
}

void download_rows(const Vector& vector, std::span<std::byte> rows) {
  const std::uint32_t row_bytes = size_of(vector.format());
  if (rows.size() != vector.length() * row_bytes) {
    reject(ErrorCode::format_mismatch, "download", "rows", "the host rows are as wide as the vector's",
           values_of("host bytes", rows.size(), "rows", vector.length(), "row bytes", row_bytes));
  }
  if (rows.empty()) return;
  Device device = *vector.device();
  std::byte* target = rows.data();
  for (const Chunk& chunk : vector.chunks()) {
    if (chunk.length == 0) continue;
    const std::uint64_t bytes = chunk.length * row_bytes;
    if (chunk.byte_stride == row_bytes) {
      device.read(chunk.buffer, chunk.byte_offset, std::span<std::byte>(target, bytes));
    } else {
      download_strided(device, chunk, row_bytes, target);
    }
    target += bytes;
  }
}

void require_row_type(const Vector& vector, Format format) {
  if (vector.format() != format) {
    reject(ErrorCode::format_mismatch, "download", "rows", "the row type is the vector's",
           values_of("row type", name_of(format), "vector", name_of(vector.format())));
  }
}

}  // namespace detail
}  // namespace tessera
