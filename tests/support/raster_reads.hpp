#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/raster/band_info.hpp>
#include <tessera/residency/tile_source.hpp>

/// Reading whole bands and planes in tests, from any source.
namespace tessera::testing {

inline residency::Window whole(const residency::TileSource& source) {
  return {0, 0, source.metadata().width, source.metadata().height};
}

/// Reads a window of a band, whose samples are `Sample`.
template <typename Sample>
std::vector<Sample> read_band(const residency::TileSource& source, std::uint32_t band,
                              const residency::Window& window) {
  EXPECT_EQ(raster::size_of(source.band(band).type), sizeof(Sample));
  std::vector<Sample> samples(window.pixel_count());
  const residency::BandDestination destination{band, std::as_writable_bytes(std::span(samples))};
  source.read({window, {&destination, 1}, {}});
  return samples;
}

template <typename Sample>
std::vector<Sample> read_band(const residency::TileSource& source, std::uint32_t band) {
  return read_band<Sample>(source, band, whole(source));
}

/// Reads the validity plane of a band; all ones where it has none.
inline std::vector<std::uint8_t> read_validity(const residency::TileSource& source, std::uint32_t band) {
  const residency::Window window = whole(source);
  std::vector<std::uint8_t> bytes(window.pixel_count(), 1);
  const raster::BandInfo& info = source.band(band);
  if (info.validity != raster::ValiditySource::none) {
    residency::ValidityDestination destination{info.validity_plane, bytes};
    source.read({window, {}, {&destination, 1}});
  }
  return bytes;
}

/// A validity plane with the counts of its read.
struct PlaneRead {
  std::vector<std::uint8_t> bytes;
  std::uint64_t missing_by_mask = 0;
  std::uint64_t missing_by_alpha = 0;
  std::uint64_t missing_by_quality = 0;
  std::uint64_t missing_by_unreadable = 0;
};

inline PlaneRead read_plane(const residency::TileSource& source, std::uint32_t plane, const residency::Window& window) {
  PlaneRead result;
  result.bytes.assign(window.pixel_count(), 255);
  residency::ValidityDestination destination{.plane = plane, .bytes = result.bytes};
  source.read({window, {}, {&destination, 1}});
  result.missing_by_mask = destination.missing_by_mask;
  result.missing_by_alpha = destination.missing_by_alpha;
  result.missing_by_quality = destination.missing_by_quality;
  result.missing_by_unreadable = destination.missing_by_unreadable;
  return result;
}

inline PlaneRead read_plane(const residency::TileSource& source, std::uint32_t plane) {
  return read_plane(source, plane, whole(source));
}

/// The code of the error that `action` throws; `internal` and a test failure when it throws none.
inline ErrorCode code_of(const std::function<void()>& action, std::string* message = nullptr) {
  try {
    action();
  } catch (const Error& error) {
    if (message != nullptr) {
      *message = error.what();
    }
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::internal;
}

}  // namespace tessera::testing
