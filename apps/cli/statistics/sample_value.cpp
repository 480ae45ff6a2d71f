#include "statistics/sample_value.hpp"

#include <bit>
#include <cstring>

#include "run.hpp"

namespace tessera::cli {
namespace {

using raster::SampleType;

constexpr std::uint64_t sign_bit(SampleType type) noexcept { return std::uint64_t{1} << (bit_count(type) - 1); }
constexpr std::uint64_t all_bits(SampleType type) noexcept { return sign_bit(type) * 2 - 1; }

std::int64_t signed_of(SampleType type, std::uint64_t bits) noexcept {
  const std::uint64_t extended = (bits & sign_bit(type)) != 0 ? bits | ~all_bits(type) : bits;
  return std::bit_cast<std::int64_t>(extended);
}

}  // namespace

double to_double(const SampleValue& value) noexcept {
  return std::visit([](auto held) { return static_cast<double>(held); }, value);
}

nlohmann::ordered_json json_of(const SampleValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return json_number(*number);
  return std::visit([](auto held) { return nlohmann::ordered_json(held); }, value);
}

std::uint64_t order_key(SampleType type, std::uint64_t bits) noexcept {
  if (!raster::is_signed(type)) return bits;
  if (!raster::is_floating_point(type)) return bits ^ sign_bit(type);
  return (bits & sign_bit(type)) != 0 ? bits ^ all_bits(type) : bits ^ sign_bit(type);
}

std::uint64_t bits_of_key(SampleType type, std::uint64_t key) noexcept {
  if (!raster::is_signed(type)) return key;
  if (!raster::is_floating_point(type)) return key ^ sign_bit(type);
  return (key & sign_bit(type)) != 0 ? key ^ sign_bit(type) : key ^ all_bits(type);
}

SampleValue value_of_bits(SampleType type, std::uint64_t bits) noexcept {
  if (type == SampleType::float32) return double{std::bit_cast<float>(static_cast<std::uint32_t>(bits))};
  if (type == SampleType::float64) return std::bit_cast<double>(bits);
  if (raster::is_signed(type)) return signed_of(type, bits);
  return bits;
}

std::uint64_t read_bits(SampleType type, const std::byte* sample) noexcept {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t bits = 0;
  std::memcpy(&bits, sample, raster::size_of(type));
  return bits;
}

}  // namespace tessera::cli
