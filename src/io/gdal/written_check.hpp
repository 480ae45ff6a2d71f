#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <tessera/io/raster_writer.hpp>

#include "gdal_support.hpp"

// Whether a written file holds what was to be written.
namespace tessera::io::detail {

/// What a finished file must be, and how it is called in messages.
struct WrittenRaster {
  const std::string& path;
  const raster::RasterMetadata& metadata;
  std::span<const raster::BandInfo> bands;
  const RasterWriterOptions& options;
  bool has_mask = false;
};

/// Opens a written file and requires its size, bands, sample types and what makes pixels missing: `file_unwritable`. A
/// medium that lost the end of the file without a word shows here.
Dataset open_written(const std::string& name, const WrittenRaster& raster);

/// Requires that the file holds the very pixels of the GeoTIFF that it was copied from: `file_unwritable`, saying how
/// many differ; `cancelled`.
void require_same_pixels(const std::string& source, const std::string& copy, const WrittenRaster& raster);

/// Copies a raster of a few pixels into the format, as the output will be, and requires that every pixel comes back
/// without the help of what it was copied from: `file_unwritable`; `invalid_option` for creation options that make no
/// GeoTIFF. `folder` is empty before and after; `name` is the output's without folder. Returns the names of the files
/// that the format makes beside it.
std::vector<std::string> try_format(const std::filesystem::path& folder, const std::string& name,
                                    const WrittenRaster& raster);

}  // namespace tessera::io::detail
