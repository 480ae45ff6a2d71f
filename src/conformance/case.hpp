#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/graph/vector.hpp>
#include <tessera/operand/source.hpp>

#include "reference/bits.hpp"
#include "reference/partition.hpp"

// What a case is made of: random choices that are the same everywhere, and rows in guarded chunks on the device.
namespace tessera::conformance {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t bits() { return engine_(); }
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }
  std::uint64_t row_count() { return pick<std::uint64_t>({0, 1, 2, 63, 255, 256, 257, 4095, 4097, 8209, 70001}); }

 private:
  std::mt19937_64 engine_;
};

/// Integers of any bits; floats of moderate size with zeros, denormals and, where asked for, NaN and infinities among
/// them.
template <class T>
std::vector<T> random_values(Random& random, std::uint64_t count, bool with_non_finite = true) {
  std::vector<T> values(count);
  for (T& value : values) {
    const std::uint64_t bits = random.bits();
    if constexpr (std::is_same_v<T, float>) {
      value = static_cast<float>(static_cast<std::int32_t>(bits)) * 0x1p-20F;
      if (bits >> 61 == 0) value = std::bit_cast<float>(static_cast<std::uint32_t>(bits & 0xbfffffffU));
      if (bits >> 58 == 63 && with_non_finite)
        value = std::bit_cast<float>(0x7f800000U | static_cast<std::uint32_t>(bits & 0x80000001U));
      if (bits >> 58 == 62) value = 0.0F * (bits % 2 == 0 ? 1.0F : -1.0F);
    } else {
      value = static_cast<T>(bits);
    }
  }
  return values;
}

inline std::vector<std::uint32_t> random_mask(Random& random, std::uint64_t count) {
  std::vector<std::uint32_t> mask(count);
  for (std::uint32_t& word : mask) word = random.one_in(3) ? 0 : static_cast<std::uint32_t>(random.below(3) + 1);
  return mask;
}

/// Rows in the chunks of a random partition of one buffer, with guard bytes around every chunk.
template <class T>
class DeviceRows {
 public:
  DeviceRows(Device& device, Random& random, std::span<const T> values)
      : DeviceRows(
            device, random, values,
            reference::random_partition(values.size(), random.pick<std::uint64_t>({1, 1, 3, 17, 200}), random.bits())) {
  }

  DeviceRows(Device& device, Random& random, std::span<const T> values, const reference::Partition& partition) {
    std::uint64_t end = guard_bytes;
    std::size_t row = 0;
    for (const std::uint64_t length : partition.lengths) {
      const std::uint64_t offset = end + random.below(4) * sizeof(T);
      chunks_.push_back({.buffer = {}, .byte_offset = offset, .length = length});
      end = (offset + length * sizeof(T) + guard_bytes + 15) / 16 * 16;
      image_.resize(end, guard);
      if (length != 0) std::memcpy(image_.data() + offset, values.data() + row, length * sizeof(T));
      row += length;
    }
    image_.resize(end + guard_bytes, guard);
    Buffer buffer = device.allocate(image_.size());
    device.write(buffer, 0, image_);
    for (Chunk& chunk : chunks_) chunk.buffer = buffer;
    buffer_ = buffer;
  }

  Vector vector() const { return Vector(format_of<T>, chunks_); }

  /// Reads everything back. What lies outside the rows must be as it was.
  std::vector<T> rows(std::string& failure) const {
    std::vector<std::byte> now(image_.size());
    buffer_.device().read(buffer_, 0, now);
    std::vector<T> values;
    for (const Chunk& chunk : chunks_) {
      const std::size_t first = values.size();
      values.resize(first + chunk.length);
      if (chunk.length != 0)
        std::memcpy(values.data() + first, now.data() + chunk.byte_offset, chunk.length * sizeof(T));
      std::memcpy(now.data() + chunk.byte_offset, image_.data() + chunk.byte_offset, chunk.length * sizeof(T));
    }
    if (now != image_) failure = "bytes outside the rows changed";
    return values;
  }

 private:
  static constexpr std::uint64_t guard_bytes = 32;
  static constexpr std::byte guard{0xa5};
  std::vector<Chunk> chunks_;
  std::vector<std::byte> image_;
  Buffer buffer_;
};

