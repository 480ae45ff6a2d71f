#pragma once

#include <string>

#include <tessera/export.hpp>
#include <tessera/residency/tile_source.hpp>

namespace tessera::io {

/// A rectangle in the units of a coordinate reference system, x before y (longitude before latitude).
struct Box {
  double minimum_x = 0.0;
  double minimum_y = 0.0;
  double maximum_x = 0.0;
  double maximum_y = 0.0;
};

/// The pixels that a box touches, as far as the raster goes: whole pixels, rounded outwards. Edges within a thousandth
/// of a pixel of a pixel's border count as on it. On a rotated grid the window surrounds the box.
///
/// `crs` is what the box is given in, anything that GDAL understands (`EPSG:4326`, WKT, PROJ); empty means the raster's
/// own. A box of another system is first transformed, its edges followed in 21 steps.
///
/// `invalid_argument`: corners not finite or not in order, a raster without georeferencing, a CRS that GDAL doesn't
/// understand or can't transform, a CRS given for a raster that has none. `range_out_of_bounds`, with both extents: the
/// box and the raster share no pixel.
TESSERA_EXPORT residency::Window window_of_box(const residency::TileSource& raster, const Box& box,
                                               const std::string& crs = {});

/// The rectangle around the raster's pixels in its own coordinate reference system.
TESSERA_EXPORT Box extent_of(const raster::RasterMetadata& metadata);

}  // namespace tessera::io
