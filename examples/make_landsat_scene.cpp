// Writes a deterministic synthetic scene as Landsat's Collection 2 Level 2 comes: red and near-infrared in two files of
// scaled uint16 reflectance, without the scale in the file, and a third with the quality bits of each pixel.
//
//   make_landsat_scene PREFIX [SIZE [SEED]]     writes PREFIX_SR_B4.TIF, PREFIX_SR_B5.TIF, PREFIX_QA_PIXEL.TIF

#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/io/raster_writer.hpp>

#include "scene.hpp"

namespace {

using tessera::residency::Window;
using tessera::residency::WindowGrid;

constexpr std::uint16_t clear = 21824;
constexpr std::uint16_t cloud = 22280;

/// Reflectance = sample * 0.0000275 - 0.2.
std::uint16_t scaled(std::uint16_t ten_thousandths) {
  return static_cast<std::uint16_t>(((ten_thousandths + 2000) * 40 + 5) / 11);
}

tessera::io::RasterWriter create(const std::string& path, std::int64_t size, bool has_fill) {
  tessera::raster::BandInfo info;
  info.type = tessera::raster::SampleType::uint16;
  if (has_fill) info.no_data = tessera::raster::NoData::of_unsigned(info.type, 0);
  tessera::io::RasterWriterOptions options;
  options.overwrite = tessera::io::OverwritePolicy::replace;
  options.threads = 0;
  return tessera::io::RasterWriter::create(path, scene::metadata_of(size, size, 30.0), {&info, 1}, options);
}

void make_scene(const std::string& prefix, std::int64_t size, std::uint32_t seed) {
  std::array writers{create(prefix + "_SR_B4.TIF", size, true), create(prefix + "_SR_B5.TIF", size, true),
                     create(prefix + "_QA_PIXEL.TIF", size, false)};
  const scene::Scene landscape(seed);
  const WindowGrid windows(writers[0].extent(), writers[0].preferred_block());
  for (std::uint64_t index = 0; index < windows.size(); ++index) {
    const Window window = windows[index];
    std::array<std::vector<std::uint16_t>, 3> samples;
    for (std::int64_t y = window.row; y < window.row + window.height; ++y) {
      for (std::int64_t x = window.column; x < window.column + window.width; ++x) {
        const scene::Pixel pixel = landscape.at(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
        samples[0].push_back(scaled(pixel.red));
        samples[1].push_back(scaled(pixel.near_infrared));
        samples[2].push_back(pixel.cloud ? cloud : clear);
      }
    }
    for (std::size_t file = 0; file < writers.size(); ++file) {
      const tessera::residency::BandSamples band{1, std::as_bytes(std::span(samples[file]))};
      writers[file].write({.window = window, .bands = {&band, 1}});
    }
  }
  for (tessera::io::RasterWriter& writer : writers) writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t size = 1024;
  std::uint32_t seed = 1;
  const bool valid = argc >= 2 && argc <= 4 && (argc <= 2 || scene::parse(argv[2], size)) &&
                     (argc <= 3 || scene::parse(argv[3], seed));
  if (!valid) {
    std::cerr << "usage: make_landsat_scene PREFIX [SIZE [SEED]]\n";
    return 2;
  }
  try {
    make_scene(argv[1], size, seed);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
