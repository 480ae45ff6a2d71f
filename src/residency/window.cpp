#include <tessera/residency/window.hpp>

#include <algorithm>
#include <limits>
#include <numeric>

#include <tessera/error.hpp>

namespace tessera::residency {

namespace {

std::int64_t divided_up(std::int64_t value, std::int64_t divisor) { return (value - 1) / divisor + 1; }

/// width * height * bytes, saturated: headers may claim any size.
std::uint64_t saturated_bytes(std::int64_t width, std::int64_t height, std::uint64_t bytes) {
  const __uint128_t pixels = static_cast<__uint128_t>(width) * static_cast<__uint128_t>(height);
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return pixels > most / bytes ? most : static_cast<std::uint64_t>(pixels) * bytes;
}

void require_positive(const char* operand, std::int64_t value) {
  if (value <= 0) {
    throw Error(ErrorCode::invalid_argument, {"plan_windows", operand, "must be positive", std::to_string(value)});
  }
}

/// Rows of a full-width window: at most `most`, ending on input blocks and, where that is cheap, on output blocks.
std::int64_t aligned_rows(std::int64_t most, std::int64_t block_rows, std::int64_t output_rows) {
  const std::int64_t of_input = most / block_rows * block_rows;
  if (output_rows <= 0 || output_rows > most) {
    return of_input;
  }
  if (block_rows <= std::numeric_limits<std::int32_t>::max() &&
      output_rows <= std::numeric_limits<std::int32_t>::max()) {
    const std::int64_t common = std::lcm(block_rows, output_rows);
    if (common <= most) {
      return most / common * common;
    }
  }
  // Decoding a thin strip twice costs less than compressing a tile twice.
  return block_rows * 8 <= output_rows ? most / output_rows * output_rows : of_input;
}

}  // namespace

std::string Window::text() const {
  return std::to_string(column) + "," + std::to_string(row) + "," + std::to_string(width) + "," +
         std::to_string(height);
}

WindowGrid::WindowGrid(Extent raster, Extent window) : raster_(raster), window_(window) {
  require_positive("width", raster.width);
  require_positive("height", raster.height);
  require_positive("window.width", window.width);
  require_positive("window.height", window.height);
  window_.width = std::min(window.width, raster.width);
  window_.height = std::min(window.height, raster.height);
  columns_ = divided_up(raster_.width, window_.width);
  rows_ = divided_up(raster_.height, window_.height);
}

Window WindowGrid::operator[](std::uint64_t index) const {
  if (index >= size()) {
    throw Error(ErrorCode::range_out_of_bounds, {"window_grid", "index", "must be smaller than the number of windows",
                                                 std::to_string(index) + " of " + std::to_string(size())});
  }
  const std::uint64_t columns = static_cast<std::uint64_t>(columns_);
  Window window;
  window.column = static_cast<std::int64_t>(index % columns) * window_.width;
  window.row = static_cast<std::int64_t>(index / columns) * window_.height;
  window.width = std::min(window_.width, raster_.width - window.column);
  window.height = std::min(window_.height, raster_.height - window.row);
  return window;
}

WindowGrid plan_windows(Extent raster, Extent block, const WindowPlanOptions& options, const std::string& name) {
  require_positive("width", raster.width);
  require_positive("height", raster.height);
  require_positive("block.width", block.width);
  require_positive("block.height", block.height);
  if (options.memory == 0 || options.bytes_per_pixel == 0) {
    throw Error(ErrorCode::invalid_argument,
                {"plan_windows", options.memory == 0 ? "memory" : "bytes_per_pixel", "must be positive", "0"});
  }
  std::uint64_t pixels = options.memory / options.bytes_per_pixel;
  if (options.maximum_pixels != 0) {
    pixels = std::min(pixels, options.maximum_pixels);
  }
  pixels = std::min<std::uint64_t>(pixels, std::numeric_limits<std::int64_t>::max());
  const std::int64_t most = static_cast<std::int64_t>(pixels);
  const Extent cell = {std::min(block.width, raster.width), std::min(block.height, raster.height)};

  const std::int64_t full_rows = std::min(most / raster.width, raster.height);
  if (full_rows == raster.height) {
    return WindowGrid(raster, raster);
  }
  if (full_rows >= cell.height) {
    return WindowGrid(raster, {raster.width, aligned_rows(full_rows, cell.height, options.output_block.height)});
  }
  const std::int64_t columns = most / cell.height;
  if (columns < cell.width) {
    const std::string file = name.empty() ? "IN" : name;
    throw Error(ErrorCode::limit_exceeded,
                {"plan_windows", name,
                 "one block must fit into the memory allowed; rewrite the file in small blocks with: gdal_translate "
                 "-co TILED=YES -co COMPRESS=DEFLATE -co BIGTIFF=IF_SAFER '" +
                     file + "' tiled.tif",
                 "a block of " + std::to_string(cell.width) + " x " + std::to_string(cell.height) + " pixels takes " +
                     std::to_string(saturated_bytes(cell.width, cell.height, options.bytes_per_pixel)) + " bytes, " +
                     std::to_string(pixels * options.bytes_per_pixel) + " are allowed"});
  }
  return WindowGrid(raster, {aligned_rows(columns, cell.width, options.output_block.width), cell.height});
}

}  // namespace tessera::residency
