#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tessera::reference {

/// Writes one bit per word, 1 where it is not 0, from bit `first_bit` of the bytes on, least significant bit of a byte
/// first. Other bits stay. Thread-safe.
inline void write_bits(std::span<const std::uint32_t> words, std::span<std::byte> bytes, std::uint64_t first_bit) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::byte& byte = bytes[(first_bit + i) / 8];
    const std::byte bit{static_cast<unsigned char>(1U << ((first_bit + i) % 8))};
    byte = words[i] != 0 ? byte | bit : byte & ~bit;
  }
}

}  // namespace tessera::reference
