#include <tessera/format.hpp>

namespace tessera {

std::uint32_t size_of(Format format) noexcept {
  switch (format) {
    case Format::uint8:
    case Format::sint8:
      return 1;
    case Format::uint16:
    case Format::sint16:
      return 2;
    case Format::uint32:
    case Format::sint32:
    case Format::float32:
      return 4;
    case Format::float32x2:
    case Format::uint64:
    case Format::sint64:
    case Format::float64:
      return 8;
    case Format::float32x4:
      return 16;
    case Format::sum_state:
      return 96;
  }
  return 0;
}

std::uint32_t alignment_of(Format format) noexcept { return format == Format::sum_state ? 8 : size_of(format); }

std::string_view name_of(Format format) noexcept {
  switch (format) {
    case Format::uint32:
      return "uint32";
    case Format::sint32:
      return "sint32";
    case Format::float32:
      return "float32";
    case Format::float32x2:
      return "float32x2";
    case Format::float32x4:
      return "float32x4";
    case Format::uint8:
      return "uint8";
    case Format::sint8:
      return "sint8";
    case Format::uint16:
      return "uint16";
    case Format::sint16:
      return "sint16";
    case Format::uint64:
      return "uint64";
    case Format::sint64:
      return "sint64";
    case Format::float64:
      return "float64";
    case Format::sum_state:
      return "sum_state";
  }
  return "unknown";
}

}  // namespace tessera
