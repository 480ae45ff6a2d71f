// Sums a column that lies in three chunks, then the next quarter's through the same compiled graph. Run with the
// variable TESSERA_DEVICE to choose the device.
#include <array>
#include <iostream>
#include <span>
#include <utility>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>
#include <tessera/graph/graph.hpp>
#include <tessera/ops/aggregation.hpp>

namespace ts = tessera;

namespace {

void sum_quarters() {
  ts::Device device = ts::Device::open(ts::DeviceSelector::from_environment());

  const std::vector<float> january{1.5F, 2.5F};
  const std::vector<float> february{1.0e8F, 0.25F, -1.0e8F};
  const std::vector<float> march{4.0F};
  const ts::Vector sales = ts::upload<float>(device, january, february, march);  // three chunks, kept as three
  const ts::Buffer total = device.allocate(sizeof(float));

  ts::Graph graph(device);
  const ts::ImportedVector values = graph.import(sales);
  graph.add(ts::Reduction{
      .input = values, .output = graph.import(total).view<float>(1), .operation = ts::Reduction::Operation::sum});
  ts::CompiledGraph compiled = graph.compile();

  const std::vector<float> april{10.0F, 20.0F};
  const std::vector<float> may{30.0F, 40.0F, 50.0F};
  const std::vector<float> june{60.0F};
  const ts::Vector next = ts::upload<float>(device, april, may, june);
  for (const ts::Vector& quarter : {sales, next}) {
    ts::Encoder encoder = device.encoder();
    compiled.encode(encoder, {ts::rebind(values, quarter)});
    device.submit(std::move(encoder)).wait();

    std::array<float, 1> sum{};
    device.read(total, 0, std::as_writable_bytes(std::span(sum)));
    std::cout << sum[0] << '\n';  // 8.25, where float32 additions in order give 4; then 210
  }
}

}  // namespace

int main() {
  try {
    sum_quarters();
  } catch (const ts::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
