#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <tessera/raster/band_info.hpp>

namespace tessera::cli {

/// How rasters are read: the options of every command that works on pixels.
struct InputOptions {
  std::vector<std::string> open_options;
  bool raw = false;
  std::optional<double> scale;
  std::optional<double> offset;
  std::string no_data;  ///< a number, `nan`, `none`, or empty for what the file says

  std::string mask;  ///< `FILE` or `FILE,BAND`
  std::vector<std::uint32_t> mask_bits;
  std::vector<std::int64_t> mask_values;
  std::string mask_preset;

  std::vector<std::int64_t> window;  ///< column, row, width, height
  std::vector<double> box;           ///< xmin, ymin, xmax, ymax
  std::string box_reference_system;

  std::string align;
  std::string resampling = "nearest";
  std::string on_error = "fail";

  void add_options(CLI::App& command);
  /// Options that contradict each other throw `UsageError`.
  void validate() const;
  bool skips_errors() const { return on_error == "skip"; }

  /// A band's description with what the options override.
  raster::BandInfo overridden(raster::BandInfo info) const;
};

/// The nodata value that a text names, in a type: a number that the type holds, `nan` or `none`. Throws `UsageError`
/// naming `option`.
raster::NoData parse_no_data(raster::SampleType type, const std::string& text, const std::string& option);

}  // namespace tessera::cli
