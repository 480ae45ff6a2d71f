#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tessera/export.hpp>
#include <tessera/io/raster_file.hpp>

namespace tessera::io {

/// How a pixel's value is made of those of another grid, as GDAL's warper does.
enum class Resampling : std::uint8_t { nearest, bilinear, average };

/// A file on the grid of another raster, resampled by GDAL's warper while it is read; nothing is written.
///
/// The result has the metadata (size, affine, CRS) of `reference`, and the name, bands, types, nodata values and
/// calibration of `file`. Nodata, the mask of the dataset and alpha are kept: resampling leaves missing pixels out, and
/// pixels that `file` doesn't cover are missing. Bands are masked each by their own nodata value; of a float nodata
/// value GDAL takes the neighbouring floats for missing too. The transformation is exact, not approximated, and
/// coordinates of different systems are transformed by PROJ.
///
/// `invalid_argument`: one of both has no georeferencing, or PROJ finds no transformation. `file_unsupported`: masks of
/// single bands, a mask beside alpha, and 64-bit integers, which GDAL's warper handles in double.
TESSERA_EXPORT RasterFile align(const RasterFile& file, const residency::TileSource& reference,
                                Resampling resampling = Resampling::nearest);

/// Which of several grids the others are aligned to.
enum class GridChoice : std::uint8_t {
  first,
  finest,    ///< the smallest pixels; of equal ones the first
  coarsest,  ///< the largest pixels; of equal ones the first
};

/// Index of the chosen grid. The area of the pixel in the middle of each raster is compared in the coordinate reference
/// system of the first. `missing_operand` without files; `invalid_argument` when a file has no georeferencing or no
/// transformation to the first, except for `first`.
TESSERA_EXPORT std::size_t choose_grid(std::span<const RasterFile* const> files, GridChoice choice);

}  // namespace tessera::io
