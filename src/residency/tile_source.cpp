#include <tessera/residency/tile_source.hpp>

#include <vector>

#include <tessera/error.hpp>

namespace tessera::residency {

namespace {

/// Which side asks: for messages.
struct Side {
  const char* operation;
  const std::string& name;
};

void require_window(const Side& side, Extent extent, const Window& window) {
  const bool inside = window.width > 0 && window.height > 0 && window.column >= 0 && window.row >= 0 &&
                      window.width <= extent.width && window.height <= extent.height &&
                      window.column <= extent.width - window.width && window.row <= extent.height - window.height;
  if (!inside) {
    throw Error(
        ErrorCode::range_out_of_bounds,
        {side.operation, side.name, "the window must be non-empty and inside the raster",
         "window " + window.text() + " of " + std::to_string(extent.width) + " x " + std::to_string(extent.height)});
  }
}

[[noreturn]] void reject_band(const Side& side, std::uint32_t band, std::size_t count) {
  throw Error(ErrorCode::band_out_of_range, {side.operation, side.name, "bands are numbered from 1 to their count",
                                             "band " + std::to_string(band) + " of " + std::to_string(count)});
}

void require_length(const Side& side, const std::string& what, std::uint64_t pixels, std::size_t size,
                    std::size_t given) {
  // Compared by division: the pixel count times the size may leave 64 bits.
  if (given % size != 0 || given / size != pixels) {
    throw Error(
        ErrorCode::length_mismatch,
        {side.operation, side.name, what + " must hold exactly the pixels of the window",
         std::to_string(given) + " bytes for " + std::to_string(pixels) + " pixels of " + std::to_string(size)});
  }
}

void require_plane(const Side& side, std::uint32_t plane, std::uint32_t count) {
  if (plane >= count) {
    throw Error(ErrorCode::unknown_id, {side.operation, side.name, "the validity plane must exist",
                                        "plane " + std::to_string(plane) + " of " + std::to_string(count)});
  }
}

template <typename Entry>
void require_bands(const Side& side, std::span<const raster::BandInfo> bands, const Window& window,
                   std::span<const Entry> entries) {
  std::vector<bool> seen(bands.size(), false);
  for (const Entry& entry : entries) {
    if (entry.band == 0 || entry.band > bands.size()) {
      reject_band(side, entry.band, bands.size());
    }
    if (seen[entry.band - 1]) {
      throw Error(ErrorCode::duplicate_id,
                  {side.operation, side.name, "a band may be named once", "band " + std::to_string(entry.band)});
    }
    seen[entry.band - 1] = true;
    require_length(side, "the samples of band " + std::to_string(entry.band), window.pixel_count(),
                   raster::size_of(bands[entry.band - 1].type), entry.samples.size());
  }
}

}  // namespace

TileSource::~TileSource() = default;
TileSink::~TileSink() = default;

const raster::BandInfo& TileSource::band(std::uint32_t number) const {
  const std::span<const raster::BandInfo> all = bands();
  if (number == 0 || number > all.size()) {
    reject_band({"tile_source", name()}, number, all.size());
  }
  return all[number - 1];
}

void TileSource::read(const ReadRequest& request, const std::stop_token& stop) const {
  const Side side{"tile_source", name()};
  require_window(side, extent(), request.window);
  require_bands(side, bands(), request.window, request.bands);
  for (const ValidityDestination& destination : request.validity) {
    require_plane(side, destination.plane, validity_plane_count());
    require_length(side, "the validity bytes", request.window.pixel_count(), 1, destination.bytes.size());
  }
  if (stop.stop_requested()) {
    throw Error(ErrorCode::cancelled, {side.operation, side.name, "the application asked to stop", ""});
  }
  read_checked(request, stop);
}

bool TileSource::is_blank(const Window& window, std::span<const std::uint32_t> bands,
                          std::span<const std::uint32_t> planes) const {
  require_window({"tile_source", name()}, extent(), window);
  for (const std::uint32_t number : bands) static_cast<void>(band(number));
  for (const std::uint32_t plane : planes) require_plane({"tile_source", name()}, plane, validity_plane_count());
  return is_blank_checked(window, bands, planes);
}

bool TileSource::is_blank_checked(const Window& /*window*/, std::span<const std::uint32_t> /*bands*/,
                                  std::span<const std::uint32_t> /*planes*/) const {
  return false;
}

void TileSink::write(const WriteRequest& request) {
  const Side side{"tile_sink", name()};
  require_window(side, extent(), request.window);
  require_bands(side, bands(), request.window, request.bands);
  if (!request.validity.empty())
    require_length(side, "the validity bytes", request.window.pixel_count(), 1, request.validity.size());
  write_checked(request);
}

}  // namespace tessera::residency
