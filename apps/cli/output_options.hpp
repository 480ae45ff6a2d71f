#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tessera/io/raster_writer.hpp>
#include <tessera/residency/encoding_sink.hpp>

#include "run.hpp"

namespace tessera::cli {

/// The way out where an output exists.
inline constexpr const char* overwrite_advice = "--overwrite replaces it";

/// How a raster is written: the options of every command that writes one.
struct OutputOptions {
  std::string path;
  bool overwrite = false;
  std::string format = "GTiff";
  std::vector<std::string> creation_options;
  std::string no_data;
  std::string type;
  bool allow_collision = false;

  void add_options(CLI::App& command);
  /// The band that is written, from the command's own description: --output-data-type and --nodata win. Throws
  /// `UsageError` for a nodata value that the type does not hold.
  raster::BandInfo band(raster::BandInfo info) const;
};

/// The output of a job: float32 results with NaN for missing pixels go in, the file's type and nodata come out.
class OutputRaster {
 public:
  /// Throws `UsageError` for a format or creation options that GDAL doesn't know or can't use, and otherwise what
  /// `io::RasterWriter::create` throws.
  OutputRaster(const OutputOptions& options, const RunOptions& run, const raster::RasterMetadata& metadata,
               const raster::BandInfo& band, const std::vector<std::string>& inputs);

  residency::TileSink& sink() noexcept { return *encoder_; }
  residency::Extent preferred_block() const { return writer_.preferred_block(); }
  /// Checks for collisions and gives the file its name.
  void finish();

 private:
  raster::BandInfo band_;
  io::RasterWriter writer_;
  std::unique_ptr<residency::EncodingSink> encoder_;
};

}  // namespace tessera::cli
