// The vegetation index of one window whose bands are on the device: stored as uint16 with nodata and calibration, and
// read in place.
#include <cstdint>
#include <iostream>
#include <utility>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>
#include <tessera/graph/graph.hpp>
#include <tessera/raster/band.hpp>
#include <tessera/raster/pixel.hpp>
#include <tessera/raster/statistics.hpp>

namespace ts = tessera;

namespace {

constexpr std::uint16_t no_data = 65535;

ts::raster::Band band_of(ts::Device& device, const std::vector<std::uint16_t>& samples) {
  return {.values = ts::upload<std::uint16_t>(device, samples),
          .no_data = ts::raster::NoData::of_unsigned(ts::raster::SampleType::uint16, no_data),
          .scale = 0.0001};
}

void compute_window() {
  ts::Device device = ts::Device::open(ts::DeviceSelector::from_environment());
  const ts::raster::Band red = band_of(device, {400, 500, no_data, 0, 2000, 300});
  const ts::raster::Band near_infrared = band_of(device, {4000, no_data, 3000, 0, 2000, 2700});
  const ts::Vector index = ts::upload<float>(device, std::vector<float>(6));
  const ts::Vector valid = ts::upload<std::uint32_t>(device, std::vector<std::uint32_t>(1));

  ts::Graph graph(device);
  const ts::ImportedVector result = graph.import(index);
  graph.add(ts::raster::Ndvi{.near_infrared = near_infrared, .red = red, .output = result});
  graph.add(ts::raster::Statistics{.input = ts::Source(result).as_observations(), .count = valid});
  ts::CompiledGraph compiled = graph.compile();

  ts::Encoder encoder = device.encoder();
  compiled.encode(encoder);
  device.submit(std::move(encoder)).wait();

  for (const float value : ts::download<float>(index)) std::cout << value << ' ';
  std::cout << "\n" << ts::download<std::uint32_t>(valid).front() << " of 6 pixels are valid\n";
}

}  // namespace

int main() {
  try {
    compute_window();
  } catch (const ts::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
