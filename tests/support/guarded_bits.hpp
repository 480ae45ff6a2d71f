#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tessera/operand/source.hpp>

#include "reference/bits.hpp"
#include "support/partitions.hpp"

namespace tessera::test {

/// A bit mask over a partition, each chunk beginning at another bit, in one buffer that ends with the last chunk's last
/// byte. All bits around the rows are `guard`.
inline Validity guarded_bits(Device& device, const Partition& partition, std::span<const std::uint32_t> validity,
                             bool guard) {
  std::vector<BitChunk> chunks;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < partition.lengths.size(); ++i) {
    const std::uint64_t offset = end + (7 * i + 3) % 41;
    chunks.push_back({.buffer = {}, .bit_offset = offset, .length = partition.lengths[i]});
    end = offset + partition.lengths[i];
  }
  std::vector<std::byte> image((end + 7) / 8, guard ? std::byte{0xff} : std::byte{0});
  std::size_t first = 0;
  for (const BitChunk& chunk : chunks) {
    reference::write_bits(validity.subspan(first, chunk.length), image, chunk.bit_offset);
    first += chunk.length;
  }
  const Buffer buffer = device.allocate(image.size(), {.name = "bit mask"});
  device.write(buffer, 0, image);
  for (BitChunk& chunk : chunks) chunk.buffer = buffer;
  return bit_validity(chunks);
}

}  // namespace tessera::test
