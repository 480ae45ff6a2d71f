#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/export.hpp>
#include <tessera/format.hpp>

namespace tessera {

/// One contiguous piece of a vector in device memory. Row `i` starts at `byte_offset + i * byte_stride`.
struct Chunk {
  Buffer buffer{};
  std::uint64_t byte_offset = 0;
  std::uint64_t length = 0;       ///< rows; 0 is legal and keeps its place
  std::uint64_t byte_stride = 0;  ///< 0 means packed: the row's own size
};

/// A word on the device that says how many rows of a vector hold data.
struct CountWord {
  Buffer buffer{};
  std::uint64_t byte_offset = 0;
  friend bool operator==(const CountWord&, const CountWord&) noexcept = default;
};

/// An ordered list of chunks in device memory that together form one logical array: borrowed memory, nothing is copied
/// or joined. Chunks share a format; each keeps its own buffer, offset and stride. Immutable; copies share the chunk
/// list. Thread-safe.
class TESSERA_EXPORT Vector {
 public:
  /// Throws `range_out_of_bounds` (a chunk leaves its buffer), `layout_mismatch` (offset or stride is not a multiple of
  /// the format's alignment, or the stride is shorter than a row), `foreign_device` (chunks of several devices),
  /// `limit_exceeded` (a chunk of 2^32 rows or more), `missing_operand` (a count without a buffer). A chunk without
  /// rows needs no buffer. With `count`, the length at execution is the smaller of the chunks' rows and that uint32
  /// word.
  Vector(Format format, std::vector<Chunk> chunks, std::optional<CountWord> count = std::nullopt);

  Format format() const noexcept { return format_; }
  std::uint64_t length() const noexcept { return length_; }
  std::span<const Chunk> chunks() const noexcept { return *chunks_; }
  /// The list itself, to keep it alive or to recognise it.
  const std::shared_ptr<const std::vector<Chunk>>& chunk_list() const noexcept { return chunks_; }
  const std::optional<CountWord>& count() const noexcept { return count_; }
  /// The device of the first chunk with a buffer; none for a vector without memory.
  std::optional<Device> device() const;
  /// Same chunk list, by identity or by value.
  bool same_chunks(const Vector& other) const noexcept;

 private:
  Format format_;
  std::uint64_t length_ = 0;
  std::shared_ptr<const std::vector<Chunk>> chunks_;
  std::optional<CountWord> count_;
};

namespace detail {
TESSERA_EXPORT Vector upload_chunks(Device& device, Format format, std::span<const std::span<const std::byte>> chunks);
TESSERA_EXPORT void download_rows(const Vector& vector, std::span<std::byte> rows);
TESSERA_EXPORT void require_row_type(const Vector& vector, Format format);
}  // namespace detail

/// Allocates and fills one chunk per span.
template <class T>
Vector upload(Device& device, std::span<const std::span<const T>> chunks) {
  std::vector<std::span<const std::byte>> bytes;
  for (const auto& chunk : chunks) bytes.push_back(std::as_bytes(chunk));
  return detail::upload_chunks(device, format_of<T>, bytes);
}
template <class T, class... Containers>
Vector upload(Device& device, const Containers&... chunks) {
  const std::span<const T> list[] = {std::span<const T>(chunks)...};
  return upload<T>(device, std::span<const std::span<const T>>(list));
}

/// Waits for everything submitted, then reads all rows in logical order.
/// Throws `format_mismatch` when T is not the vector's row type.
template <class T>
std::vector<T> download(const Vector& vector) {
  if constexpr (requires { FormatOf<T>::value; }) detail::require_row_type(vector, format_of<T>);
  std::vector<T> rows(vector.length());
  detail::download_rows(vector, std::as_writable_bytes(std::span<T>(rows)));
  return rows;
}

}  // namespace tessera
