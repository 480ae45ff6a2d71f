#include <algorithm>
#include <cstring>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/residency/derived_sources.hpp>

#include "residency/plane_routing.hpp"

namespace tessera::residency {

/// What was skipped; filled by concurrent reads.
class SkippingSource::Record {
 public:
  explicit Record(std::size_t most_listed) : most_listed_(most_listed) {}

  void add(const Window& window, std::uint32_t band, const char* cause) {
    const std::scoped_lock lock(mutex_);
    if (!known_.emplace(band, window.row, window.column).second || listed_.size() >= most_listed_) return;
    listed_.push_back({.window = window, .band = band, .cause = cause});
  }
  std::vector<SkippedBlock> listed() const {
    const std::scoped_lock lock(mutex_);
    return listed_;
  }
  std::uint64_t count() const {
    const std::scoped_lock lock(mutex_);
    return known_.size();
  }

 private:
  std::size_t most_listed_;
  mutable std::mutex mutex_;
  std::set<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> known_;
  std::vector<SkippedBlock> listed_;
};

namespace {

/// Runs a read; the message of the error when the data can't be read.
template <class Read>
std::optional<std::string> failure_of(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unreadable) throw;
    return error.what();
  }
  return std::nullopt;
}

/// Copies packed rows of a block into the packed rows of the window around it.
void place(const Window& window, const Window& block, std::size_t size, const std::byte* from, std::byte* to) {
  const std::size_t row_bytes = static_cast<std::size_t>(block.width) * size;
  for (std::int64_t row = 0; row < block.height; ++row) {
    const auto pixel =
        static_cast<std::size_t>((block.row - window.row + row) * window.width + block.column - window.column);
    std::memcpy(to + pixel * size, from + static_cast<std::size_t>(row) * row_bytes, row_bytes);
  }
}

void add_counts(ValidityDestination& sum, const ValidityDestination& part) {
  sum.missing_by_mask += part.missing_by_mask;
  sum.missing_by_alpha += part.missing_by_alpha;
  sum.missing_by_quality += part.missing_by_quality;
  sum.missing_by_unreadable += part.missing_by_unreadable;
}

/// The plane that a band refers to, or none.
std::optional<std::uint32_t> plane_of(const TileSource& source, std::uint32_t band) {
  const raster::BandInfo& info = source.band(band);
  if (info.validity == raster::ValiditySource::none) return std::nullopt;
  return info.validity_plane;
}

/// The first band that refers to a plane, for the list.
std::uint32_t band_of_plane(const TileSource& source, std::uint32_t plane) {
  for (std::uint32_t band = 1; band <= source.bands().size(); ++band)
    if (plane_of(source, band) == plane) return band;
  return 1;
}

}  // namespace

SkippingSource::SkippingSource(const TileSource& source, std::size_t most_listed)
    : source_(&source),
      bands_(source.bands().begin(), source.bands().end()),
      record_(std::make_unique<Record>(most_listed)) {
  std::uint32_t plane = source.validity_plane_count();
  for (raster::BandInfo& band : bands_) {
    if (band.validity == raster::ValiditySource::none) band.validity = raster::ValiditySource::unreadable;
    band.validity_plane = plane++;
  }
}

SkippingSource::SkippingSource(SkippingSource&&) noexcept = default;
SkippingSource& SkippingSource::operator=(SkippingSource&&) noexcept = default;
SkippingSource::~SkippingSource() = default;

std::uint32_t SkippingSource::validity_plane_count() const {
  return source_->validity_plane_count() + static_cast<std::uint32_t>(bands_.size());
}

std::vector<SkippedBlock> SkippingSource::skipped() const { return record_->listed(); }
std::uint64_t SkippingSource::skipped_count() const { return record_->count(); }