/// Which rows of a source are there: words, bytes or bits, or nothing that says so.
class RandomValidity {
 public:
  RandomValidity(Device& device, Random& random, std::uint64_t rows) {
    if (random.one_in(2)) return;
    words_ = random_mask(random, rows);
    switch (random.below(3)) {
      case 0:
        name_ = "words";
        validity_ = Validity{.rows = DeviceRows<std::uint32_t>(device, random, words_).vector()};
        return;
      case 1:
        name_ = "bytes";
        validity_ = bytes(device, random);
        return;
      default:
        name_ = "bits";
        validity_ = bits(device, random);
    }
  }

  const std::optional<Validity>& on_device() const { return validity_; }
  /// One word per row, or none where nothing says that rows are missing.
  const std::vector<std::uint32_t>& words() const { return words_; }
  Source limit(const Source& source) const { return validity_ ? source.with_validity(*validity_) : source; }
  /// For the case's description.
  std::string text() const { return name_.empty() ? name_ : ", validity in " + name_; }

 private:
  Validity bytes(Device& device, Random& random) const {
    const std::vector<std::uint8_t> rows(words_.begin(), words_.end());  // below 4
    return {.rows = DeviceRows<std::uint8_t>(device, random, rows).vector(), .kind = ValidityKind::byte};
  }

  /// Chunks of a random partition, each from a random bit on, one behind the other.
  Validity bits(Device& device, Random& random) const {
    const auto partition =
        reference::random_partition(words_.size(), random.pick<std::uint64_t>({1, 1, 3, 17, 200}), random.bits());
    std::vector<BitChunk> chunks;
    std::uint64_t end = 0;
    for (const std::uint64_t length : partition.lengths) {
      chunks.push_back({.buffer = {}, .bit_offset = end + random.below(70), .length = length});
      end = chunks.back().bit_offset + length;
    }
    std::vector<std::byte> image((end + 7) / 8, std::byte{0x5a});
    std::size_t first = 0;
    for (const BitChunk& chunk : chunks) {
      reference::write_bits(std::span(words_).subspan(first, chunk.length), image, chunk.bit_offset);
      first += chunk.length;
    }
    const Buffer buffer = device.allocate(image.size());
    device.write(buffer, 0, image);
    for (BitChunk& chunk : chunks) chunk.buffer = buffer;
    return bit_validity(chunks);
  }

  std::string name_;
  std::vector<std::uint32_t> words_;
  std::optional<Validity> validity_;
};

template <class T>
bool same_bits(T left, T right) {
  return std::bit_cast<std::array<std::byte, sizeof(T)>>(left) ==
         std::bit_cast<std::array<std::byte, sizeof(T)>>(right);
}

/// The first difference, bit for bit; any two NaN are equal where `nan_payloads` does not count.
template <class T>
std::string compare(std::span<const T> actual, std::span<const T> expected, bool nan_payloads = true) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (same_bits(actual[i], expected[i])) continue;
    if constexpr (std::is_floating_point_v<T>) {
      if (!nan_payloads && std::isnan(actual[i]) && std::isnan(expected[i])) continue;
    }
    return "row " + std::to_string(i) + ": " + std::to_string(actual[i]) + " instead of " + std::to_string(expected[i]);
  }
  return {};
}

/// A case's outcome.
struct Outcome {
  std::string description;
  std::string failure;
  void expect(const std::string& difference, const char* what) {
    if (failure.empty() && !difference.empty()) failure = std::string(what) + ": " + difference;
  }
};

Outcome check_elementwise(Device& device, Random& random);
Outcome check_reduction(Device& device, Random& random);
Outcome check_scan(Device& device, Random& random);
Outcome check_mask(Device& device, Random& random);
Outcome check_histogram(Device& device, Random& random);
Outcome check_ndvi(Device& device, Random& random);
Outcome check_statistics(Device& device, Random& random);
Outcome check_missing_counts(Device& device, Random& random);
Outcome check_threshold(Device& device, Random& random);
Outcome check_otsu_threshold(Device& device, Random& random);

}  // namespace tessera::conformance
