#include <algorithm>
#include <cmath>
#include <cstdio>

#include <tessera/error.hpp>
#include <tessera/io/raster_file.hpp>

#include "gdal_support.hpp"
#include "reference_system.hpp"

namespace tessera::io {

namespace {

using raster::CoordinateReferenceSystem;
using raster::RasterMetadata;

bool same_reference(const std::optional<CoordinateReferenceSystem>& left,
                    const std::optional<CoordinateReferenceSystem>& right) {
  if (!left || !right || *left == *right) {
    return true;
  }
  const detail::MessageCollector quiet;
  const detail::Reference a = detail::reference_of(*left);
  const detail::Reference b = detail::reference_of(*right);
  const char* const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES", "IGNORE_COORDINATE_EPOCH=YES", nullptr};
  return a != nullptr && b != nullptr && OSRIsSameEx(a.get(), b.get(), options) != FALSE;
}

/// Largest distance of the grids' corner pixels, in pixels of the left one.
double largest_shift(const RasterMetadata& left, const RasterMetadata& right) {
  const std::array<double, 6>& m = left.affine;
  const double determinant = m[0] * m[4] - m[1] * m[3];
  double largest = 0.0;
  for (const std::int64_t column : {std::int64_t{0}, left.width - 1}) {
    for (const std::int64_t row : {std::int64_t{0}, left.height - 1}) {
      const auto a = left.world_position(static_cast<double>(column), static_cast<double>(row));
      const auto b = right.world_position(static_cast<double>(column), static_cast<double>(row));
      const double x = b[0] - a[0];
      const double y = b[1] - a[1];
      largest = std::max({largest, std::abs(m[4] * x - m[1] * y) / std::abs(determinant),
                          std::abs(m[0] * y - m[3] * x) / std::abs(determinant)});
    }
  }
  return largest;
}

std::string text_of(const RasterMetadata& metadata) {
  std::string text = "[";
  for (const double value : metadata.affine) {
    char number[32];
    std::snprintf(number, sizeof(number), "%.17g", value);
    text += (text.size() == 1 ? "" : ", ") + std::string(number);
  }
  return text + "]";
}

std::string text_of(const RasterFile& file) {
  const auto& system = file.metadata().coordinate_reference_system;
  if (!system) {
    return "none";
  }
  return system->authority.empty() ? file.info().coordinate_reference_system_name : system->authority;
}

[[noreturn]] void reject(const RasterFile& left, const RasterFile& right, const char* rule, const std::string& a,
                         const std::string& b) {
  throw Error(ErrorCode::grid_mismatch,
              {"raster_file", right.name(), rule, left.name() + " has " + a + ", " + right.name() + " has " + b});
}

}  // namespace

void assert_same_grid(const RasterFile& left, const RasterFile& right) {
  const RasterMetadata& a = left.metadata();
  const RasterMetadata& b = right.metadata();
  if (a.width != b.width || a.height != b.height) {
    reject(left, right, "rasters used together must have the same size",
           std::to_string(a.width) + " x " + std::to_string(a.height),
           std::to_string(b.width) + " x " + std::to_string(b.height));
  }
  if (!same_reference(a.coordinate_reference_system, b.coordinate_reference_system)) {
    reject(left, right, "rasters used together must have the same coordinate reference system", text_of(left),
           text_of(right));
  }
  // Half a pixel and a little, for coordinates that were written with few digits.
  if (!(largest_shift(a, b) <= 0.5 + 1e-6)) {
    reject(left, right, "rasters used together must agree in position within half a pixel", text_of(a), text_of(b));
  }
}

}  // namespace tessera::io