void SkippingSource::read_checked(const ReadRequest& request, const std::stop_token& stop) const {
  const std::uint32_t inner_planes = source_->validity_plane_count();
  detail::PlaneRouting routing(request.validity, [&](std::uint32_t plane) {
    return plane < inner_planes ? std::optional(plane) : plane_of(*source_, plane - inner_planes + 1);
  });
  // A band's plane needs the samples, wanted or not: only reading shows what can be read.
  std::vector<BandDestination> bands(request.bands.begin(), request.bands.end());
  std::vector<std::vector<std::byte>> unwanted;
  for (const ValidityDestination& destination : request.validity) {
    if (destination.plane < inner_planes) continue;
    const std::uint32_t band = destination.plane - inner_planes + 1;
    if (std::ranges::find(bands, band, &BandDestination::band) != bands.end()) continue;
    auto& samples = unwanted.emplace_back(request.window.pixel_count() * raster::size_of(source_->band(band).type));
    bands.push_back({.band = band, .samples = samples});
  }
  const auto failure =
      failure_of([&] { source_->read({.window = request.window, .bands = bands, .validity = routing.inner()}, stop); });
  if (!failure) return routing.distribute();

  for (ValidityDestination& destination : request.validity)
    destination = {.plane = destination.plane, .bytes = destination.bytes};
  const Extent block = source_->preferred_block();
  const Window& window = request.window;
  Window part;
  for (part.row = window.row; part.row < window.row + window.height; part.row += part.height) {
    part.height = std::min((part.row / block.height + 1) * block.height, window.row + window.height) - part.row;
    for (part.column = window.column; part.column < window.column + window.width; part.column += part.width) {
      part.width = std::min((part.column / block.width + 1) * block.width, window.column + window.width) - part.column;
      read_block({.window = window, .bands = bands, .validity = request.validity}, part, stop);
    }
  }
}

/// Blank blocks can always be read, so that a band's plane has one value wherever band and inner plane are blank.
bool SkippingSource::is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                                      std::span<const std::uint32_t> planes) const {
  const std::uint32_t inner_planes = source_->validity_plane_count();
  std::vector<std::uint32_t> inner_bands(bands.begin(), bands.end());
  std::vector<std::uint32_t> inner;
  for (const std::uint32_t plane : planes) {
    if (plane < inner_planes) {
      inner.push_back(plane);
      continue;
    }
    const std::uint32_t band = plane - inner_planes + 1;
    inner_bands.push_back(band);
    if (const auto plane_of_band = plane_of(*source_, band)) inner.push_back(*plane_of_band);
  }
  return source_->is_blank(window, inner_bands, inner);
}

/// Reads one block of a request, each band and each plane for itself.
void SkippingSource::read_block(const ReadRequest& request, const Window& block, const std::stop_token& stop) const {
  const std::uint32_t inner_planes = source_->validity_plane_count();
  std::vector<bool> unreadable(bands_.size() + 1, false);
  for (const BandDestination& destination : request.bands) {
    const std::size_t size = raster::size_of(bands_[destination.band - 1].type);
    std::vector<std::byte> samples(block.pixel_count() * size);
    const BandDestination own{.band = destination.band, .samples = samples};
    const auto failure = failure_of([&] {
      source_->read({.window = block, .bands = {&own, 1}, .validity = {}}, stop);
    });
    if (failure) {
      record_->add(block, destination.band, failure->c_str());
      unreadable[destination.band] = true;
      std::ranges::fill(samples, std::byte{0});
    }
    place(request.window, block, size, samples.data(), destination.samples.data());
  }
  for (ValidityDestination& destination : request.validity) {
    const bool of_band = destination.plane >= inner_planes;
    const std::uint32_t band = of_band ? destination.plane - inner_planes + 1 : 0;
    const std::optional<std::uint32_t> plane = of_band ? plane_of(*source_, band) : std::optional(destination.plane);
    std::vector<std::uint8_t> bytes(block.pixel_count(), 1);
    ValidityDestination own{.plane = plane.value_or(0), .bytes = bytes};
    bool failed = of_band && unreadable[band];
    if (!failed && plane) {
      const auto failure = failure_of([&] {
        source_->read({.window = block, .bands = {}, .validity = {&own, 1}}, stop);
      });
      if (failure) record_->add(block, of_band ? band : band_of_plane(*source_, *plane), failure->c_str());
      failed = failure.has_value();
    }
    if (failed) {
      std::ranges::fill(bytes, std::uint8_t{0});
      own = {.plane = own.plane, .bytes = bytes, .missing_by_unreadable = bytes.size()};
    }
    add_counts(destination, own);
    place(request.window, block, 1, std::as_bytes(std::span(bytes)).data(),
          std::as_writable_bytes(destination.bytes).data());
  }
}

}  // namespace tessera::residency
