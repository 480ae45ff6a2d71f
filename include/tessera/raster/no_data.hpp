#pragma once

#include <cstdint>
#include <string>

#include <tessera/export.hpp>
#include <tessera/raster/sample_type.hpp>

namespace tessera::raster {

/// The raw value that marks a missing pixel of one band, held exactly in the band's own sample type.
///
/// A declared value that the type can't hold (-9999, 3.5 or NaN for uint8; infinity) is remembered so that it can be
/// reported, but matches no sample. A float value is rounded to the band's type first, so -3.4028234663852886e+38 as
/// text equals the lowest float32. NaN adds no comparison: a sample that is not finite is missing anyway.
///
/// Immutable value; safe to read from several threads.
class TESSERA_EXPORT NoData {
 public:
  enum class Kind : std::uint8_t {
    none,          ///< nothing is declared
    integer,       ///< one value of an integer type
    floating,      ///< one finite value of a float type
    not_a_number,  ///< NaN, in a float type
    unmatchable,   ///< declared, but outside the type: matches nothing
  };

  /// Nothing is declared.
  NoData() = default;
  /// A value declared as a double. Never throws: what the type can't hold becomes `unmatchable`.
  static NoData of(SampleType type, double value);
  /// A value declared as a signed integer, exact for every integer type.
  static NoData of_signed(SampleType type, std::int64_t value);
  /// A value declared as an unsigned integer, exact for every integer type.
  static NoData of_unsigned(SampleType type, std::uint64_t value);

  Kind kind() const noexcept { return kind_; }
  /// The band's sample type; meaningless for `none`.
  SampleType type() const noexcept { return type_; }
  /// True when some sample can equal the value (kind `integer` or `floating`), so that a comparison is needed.
  bool needs_comparison() const noexcept { return kind_ == Kind::integer || kind_ == Kind::floating; }
  /// The value's bit pattern in the band's type, in the low `size_of(type())` bytes; 0 where nothing is comparable.
  /// In a float type both zeros match either zero, whatever these bits say.
  std::uint64_t bits() const noexcept { return bits_; }
  /// The value as declared, rounded to double (64-bit integers may lose their last digits); NaN for NaN and for `none`.
  double declared() const noexcept { return declared_; }
  /// The shortest text that restores the value: `255`, `-9999`, `-3.4028235e+38`, `nan`, or `none`.
  std::string text() const;

  /// Whether the sample at `sample` (of `type()`, any alignment) equals the value.
  bool matches(const void* sample) const noexcept;

  /// Same declaration: kind, type and value (NaN equals NaN, -0 differs from 0).
  friend TESSERA_EXPORT bool operator==(const NoData& left, const NoData& right) noexcept;

 private:
  static NoData of_integer(SampleType type, bool negative, std::uint64_t bits, double declared);

  Kind kind_ = Kind::none;
  SampleType type_ = SampleType::uint8;
  std::uint64_t bits_ = 0;
  double declared_ = 0.0;
};

}  // namespace tessera::raster
