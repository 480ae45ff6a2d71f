#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/device/device.hpp>
#include <tessera/graph/vector.hpp>

#include "support/partitions.hpp"

namespace tessera::test {

/// Where chunks begin.
enum class Placement : std::uint8_t {
  aligned,  ///< at multiples of 16 bytes
  shifted,  ///< 1, 2, 3, 0 ... rows after a multiple of 16 bytes
};

/// Rows in the chunks of one partition, all in one buffer, with guard bytes before, between and behind them. What a
/// kernel writes is compared byte by byte with what it should have written and with what it should have left alone.
template <class T>
class GuardedRows {
 public:
  /// Rows without values hold the guard pattern too.
  GuardedRows(Device& device, const Partition& partition, std::span<const T> values = {},
              Placement placement = Placement::aligned) {
    std::uint64_t end = guard_bytes;
    std::uint64_t index = 0;
    for (const std::uint64_t length : partition.lengths) {
      const std::uint64_t shift = placement == Placement::shifted ? ++index % 4 * sizeof(T) : 0;
      offsets_.push_back(end + shift);
      lengths_.push_back(length);
      end = (end + shift + length * sizeof(T) + guard_bytes + 15) / 16 * 16;
    }
    image_.assign(end, guard);
    buffer_ = device.allocate(end, {.name = "guarded rows"});
    put(image_, values);
    upload();
  }

  Vector vector(std::optional<CountWord> count = std::nullopt) const {
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < offsets_.size(); ++i)
      chunks.push_back({.buffer = buffer_, .byte_offset = offsets_[i], .length = lengths_[i]});
    return Vector(format_of<T>, std::move(chunks), std::move(count));
  }

  /// New values for the first rows; all other rows and the guards as at first.
  void write(std::span<const T> values) {
    put(image_, values);
    upload();
  }

  /// The first rows hold `values`; every other byte is as it was last written from here.
  void expect_rows(std::span<const T> values) const {
    std::vector<std::byte> expected = image_;
    put(expected, values);
    std::vector<std::byte> found(image_.size());
    Device device = buffer_.device();
    device.read(buffer_, 0, found);
    if (found == expected) return;
    std::uint64_t row = 0;
    for (std::size_t chunk = 0; chunk < offsets_.size(); ++chunk) {
      for (std::uint64_t i = 0; i < lengths_[chunk]; ++i, ++row) {
        const T is = at(found, offsets_[chunk] + i * sizeof(T));
        const T wanted = at(expected, offsets_[chunk] + i * sizeof(T));
        if (is == wanted) continue;
        ADD_FAILURE() << "row " << row << " (row " << i << " of chunk " << chunk << ") is " << +is << ", expected "
                      << +wanted << (row < values.size() ? "" : "; it should not have been written");
        return;
      }
    }
    ADD_FAILURE() << "bytes between the chunks were written";
  }

 private:
  static constexpr std::byte guard{0xa5};
  static constexpr std::uint64_t guard_bytes = 64;

  static T at(const std::vector<std::byte>& image, std::uint64_t offset) {
    T value;
    std::memcpy(&value, image.data() + offset, sizeof(T));
    return value;
  }
  void put(std::vector<std::byte>& image, std::span<const T> values) const {
    std::size_t next = 0;
    for (std::size_t chunk = 0; chunk < offsets_.size() && next < values.size(); ++chunk) {
      const std::size_t rows = std::min<std::size_t>(lengths_[chunk], values.size() - next);
      if (rows != 0) std::memcpy(image.data() + offsets_[chunk], values.data() + next, rows * sizeof(T));
      next += rows;
    }
  }
  void upload() {
    Device device = buffer_.device();
    device.write(buffer_, 0, image_);
  }

  std::vector<std::uint64_t> offsets_;
  std::vector<std::uint64_t> lengths_;
  std::vector<std::byte> image_;
  Buffer buffer_;
};

}  // namespace tessera::test
