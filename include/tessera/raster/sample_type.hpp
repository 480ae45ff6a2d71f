#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <tessera/export.hpp>

namespace tessera::raster {

/// How one sample of a band is stored. Complex types do not exist here: a file that has them is refused by name.
enum class SampleType : std::uint8_t {
  uint8,
  sint8,
  uint16,
  sint16,
  uint32,
  sint32,
  uint64,
  sint64,
  float32,
  float64,
};

/// Bytes of one sample.
constexpr std::size_t size_of(SampleType type) noexcept {
  switch (type) {
    case SampleType::uint8:
    case SampleType::sint8:
      return 1;
    case SampleType::uint16:
    case SampleType::sint16:
      return 2;
    case SampleType::uint32:
    case SampleType::sint32:
    case SampleType::float32:
      return 4;
    case SampleType::uint64:
    case SampleType::sint64:
    case SampleType::float64:
      return 8;
  }
  return 0;
}

/// True for float32 and float64.
constexpr bool is_floating_point(SampleType type) noexcept {
  return type == SampleType::float32 || type == SampleType::float64;
}

/// True for every type that has negative values.
constexpr bool is_signed(SampleType type) noexcept {
  return type == SampleType::sint8 || type == SampleType::sint16 || type == SampleType::sint32 ||
         type == SampleType::sint64 || is_floating_point(type);
}

/// The type's name as spelled above, for messages and JSON.
TESSERA_EXPORT std::string_view name_of(SampleType type) noexcept;

}  // namespace tessera::raster
