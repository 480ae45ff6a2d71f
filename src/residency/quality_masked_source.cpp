#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <tessera/error.hpp>
#include <tessera/residency/derived_sources.hpp>

#include "residency/plane_routing.hpp"

namespace tessera::residency {
namespace {

/// Pixels of the quality band that are held at once, as far as its blocks allow.
constexpr std::int64_t strip_pixels = std::int64_t{1} << 20;

[[noreturn]] void reject(ErrorCode code, const TileSource& mask, const char* rule, std::string values) {
  throw Error(code, {"quality_masked_source", mask.name(), rule, std::move(values)});
}

std::uint64_t low_bits(std::size_t bytes) { return std::numeric_limits<std::uint64_t>::max() >> (64 - 8 * bytes); }

/// Whether samples of the type can hold the value.
bool holds(raster::SampleType type, std::int64_t value) {
  const std::size_t bytes = raster::size_of(type);
  if (!raster::is_signed(type)) return value >= 0 && static_cast<std::uint64_t>(value) <= low_bits(bytes);
  const auto most = static_cast<std::int64_t>(low_bits(bytes) >> 1);
  return value >= -most - 1 && value <= most;
}

}  // namespace

/// Decides pixel by pixel from the samples' bit patterns, which makes one rule serve all integer types.
class QualityMaskedSource::Quality {
 public:
  Quality(const TileSource& source, const TileSource& mask, std::uint32_t band, const QualityRule& rule)
      : mask_(mask), band_(band), info_(mask.band(band)) {
    if (mask.extent() != source.extent()) {
      const auto text = [](const TileSource& of) {
        return of.name() + " has " + std::to_string(of.extent().width) + " x " + std::to_string(of.extent().height);
      };
      reject(ErrorCode::grid_mismatch, mask, "a quality mask must have the size of the raster",
             text(source) + ", " + text(mask));
    }
    if (raster::is_floating_point(info_.type))
      reject(ErrorCode::format_mismatch, mask, "a quality band must have integers", std::string(name_of(info_.type)));
    if (rule.bits.empty() && rule.values.empty())
      reject(ErrorCode::invalid_argument, mask, "a quality rule must have bits or values", "neither");
    const std::size_t bytes = raster::size_of(info_.type);
    for (const std::uint32_t bit : rule.bits) {
      if (bit >= 8 * bytes)
        reject(ErrorCode::invalid_argument, mask, "the bits of a quality rule must lie in the band's type",
               "bit " + std::to_string(bit) + " of " + std::string(name_of(info_.type)));
      bits_ |= std::uint64_t{1} << bit;
    }
    for (const std::int64_t value : rule.values)
      if (holds(info_.type, value)) patterns_.push_back(static_cast<std::uint64_t>(value) & low_bits(bytes));
    if (info_.no_data.needs_comparison()) patterns_.push_back(info_.no_data.bits());
    std::ranges::sort(patterns_);
    if (bytes <= 2) {
      for (std::uint64_t pattern = 0; pattern <= low_bits(bytes); ++pattern) accepted_.push_back(accepts(pattern));
    }
  }

  /// Takes out the bad pixels of the destinations, which hold whole windows, and counts those that were accepted
  /// before.
  void apply(const Window& window, std::span<ValidityDestination* const> destinations,
             const std::stop_token& stop) const {
    const std::int64_t block = std::max<std::int64_t>(mask_.preferred_block().height, 1);
    const std::int64_t most = std::max(strip_pixels / window.width, std::int64_t{1});
    const std::int64_t bottom = window.row + window.height;
    for (Window strip = window; strip.row < bottom; strip.row += strip.height) {
      // Strips end on blocks, so that none is decoded twice.
      const std::int64_t first_edge = (strip.row / block + 1) * block;
      const std::int64_t last_edge = (strip.row + most) / block * block;
      strip.height = std::min(bottom, std::max(first_edge, last_edge)) - strip.row;
      const std::vector<std::uint8_t> good = read(strip, stop);
      const auto first = static_cast<std::size_t>((strip.row - window.row) * window.width);
      for (ValidityDestination* destination : destinations) {
        std::uint64_t taken = 0;
        std::uint8_t* const bytes = destination->bytes.data() + first;
        for (std::size_t i = 0; i < good.size(); ++i) {
          taken += static_cast<std::uint64_t>(bytes[i] & (good[i] ^ 1));
          bytes[i] &= good[i];
        }
        destination->missing_by_quality += taken;
      }
    }
  }

  /// Whether the quality band stores nothing in the window.
  bool is_blank(const Window& window) const {
    const std::size_t planes = info_.validity == raster::ValiditySource::none ? 0 : 1;
    return mask_.is_blank(window, {&band_, 1}, {&info_.validity_plane, planes});
  }

