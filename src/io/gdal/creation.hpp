#pragma once

#include <array>
#include <span>
#include <string>

#include <tessera/error.hpp>
#include <tessera/io/raster_writer.hpp>

#include "gdal_support.hpp"

// Making datasets: what is checked before, and how bands, grids and formats are described to GDAL.
namespace tessera::io::detail {

[[noreturn]] void fail_writer(ErrorCode code, const std::string& operand, const char* rule, std::string values = {});

/// Throw as `RasterWriter::create` says.
void require_writable_bands(std::span<const raster::BandInfo> bands);
void require_writer_options(const raster::RasterMetadata& metadata, const RasterWriterOptions& options);

/// GDAL's transform, which starts at the corner of the first pixel, of an affine.
std::array<double, 6> geotransform_of(const raster::RasterMetadata& metadata);

/// Makes a described, empty GeoTIFF at `target`. `path` is the output's name for messages.
Dataset create_geotiff(const std::string& target, const std::string& path, const raster::RasterMetadata& metadata,
                       std::span<const raster::BandInfo> bands, const RasterWriterOptions& options);

/// Whether the format and the creation options are known to store any samples without loss and in one file.
bool is_known_lossless(const RasterWriterOptions& options);
/// Whether the raster is first written as a plain GeoTIFF and then copied: into another format, or with creation
/// options that may not keep every pixel.
bool is_copied_format(const RasterWriterOptions& options);
/// Checks that GDAL can write the format with these options, before anything is touched: `invalid_option`.
void require_format(const raster::RasterMetadata& metadata, std::span<const raster::BandInfo> bands,
                    const RasterWriterOptions& options);
/// The options of the GeoTIFF that such a copy is made from.
RasterWriterOptions intermediate_options(const RasterWriterOptions& options);
/// Copies a GeoTIFF of these bands into the format of the options. `file_unwritable`, `cancelled`.
void copy_into_format(const std::string& source, const std::string& target, const std::string& path,
                      const raster::RasterMetadata& metadata, std::span<const raster::BandInfo> bands,
                      const RasterWriterOptions& options);

}  // namespace tessera::io::detail
