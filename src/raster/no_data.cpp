#include <tessera/raster/no_data.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace tessera::raster {

namespace {

int bit_count(SampleType type) { return static_cast<int>(8 * size_of(type)); }

/// Whether an integer, given as sign and two's complement pattern, lies in the range of an integer type.
bool fits(SampleType type, bool negative, std::uint64_t bits) {
  const int width = bit_count(type);
  if (!is_signed(type)) {
    return !negative && (width == 64 || bits < (std::uint64_t{1} << width));
  }
  const std::uint64_t limit = std::uint64_t{1} << (width - 1);
  return negative ? ~bits < limit : bits < limit;
}

template <typename Value>
std::string shortest(Value value) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

template <typename Value>
Value read_as(const void* sample) {
  Value value;
  std::memcpy(&value, sample, sizeof(value));
  return value;
}

std::int64_t sign_extended(SampleType type, std::uint64_t bits) {
  const int unused = 64 - bit_count(type);
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

NoData NoData::of_integer(SampleType type, bool negative, std::uint64_t bits, double declared) {
  NoData result;
  result.type_ = type;
  result.declared_ = declared;
  result.kind_ = Kind::unmatchable;
  if (!fits(type, negative, bits)) {
    return result;
  }
  result.kind_ = Kind::integer;
  const int width = bit_count(type);
  result.bits_ = width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
  return result;
}

NoData NoData::of(SampleType type, double value) {
  NoData result;
  result.type_ = type;
  result.declared_ = value;
  result.kind_ = Kind::unmatchable;
  if (is_floating_point(type)) {
    if (std::isnan(value)) {
      result.kind_ = Kind::not_a_number;
      return result;
    }
    const double rounded = type == SampleType::float32 ? static_cast<double>(static_cast<float>(value)) : value;
    if (std::isfinite(rounded)) {
      result.kind_ = Kind::floating;
      result.bits_ = type == SampleType::float32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                                                 : std::bit_cast<std::uint64_t>(value);
    }
    return result;
  }
  constexpr double two_to_63 = 9223372036854775808.0;
  // Also false for NaN.
  if (!(value >= -two_to_63 && value < 2.0 * two_to_63) || value != std::trunc(value)) {
    return result;
  }
  if (value < 0.0) {
    return of_integer(type, true, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), value);
  }
  return of_integer(type, false, static_cast<std::uint64_t>(value), value);
}

NoData NoData::of_signed(SampleType type, std::int64_t value) {
  if (is_floating_point(type)) {
    return of(type, static_cast<double>(value));
  }
  return of_integer(type, value < 0, static_cast<std::uint64_t>(value), static_cast<double>(value));
}

NoData NoData::of_unsigned(SampleType type, std::uint64_t value) {
  if (is_floating_point(type)) {
    return of(type, static_cast<double>(value));
  }
  return of_integer(type, false, value, static_cast<double>(value));
}

std::string NoData::text() const {
  switch (kind_) {
    case Kind::none:
      return "none";
    case Kind::not_a_number:
      return "nan";
    case Kind::integer:
      return is_signed(type_) ? shortest(sign_extended(type_, bits_)) : shortest(bits_);
    case Kind::floating:
      return type_ == SampleType::float32 ? shortest(std::bit_cast<float>(static_cast<std::uint32_t>(bits_)))
                                          : shortest(std::bit_cast<double>(bits_));
    case Kind::unmatchable:
      return std::isnan(declared_) ? "nan" : shortest(declared_);
  }
  return "none";
}

bool NoData::matches(const void* sample) const noexcept {
  if (kind_ == Kind::floating) {
    return type_ == SampleType::float32
               ? read_as<float>(sample) == std::bit_cast<float>(static_cast<std::uint32_t>(bits_))
               : read_as<double>(sample) == std::bit_cast<double>(bits_);
  }
  if (kind_ != Kind::integer) {
    return false;
  }
  switch (size_of(type_)) {
    case 1:
      return read_as<std::uint8_t>(sample) == bits_;
    case 2:
      return read_as<std::uint16_t>(sample) == bits_;
    case 4:
      return read_as<std::uint32_t>(sample) == bits_;
    default:
      return read_as<std::uint64_t>(sample) == bits_;
  }
}

bool operator==(const NoData& left, const NoData& right) noexcept {
  if (left.kind_ != right.kind_) {
    return false;
  }
  switch (left.kind_) {
    case NoData::Kind::none:
      return true;
    case NoData::Kind::not_a_number:
      return left.type_ == right.type_;
    case NoData::Kind::unmatchable:
      return left.type_ == right.type_ &&
             (left.declared_ == right.declared_ || (std::isnan(left.declared_) && std::isnan(right.declared_)));
    default:
      return left.type_ == right.type_ && left.bits_ == right.bits_;
  }
}

}  // namespace tessera::raster
