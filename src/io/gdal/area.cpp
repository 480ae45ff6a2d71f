#include <tessera/io/area.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include <tessera/error.hpp>

#include "gdal_support.hpp"
#include "reference_system.hpp"

namespace tessera::io {

namespace {

using raster::RasterMetadata;

/// What counts as on a pixel's border, in pixels: coordinates are written with few digits.
constexpr double border = 1e-3;
constexpr int edge_steps = 21;

[[noreturn]] void fail(ErrorCode code, const residency::TileSource& raster, const char* rule, std::string values) {
  throw Error(code, {"window_of_box", raster.name(), rule, std::move(values)});
}

std::string text_of(const Box& box) {
  char text[128];
  std::snprintf(text, sizeof(text), "%.15g,%.15g,%.15g,%.15g", box.minimum_x, box.minimum_y, box.maximum_x,
                box.maximum_y);
  return text;
}

/// Half a pixel for rasters whose affine starts at the pixel's own position, so that pixel borders are integers.
double border_shift(const RasterMetadata& metadata) {
  return metadata.pixel_interpretation == raster::PixelInterpretation::point ? 0.5 : 0.0;
}

/// Bounds of four points.
template <class Point>
Box bounds_of(const std::array<std::array<double, 2>, 4>& corners, const Point& point) {
  std::array<double, 2> first = point(corners[0]);
  Box box{first[0], first[1], first[0], first[1]};
  for (const auto& corner : corners) {
    const std::array<double, 2> at = point(corner);
    box.minimum_x = std::min(box.minimum_x, at[0]);
    box.maximum_x = std::max(box.maximum_x, at[0]);
    box.minimum_y = std::min(box.minimum_y, at[1]);
    box.maximum_y = std::max(box.maximum_y, at[1]);
  }
  return box;
}

std::array<std::array<double, 2>, 4> corners_of(const Box& box) {
  return {{{box.minimum_x, box.minimum_y},
           {box.maximum_x, box.minimum_y},
           {box.minimum_x, box.maximum_y},
           {box.maximum_x, box.maximum_y}}};
}

/// The box in the raster's own reference system.
Box transformed(const residency::TileSource& raster, const Box& box, const std::string& crs) {
  const auto& own = raster.metadata().coordinate_reference_system;
  if (crs.empty()) {
    return box;
  }
  if (!own) {
    fail(ErrorCode::invalid_argument, raster, "a box in a reference system needs a raster that has one", crs);
  }
  detail::MessageCollector messages;
  const detail::Reference from = detail::reference_of(crs);
  if (from == nullptr) {
    fail(ErrorCode::invalid_argument, raster, "the box's coordinate reference system must be known",
         crs + ": " + messages.text());
  }
  const detail::Reference to = detail::reference_of(*own);
  const detail::Transformation transformation =
      to == nullptr ? detail::Transformation() : detail::transformation_between(from, to);
  Box result;
  if (transformation == nullptr ||
      OCTTransformBounds(transformation.get(), box.minimum_x, box.minimum_y, box.maximum_x, box.maximum_y,
                         &result.minimum_x, &result.minimum_y, &result.maximum_x, &result.maximum_y,
                         edge_steps) == FALSE ||
      !std::isfinite(result.minimum_x + result.minimum_y + result.maximum_x + result.maximum_y)) {
    fail(ErrorCode::invalid_argument, raster, "the box must have a place in the raster's reference system",
         text_of(box) + " in " + crs + ": " + messages.text());
  }
  return result;
}

struct Range {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

/// Whole pixels between two positions, inside [0, size); none when they share none.
Range pixels_between(double low, double high, std::int64_t size) {
  const auto most = static_cast<double>(size);
  const double begin = std::max(std::floor(low + border), 0.0);
  const double end = std::min(std::ceil(high - border), most);
  if (!(begin < end)) {
    return {};
  }
  return {static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end - begin)};
}

}  // namespace

Box extent_of(const RasterMetadata& metadata) {
  const double shift = border_shift(metadata);
  const Box pixels{-shift, -shift, static_cast<double>(metadata.width) - shift,
                   static_cast<double>(metadata.height) - shift};
  const std::array<double, 6>& m = metadata.affine;
  return bounds_of(corners_of(pixels), [&](const std::array<double, 2>& at) {
    return std::array<double, 2>{m[0] * at[0] + m[1] * at[1] + m[2], m[3] * at[0] + m[4] * at[1] + m[5]};
  });
}

residency::Window window_of_box(const residency::TileSource& raster, const Box& box, const std::string& crs) {
  const RasterMetadata& metadata = raster.metadata();
  if (metadata.georeferencing != raster::Georeferencing::present) {
    fail(ErrorCode::invalid_argument, raster, "a box needs a georeferenced raster; name a window of pixels instead",
         text_of(box));
  }
  // Also false where a corner is not a number.
  if (!(box.minimum_x < box.maximum_x && box.minimum_y < box.maximum_y) ||
      !std::isfinite(box.maximum_x - box.minimum_x + box.maximum_y - box.minimum_y)) {
    fail(ErrorCode::invalid_argument, raster, "a box must read XMIN,YMIN,XMAX,YMAX with the minima below the maxima",
         text_of(box));
  }
  const Box own = transformed(raster, box, crs);
  const std::array<double, 6>& m = metadata.affine;
  const double determinant = m[0] * m[4] - m[1] * m[3];
  const double shift = border_shift(metadata);
  const Box pixels = bounds_of(corners_of(own), [&](const std::array<double, 2>& at) {
    const double x = at[0] - m[2];
    const double y = at[1] - m[5];
    return std::array<double, 2>{(m[4] * x - m[1] * y) / determinant + shift,
                                 (m[0] * y - m[3] * x) / determinant + shift};
  });
  const Range columns = pixels_between(pixels.minimum_x, pixels.maximum_x, metadata.width);
  const Range rows = pixels_between(pixels.minimum_y, pixels.maximum_y, metadata.height);
  if (columns.size == 0 || rows.size == 0) {
    fail(ErrorCode::range_out_of_bounds, raster, "the box must share pixels with the raster",
         "the box is " + text_of(own) + ", the raster " + text_of(extent_of(metadata)));
  }
  return {columns.begin, rows.begin, columns.size, rows.size};
}

}  // namespace tessera::io
