#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include <nlohmann/json.hpp>

#include <tessera/format.hpp>
#include <tessera/raster/sample_type.hpp>

// Samples of any type without loss, and their order.
namespace tessera::cli {

/// One stored value: 64-bit integers keep all their digits.
using SampleValue = std::variant<std::uint64_t, std::int64_t, double>;

double to_double(const SampleValue& value) noexcept;
nlohmann::ordered_json json_of(const SampleValue& value);

/// Maps the raw bits of a sample to an unsigned number of as many bits that sorts as the values do. Floats are ordered
/// by value, with -0 below +0; NaN and infinities keep the ends.
std::uint64_t order_key(raster::SampleType type, std::uint64_t bits) noexcept;
/// The raw bits behind an order key.
std::uint64_t bits_of_key(raster::SampleType type, std::uint64_t key) noexcept;
/// The value that raw bits stand for.
SampleValue value_of_bits(raster::SampleType type, std::uint64_t bits) noexcept;
/// The raw bits of the sample at any alignment.
std::uint64_t read_bits(raster::SampleType type, const std::byte* sample) noexcept;

/// The format that kernels compute the stored values in.
constexpr Format compute_format(raster::SampleType type) noexcept {
  if (raster::is_floating_point(type)) return Format::float32;
  return raster::is_signed(type) ? Format::sint32 : Format::uint32;
}

constexpr unsigned bit_count(raster::SampleType type) noexcept {
  return static_cast<unsigned>(8 * raster::size_of(type));
}

}  // namespace tessera::cli
