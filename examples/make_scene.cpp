// Writes a deterministic synthetic scene: two bands (red and near-infrared) of uint16 reflectance with vegetation
// patches, a river and lakes, and clouds as nodata. Integer arithmetic only, so that every machine makes the same file.
//
//   make_scene OUT.tif [WIDTH [HEIGHT [SEED]]]

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

constexpr std::uint16_t no_data = 65535;

tessera::raster::BandInfo band_info(const char* description) {
  tessera::raster::BandInfo info;
  info.type = tessera::raster::SampleType::uint16;
  info.no_data = tessera::raster::NoData::of_unsigned(info.type, no_data);
  info.scale = 0.0001;
  info.description = description;
  return info;
}

void fill(const scene::Scene& scene, const Window& window, std::vector<std::uint16_t>& red,
          std::vector<std::uint16_t>& near_infrared) {
  red.resize(window.pixel_count());
  near_infrared.resize(window.pixel_count());
  std::size_t i = 0;
  for (std::int64_t y = window.row; y < window.row + window.height; ++y) {
    for (std::int64_t x = window.column; x < window.column + window.width; ++x) {
      const scene::Pixel pixel = scene.at(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
      red[i] = pixel.cloud ? no_data : pixel.red;
      near_infrared[i] = pixel.cloud ? no_data : pixel.near_infrared;
      ++i;
    }
  }
}

void make_scene(const std::string& path, std::int64_t width, std::int64_t height, std::uint32_t seed) {
  const std::array bands = {band_info("red"), band_info("near_infrared")};
  tessera::io::RasterWriterOptions options;
  options.overwrite = tessera::io::OverwritePolicy::replace;
  options.threads = 0;
  tessera::io::RasterWriter writer =
      tessera::io::RasterWriter::create(path, scene::metadata_of(width, height, 10.0), bands, options);

  const scene::Scene landscape(seed);
  std::vector<std::uint16_t> red;
  std::vector<std::uint16_t> near_infrared;
  const WindowGrid windows(writer.extent(), writer.preferred_block());
  for (std::uint64_t i = 0; i < windows.size(); ++i) {
    fill(landscape, windows[i], red, near_infrared);
    const std::array<tessera::residency::BandSamples, 2> samples = {
        {{1, std::as_bytes(std::span(red))}, {2, std::as_bytes(std::span(near_infrared))}}};
    writer.write({windows[i], samples});
  }
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t width = 1024;
  std::uint32_t seed = 1;
  const bool has_width = argc > 2;
  bool valid = argc >= 2 && argc <= 5 && (!has_width || scene::parse(argv[2], width));
  std::int64_t height = width;
  valid = valid && (argc <= 3 || scene::parse(argv[3], height)) && (argc <= 4 || scene::parse(argv[4], seed));
  if (!valid) {
    std::cerr << "usage: make_scene OUT.tif [WIDTH [HEIGHT [SEED]]]\n";
    return 2;
  }
  try {
    make_scene(argv[1], width, height, seed);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
