#include <tessera/operand/source.hpp>

#include <utility>

namespace tessera {
namespace {

Format format_of_rows(const Rows& rows) noexcept {
  return std::visit([](const auto& alternative) { return alternative.format(); }, rows);
}
std::uint64_t length_of_rows(const Rows& rows) noexcept {
  return std::visit([](const auto& alternative) { return alternative.length(); }, rows);
}

}  // namespace

Validity bit_validity(const std::vector<BitChunk>& chunks) {
  std::vector<Chunk> bytes;
  std::vector<BitRange> bits;
  for (const BitChunk& chunk : chunks) {
    const std::uint64_t first_bit = chunk.bit_offset % 8;
    const std::uint64_t whole = chunk.length / 8;
    const std::uint64_t rest = (chunk.length % 8 + first_bit + 7) / 8;
    bytes.push_back(
        {.buffer = chunk.buffer, .byte_offset = chunk.bit_offset / 8, .length = chunk.length == 0 ? 0 : whole + rest});
    bits.push_back({.first_bit = chunk.length == 0 ? 0 : first_bit, .length = chunk.length});
  }
  return {.rows = Vector(Format::uint8, std::move(bytes)), .kind = ValidityKind::bit, .bits = std::move(bits)};
}

Source Source::with_validity(Validity validity) const {
  Source result = as_observations();
  result.validity_ = std::move(validity);
  return result;
}

Source Source::with_no_data(RawNoData no_data) const {
  Source result = as_observations();
  result.no_data_ = no_data;
  return result;
}

Source Source::with_calibration(Calibration calibration) const {
  Source result = as_observations();
  result.calibration_ = calibration;
  return result;
}

Source Source::as_observations() const {
  Source result = *this;
  result.observations_ = true;
  return result;
}

Format Source::format() const noexcept { return format_of_rows(rows_); }
std::uint64_t Source::length() const noexcept { return length_of_rows(rows_); }
Format Target::format() const noexcept { return format_of_rows(rows_); }
std::uint64_t Target::length() const noexcept { return length_of_rows(rows_); }

}  // namespace tessera
