#pragma once

#include <string>
#include <vector>

#include "statistics/band_histogram.hpp"

namespace tessera::cli {

/// A histogram as a picture: 640 by 400 pixels, bars on white, the tallest as high as the picture. More bins than
/// columns are joined.
class HistogramChart {
 public:
  /// Claims the output before work starts. Throws what `io::RasterWriter::create` throws.
  HistogramChart(const std::string& path, bool overwrite, const std::vector<std::string>& inputs);
  void write(const BandHistogram& histogram);

 private:
  std::string path_;
  bool overwrite_;
  std::vector<std::string> inputs_;
};

}  // namespace tessera::cli
