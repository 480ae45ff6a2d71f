#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tessera/io/raster_file.hpp>
#include <tessera/residency/stream.hpp>

#include "run.hpp"

// Bands as the command line names them, and how windows are cut within the memory allowed.
namespace tessera::cli {

struct BandReference {
  const io::RasterFile* file = nullptr;
  std::uint32_t band = 1;
};

/// Opens each file once.
class RasterFiles {
 public:
  const io::RasterFile& open(const std::string& path);
  /// A band number, a band's name, `FILE`, or `FILE,BAND`; numbers and names are those of `scene`, which may be empty.
  BandReference resolve(const std::string& scene, const std::string& reference, const std::string& option);
  /// Every file behind the rasters: their own names, sidecars, the sources of virtual rasters.
  std::vector<std::string> names() const;

 private:
  BandReference band_of(const io::RasterFile& file, const std::string& band, const std::string& option) const;
  std::map<std::string, std::unique_ptr<io::RasterFile>> files_;
};

/// Windows of a job. They and GDAL's block cache, which is set here to what the threads need and at most a quarter,
/// share --memory.
residency::WindowGrid plan_job(const Device& device, const io::RasterFile& file,
                               const std::vector<residency::StreamInput>& inputs, std::uint32_t output_bands,
                               residency::Extent output_block, const RunOptions& options,
                               const residency::StreamOptions& stream);

}  // namespace tessera::cli
