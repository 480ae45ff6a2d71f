#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/graph/graph.hpp>
#include <tessera/ops/histogram.hpp>

#include "reference/histogram.hpp"
#include "reference/partition.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {

using Counts = std::vector<std::uint64_t>;

inline constexpr std::uint32_t guard_word = 0xdeadbeef;

/// Runs histograms on the device. Output rows stand between guard words that must survive, and start poisoned.
class HistogramFixture : public DeviceFixture {
 protected:
  template <class T>
  static Vector vector_of(const std::vector<T>& values) {
    return upload_rows<T>(values, {"one chunk", {values.size()}});
  }
  template <class T>
  static Vector upload_rows(const std::vector<T>& values, const reference::Partition& partition) {
    const auto chunks = reference::split<T>(std::span<const T>(values), partition);
    return tessera::upload<T>(device(), std::span<const std::span<const T>>(chunks));
  }

  /// Rows of `Count` behind two guard rows and before two.
  template <class Count>
  class Output {
   public:
    Output(Device& device, std::uint64_t bins)
        : bins_(bins), buffer_(device.allocate((bins + 4) * sizeof(Count))), words_(bins + 4, poison()) {
      device.write(buffer_, 0, std::as_bytes(std::span<const Count>(words_)));
    }
    Vector rows() const { return Vector(format_of<Count>, {Chunk{buffer_, 2 * sizeof(Count), bins_, 0}}); }
    Counts counts() const {
      std::vector<Count> words(bins_ + 4);
      Device device = buffer_.device();
      device.read(buffer_, 0, std::as_writable_bytes(std::span<Count>(words)));
      for (const std::size_t guard : {std::size_t{0}, std::size_t{1}, words.size() - 2, words.size() - 1})
        EXPECT_EQ(words[guard], poison()) << "guard row " << guard;
      return Counts(words.begin() + 2, words.end() - 2);
    }

   private:
    static Count poison() { return static_cast<Count>(0xdeadbeefdeadbeefULL); }
    std::uint64_t bins_;
    Buffer buffer_;
    std::vector<Count> words_;
  };

  /// Counts of one run; `fill` sets the optional fields.
  template <class Count = std::uint32_t, class Fill>
  static Counts run_with(const Source& input, std::uint64_t bins, const Histogram::Binning& binning, const Fill& fill) {
    const Output<Count> output(device(), bins);
    Histogram histogram{.input = input, .output = output.rows(), .binning = binning};
    fill(histogram);
    run(device(), histogram);
    return output.counts();
  }
  template <class Count = std::uint32_t>
  static Counts run_histogram(const Source& input, std::uint64_t bins, const Histogram::Binning& binning) {
    return run_with<Count>(input, bins, binning, [](Histogram&) {});
  }

  /// The two rows of a domain, on the device.
  template <class T>
  static Vector pair_of(T low, T high) {
    return vector_of(std::vector<T>{low, high});
  }
};

/// The format's name in messages.
template <class T>
std::string name_of_row() {
  return std::string(name_of(format_of<T>));
}

}  // namespace tessera::test
