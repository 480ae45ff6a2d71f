#pragma once

#include <cstdint>
#include <string_view>

#include <tessera/export.hpp>

namespace tessera {

/// How one row is stored. Scalars of 4 bytes are what operations compute in; narrower and wider ones are storage
/// formats that operations read in place (uint8 and uint16 as uint32, sint8 and sint16 as sint32, float64 rounded to
/// float32 unless an operation says that it keeps the precision).
enum class Format : std::uint8_t {
  uint32,
  sint32,
  float32,
  float32x2,
  float32x4,
  uint8,
  sint8,
  uint16,
  sint16,
  uint64,
  sint64,
  float64,
  sum_state,  ///< a mergeable exact sum, 96 bytes (see operand/sum_state.hpp)
};

/// Bytes of one row.
TESSERA_EXPORT std::uint32_t size_of(Format format) noexcept;
/// Bytes that a row's address is a multiple of.
TESSERA_EXPORT std::uint32_t alignment_of(Format format) noexcept;
TESSERA_EXPORT std::string_view name_of(Format format) noexcept;

/// The format of a C++ scalar type.
template <class T>
struct FormatOf;
template <>
struct FormatOf<std::uint32_t> {
  static constexpr Format value = Format::uint32;
};
template <>
struct FormatOf<std::int32_t> {
  static constexpr Format value = Format::sint32;
};
template <>
struct FormatOf<float> {
  static constexpr Format value = Format::float32;
};
template <>
struct FormatOf<std::uint8_t> {
  static constexpr Format value = Format::uint8;
};
template <>
struct FormatOf<std::int8_t> {
  static constexpr Format value = Format::sint8;
};
template <>
struct FormatOf<std::uint16_t> {
  static constexpr Format value = Format::uint16;
};
template <>
struct FormatOf<std::int16_t> {
  static constexpr Format value = Format::sint16;
};
template <>
struct FormatOf<std::uint64_t> {
  static constexpr Format value = Format::uint64;
};
template <>
struct FormatOf<std::int64_t> {
  static constexpr Format value = Format::sint64;
};
template <>
struct FormatOf<double> {
  static constexpr Format value = Format::float64;
};
template <class T>
inline constexpr Format format_of = FormatOf<T>::value;

}  // namespace tessera
