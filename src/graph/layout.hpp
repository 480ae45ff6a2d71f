#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include <tessera/format.hpp>

#include "graph/reject.hpp"

namespace tessera::detail {

/// Bytes from the first row's begin to the last row's end. The caller has ruled out overflow.
inline std::uint64_t occupied_bytes(std::uint64_t length, std::uint64_t stride, Format format) noexcept {
  return length == 0 ? 0 : (length - 1) * stride + size_of(format);
}

inline std::uint64_t stride_or_packed(std::uint64_t stride, Format format) noexcept {
  return stride == 0 ? size_of(format) : stride;
}

/// Rejects rows that are not aligned for their format, or whose bytes would overlap one another.
inline void require_layout(std::string_view operation, std::string_view operand, Format format, std::uint64_t offset,
                           std::uint64_t stride) {
  const std::uint64_t alignment = alignment_of(format);
  if (offset % alignment != 0) {
    reject(ErrorCode::layout_mismatch, operation, operand, "the byte offset is a multiple of the format's alignment",
           values_of("byte offset", offset, "alignment", alignment, "format", name_of(format)));
  }
  if (stride % alignment != 0) {
    reject(ErrorCode::layout_mismatch, operation, operand, "the byte stride is a multiple of the format's alignment",
           values_of("byte stride", stride, "alignment", alignment, "format", name_of(format)));
  }
  if (stride < size_of(format)) {
    reject(ErrorCode::layout_mismatch, operation, operand, "the byte stride is at least one row",
           values_of("byte stride", stride, "row", size_of(format)));
  }
}

/// Rejects rows that leave a buffer, without overflow.
inline void require_range(std::string_view operation, std::string_view operand, Format format, std::uint64_t offset,
                          std::uint64_t stride, std::uint64_t length, std::uint64_t size) {
  const std::uint64_t room = offset > size ? 0 : size - offset;
  const std::uint64_t row = size_of(format);
  const bool inside = offset <= size && (length == 0 || (room >= row && (length - 1) <= (room - row) / stride));
  if (!inside) {
    reject(ErrorCode::range_out_of_bounds, operation, operand, "rows stay inside their buffer",
           values_of("byte offset", offset, "rows", length, "byte stride", stride, "buffer bytes", size));
  }
}

}  // namespace tessera::detail
