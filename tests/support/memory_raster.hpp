#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/residency/tile_source.hpp>

namespace tessera::testing {

/// A raster in memory whose blocks can be made unreadable.
class MemorySource final : public residency::TileSource {
 public:
  MemorySource(residency::Extent extent, residency::Extent block) : block_(block) {
    metadata_.width = extent.width;
    metadata_.height = extent.height;
    metadata_.pixel_interpretation = raster::PixelInterpretation::area;
    metadata_.georeferencing = raster::Georeferencing::absent;
  }

  /// Adds a band whose pixels are `value(column, row)`.
  template <class Sample>
  void add_band(raster::SampleType type, const std::function<Sample(std::int64_t, std::int64_t)>& value,
                raster::BandInfo info = {}) {
    info.type = type;
    infos_.push_back(info);
    auto& bytes = samples_.emplace_back();
    for (std::int64_t row = 0; row < metadata_.height; ++row) {
      for (std::int64_t column = 0; column < metadata_.width; ++column) {
        const Sample sample = value(column, row);
        const auto* first = reinterpret_cast<const std::byte*>(&sample);
        bytes.insert(bytes.end(), first, first + sizeof(Sample));
      }
    }
  }

  /// Adds a validity plane: 0 = taken out by the mask, 2 = by alpha, 1 = accepted.
  std::uint32_t add_plane(const std::function<int(std::int64_t, std::int64_t)>& value) {
    auto& bytes = planes_.emplace_back();
    for (std::int64_t row = 0; row < metadata_.height; ++row)
      for (std::int64_t column = 0; column < metadata_.width; ++column)
        bytes.push_back(static_cast<std::uint8_t>(value(column, row)));
    return static_cast<std::uint32_t>(planes_.size() - 1);
  }

  raster::RasterMetadata& edit_metadata() { return metadata_; }

  /// Which pixels of a band (0: of any plane) make a read fail.
  std::function<bool(std::uint32_t band, std::int64_t column, std::int64_t row)> broken = {};
  ErrorCode failure = ErrorCode::file_unreadable;
  /// Which windows the source calls blank; that they are is up to the test.
  std::function<bool(const residency::Window& window)> blank = {};
  /// Reads so far.
  std::uint64_t reads() const { return *reads_; }

  const std::string& name() const override { return name_; }
  const raster::RasterMetadata& metadata() const override { return metadata_; }
  std::span<const raster::BandInfo> bands() const override { return infos_; }
  std::uint32_t validity_plane_count() const override { return static_cast<std::uint32_t>(planes_.size()); }
  residency::Extent preferred_block() const override { return block_; }

 private:
  std::size_t index(std::int64_t column, std::int64_t row) const {
    return static_cast<std::size_t>(row * metadata_.width + column);
  }

  void read_checked(const residency::ReadRequest& request, const std::stop_token&) const override {
    ++*reads_;
    for (auto& destination : request.validity) destination = {.plane = destination.plane, .bytes = destination.bytes};
    const residency::Window& window = request.window;
    std::size_t pixel = 0;
    for (std::int64_t row = window.row; row < window.row + window.height; ++row) {
      for (std::int64_t column = window.column; column < window.column + window.width; ++column, ++pixel) {
        for (const auto& destination : request.bands) {
          require_whole(destination.band, column, row);
          const std::size_t size = raster::size_of(infos_[destination.band - 1].type);
          std::memcpy(destination.samples.data() + pixel * size,
                      samples_[destination.band - 1].data() + index(column, row) * size, size);
        }
        for (auto& destination : request.validity) {
          require_whole(0, column, row);
          const std::uint8_t value = planes_[destination.plane][index(column, row)];
          destination.bytes[pixel] = value == 1 ? 1 : 0;
          destination.missing_by_mask += value == 0 ? 1 : 0;
          destination.missing_by_alpha += value == 2 ? 1 : 0;
        }
      }
    }
  }

  bool is_blank_checked(const residency::Window& window, std::span<const std::uint32_t>,
                        std::span<const std::uint32_t>) const override {
    return blank && blank(window);
  }

  void require_whole(std::uint32_t band, std::int64_t column, std::int64_t row) const {
    if (broken && broken(band, column, row)) throw Error(failure, {"memory_source", name_, "is broken here", ""});
  }

  std::string name_ = "memory";
  raster::RasterMetadata metadata_;
  residency::Extent block_;
  std::vector<raster::BandInfo> infos_;
  std::vector<std::vector<std::byte>> samples_;
  std::vector<std::vector<std::uint8_t>> planes_;
  std::shared_ptr<std::atomic<std::uint64_t>> reads_ = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// A raster in memory that is written to.
class MemorySink final : public residency::TileSink {
 public:
  MemorySink(residency::Extent extent, std::vector<raster::BandInfo> bands) : infos_(std::move(bands)) {
    metadata_.width = extent.width;
    metadata_.height = extent.height;
    metadata_.pixel_interpretation = raster::PixelInterpretation::area;
    const auto pixels = static_cast<std::size_t>(extent.width * extent.height);
    for (const auto& info : infos_) samples_.emplace_back(pixels * raster::size_of(info.type));
    validity_.assign(pixels, 1);
  }

  const std::string& name() const override { return name_; }
  const raster::RasterMetadata& metadata() const override { return metadata_; }
  std::span<const raster::BandInfo> bands() const override { return infos_; }
  residency::Extent preferred_block() const override { return {metadata_.width, 1}; }
  void finish() override { finished_ = true; }

  bool finished() const { return finished_; }
  bool got_validity() const { return got_validity_; }
  const std::vector<std::uint8_t>& validity() const { return validity_; }
  template <class Sample>
  std::vector<Sample> samples(std::uint32_t band) const {
    std::vector<Sample> values(samples_[band - 1].size() / sizeof(Sample));
    std::memcpy(values.data(), samples_[band - 1].data(), samples_[band - 1].size());
    return values;
  }

 private:
  void write_checked(const residency::WriteRequest& request) override {
    const residency::Window& window = request.window;
    got_validity_ = got_validity_ || !request.validity.empty();
    for (std::int64_t row = 0; row < window.height; ++row) {
      const auto to = static_cast<std::size_t>((window.row + row) * metadata_.width + window.column);
      const auto from = static_cast<std::size_t>(row * window.width);
      const auto width = static_cast<std::size_t>(window.width);
      for (const auto& band : request.bands) {
        const std::size_t size = raster::size_of(infos_[band.band - 1].type);
        std::memcpy(samples_[band.band - 1].data() + to * size, band.samples.data() + from * size, width * size);
      }
      for (std::size_t i = 0; i < width && !request.validity.empty(); ++i)
        validity_[to + i] &= request.validity[from + i];
    }
  }

  std::string name_ = "memory";
  raster::RasterMetadata metadata_;
  std::vector<raster::BandInfo> infos_;
  std::vector<std::vector<std::byte>> samples_;
  std::vector<std::uint8_t> validity_;
  bool finished_ = false;
  bool got_validity_ = false;
};

}  // namespace tessera::testing
