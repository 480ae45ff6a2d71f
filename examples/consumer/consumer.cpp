// Prints the library's version and the Vulkan devices that it can run on.
#include <iostream>

#include <tessera/tessera.hpp>

int main() {
  if (tessera::version_number() != tessera::header_version) {
    std::cerr << "the library's version differs from that of its headers\n";
    return 1;
  }
  std::cout << "Tessera " << tessera::version() << '\n';
  try {
    for (const tessera::DeviceInfo& device : tessera::enumerate_devices()) {
      std::cout << device.index << ": " << device.name << (device.missing_features.empty() ? "" : " (not usable)")
                << '\n';
    }
  } catch (const tessera::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
