#include <tessera/raster/sample_type.hpp>

namespace tessera::raster {

std::string_view name_of(SampleType type) noexcept {
  switch (type) {
    case SampleType::uint8:
      return "uint8";
    case SampleType::sint8:
      return "sint8";
    case SampleType::uint16:
      return "uint16";
    case SampleType::sint16:
      return "sint16";
    case SampleType::uint32:
      return "uint32";
    case SampleType::sint32:
      return "sint32";
    case SampleType::uint64:
      return "uint64";
    case SampleType::sint64:
      return "sint64";
    case SampleType::float32:
      return "float32";
    case SampleType::float64:
      return "float64";
  }
  return "unknown";
}

}  // namespace tessera::raster