 private:
  std::uint8_t accepts(std::uint64_t pattern) const {
    return (pattern & bits_) == 0 && !std::ranges::binary_search(patterns_, pattern) ? 1 : 0;
  }

  template <class Pattern>
  void judge(const std::vector<std::byte>& samples, std::vector<std::uint8_t>& good) const {
    for (std::size_t i = 0; i < good.size(); ++i) {
      Pattern pattern = 0;
      std::memcpy(&pattern, samples.data() + i * sizeof(Pattern), sizeof(Pattern));
      if constexpr (sizeof(Pattern) <= 2)
        good[i] &= accepted_[pattern];
      else
        good[i] &= accepts(pattern);
    }
  }

  /// 1 where the pixel is good.
  std::vector<std::uint8_t> read(const Window& strip, const std::stop_token& stop) const {
    std::vector<std::byte> samples(strip.pixel_count() * raster::size_of(info_.type));
    std::vector<std::uint8_t> good(strip.pixel_count(), 1);
    const BandDestination band{.band = band_, .samples = samples};
    ValidityDestination validity{.plane = info_.validity_plane, .bytes = good};
    const std::size_t planes = info_.validity == raster::ValiditySource::none ? 0 : 1;
    mask_.read({.window = strip, .bands = {&band, 1}, .validity = {&validity, planes}}, stop);
    switch (raster::size_of(info_.type)) {
      case 1:
        judge<std::uint8_t>(samples, good);
        break;
      case 2:
        judge<std::uint16_t>(samples, good);
        break;
      case 4:
        judge<std::uint32_t>(samples, good);
        break;
      default:
        judge<std::uint64_t>(samples, good);
        break;
    }
    return good;
  }

  const TileSource& mask_;
  std::uint32_t band_;
  raster::BandInfo info_;
  std::uint64_t bits_ = 0;
  std::vector<std::uint64_t> patterns_;  ///< sorted; bad ones
  std::vector<std::uint8_t> accepted_;   ///< by pattern, for types of one and two bytes
};

QualityMaskedSource::QualityMaskedSource(const TileSource& source, const TileSource& mask, std::uint32_t mask_band,
                                         QualityRule rule)
    : source_(&source),
      bands_(source.bands().begin(), source.bands().end()),
      quality_(std::make_unique<const Quality>(source, mask, mask_band, rule)) {
  for (raster::BandInfo& band : bands_) {
    const bool had_none = band.validity == raster::ValiditySource::none;
    band.validity_plane = had_none ? quality_plane() : source.validity_plane_count() + band.validity_plane;
    if (had_none) band.validity = raster::ValiditySource::quality;
  }
}

QualityMaskedSource::QualityMaskedSource(QualityMaskedSource&&) noexcept = default;
QualityMaskedSource& QualityMaskedSource::operator=(QualityMaskedSource&&) noexcept = default;
QualityMaskedSource::~QualityMaskedSource() = default;

std::optional<std::uint32_t> QualityMaskedSource::unmasked_plane(std::uint32_t band) const {
  const raster::BandInfo& inner = source_->band(band);
  if (inner.validity == raster::ValiditySource::none) return std::nullopt;
  return inner.validity_plane;
}

/// The source's plane that a plane starts from.
std::optional<std::uint32_t> QualityMaskedSource::inner_plane(std::uint32_t plane) const {
  const std::uint32_t inner_planes = source_->validity_plane_count();
  if (plane == quality_plane()) return std::nullopt;
  return plane < inner_planes ? plane : plane - inner_planes;
}

void QualityMaskedSource::read_checked(const ReadRequest& request, const std::stop_token& stop) const {
  const std::uint32_t inner_planes = source_->validity_plane_count();
  detail::PlaneRouting routing(request.validity, [&](std::uint32_t plane) { return inner_plane(plane); });
  source_->read({.window = request.window, .bands = request.bands, .validity = routing.inner()}, stop);
  routing.distribute();
  std::vector<ValidityDestination*> masked;
  for (ValidityDestination& destination : request.validity)
    if (destination.plane >= inner_planes) masked.push_back(&destination);
  if (!masked.empty()) quality_->apply(request.window, masked, stop);
}

bool QualityMaskedSource::is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                                           std::span<const std::uint32_t> planes) const {
  std::vector<std::uint32_t> inner;
  bool has_quality = false;
  for (const std::uint32_t plane : planes) {
    has_quality = has_quality || plane >= source_->validity_plane_count();
    if (const auto plane_of_source = inner_plane(plane)) inner.push_back(*plane_of_source);
  }
  return source_->is_blank(window, bands, inner) && (!has_quality || quality_->is_blank(window));
}

}  // namespace tessera::residency
