#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <tessera/export.hpp>

namespace tessera::residency {

/// Width and height in pixels.
struct Extent {
  std::int64_t width = 0;
  std::int64_t height = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// A rectangle of pixels: columns [column, column + width), rows [row, row + height).
struct Window {
  std::int64_t column = 0;
  std::int64_t row = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;

  std::uint64_t pixel_count() const noexcept {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
  /// `column,row,width,height`, as the command spells windows.
  TESSERA_EXPORT std::string text() const;

  friend bool operator==(const Window&, const Window&) = default;
};

/// A raster cut into equal rectangles in row-major order; those at the right and lower edge may be smaller.
/// Plain value; safe to read from several threads. Costs no memory per window.
class TESSERA_EXPORT WindowGrid {
 public:
  /// `invalid_argument` when an extent is not positive.
  WindowGrid(Extent raster, Extent window);

  Extent raster() const noexcept { return raster_; }
  /// Size of every window that touches no edge.
  Extent window_extent() const noexcept { return window_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t rows() const noexcept { return rows_; }
  std::uint64_t size() const noexcept {
    return static_cast<std::uint64_t>(columns_) * static_cast<std::uint64_t>(rows_);
  }
  /// Window `index` in row-major order; `range_out_of_bounds` beyond the last.
  Window operator[](std::uint64_t index) const;

 private:
  Extent raster_;
  Extent window_;
  std::int64_t columns_ = 0;
  std::int64_t rows_ = 0;
};

/// What bounds a window plan.
struct WindowPlanOptions {
  /// Bytes that one window may take in memory; positive.
  std::uint64_t memory = 0;
  /// Bytes of one pixel over everything that the job holds per window (all bands, validity); positive.
  std::uint64_t bytes_per_pixel = 0;
  /// Blocks of the output, when there is one: windows end on its rows as well where that costs little, so that no
  /// output block is written twice. Zero means no output.
  Extent output_block = {};
  /// Upper bound of a window's pixels, besides memory; 0 means none.
  std::uint64_t maximum_pixels = 0;
};

/// Cuts a raster into windows that are aligned to its blocks: whole rows of blocks, as many as the memory allows; or,
/// when one row of blocks is too large, as many blocks of one row as fit. Each block is then decoded once.
/// A single block beyond the budget is `limit_exceeded`; `name` is the file that the message tells how to rewrite.
/// `invalid_argument` when an extent or an option is not positive.
TESSERA_EXPORT WindowGrid plan_windows(Extent raster, Extent block, const WindowPlanOptions& options,
                                       const std::string& name = {});

}  // namespace tessera::residency
