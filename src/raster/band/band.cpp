#include <tessera/raster/band.hpp>

#include <cmath>
#include <set>

#include <tessera/error.hpp>

namespace tessera::raster {
namespace {

float finite_float(double value, std::string_view band, const char* rule) {
  const auto rounded = static_cast<float>(value);
  if (!std::isfinite(rounded))
    throw Error(ErrorCode::invalid_argument, {"raster band", std::string(band), rule, std::to_string(value)});
  return rounded;
}

}  // namespace

Format storage_format(SampleType type) noexcept {
  switch (type) {
    case SampleType::uint8:
      return Format::uint8;
    case SampleType::sint8:
      return Format::sint8;
    case SampleType::uint16:
      return Format::uint16;
    case SampleType::sint16:
      return Format::sint16;
    case SampleType::uint32:
      return Format::uint32;
    case SampleType::sint32:
      return Format::sint32;
    case SampleType::uint64:
      return Format::uint64;
    case SampleType::sint64:
      return Format::sint64;
    case SampleType::float32:
      return Format::float32;
    case SampleType::float64:
      return Format::float64;
  }
  return Format::float32;
}

Source Band::source() const {
  Source source = Source(values).as_observations();
  if (no_data.kind() != NoData::Kind::none && storage_format(no_data.type()) != source.format())
    throw Error(ErrorCode::format_mismatch,
                {"raster band", id, "has a nodata value in the type of its samples",
                 std::string(name_of(no_data.type())) + " and " + std::string(name_of(source.format()))});
  if (validity) source = source.with_validity(*validity);
  if (no_data.needs_comparison()) {
    // Kernels compare narrow samples after widening them, so the sentinel widens alike.
    std::uint64_t bits = no_data.bits();
    if (no_data.type() == SampleType::sint8) bits = static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
    if (no_data.type() == SampleType::sint16) bits = static_cast<std::uint32_t>(static_cast<std::int16_t>(bits));
    source = source.with_no_data({bits});
  } else if (no_data.kind() == NoData::Kind::not_a_number) {
    source = source.with_no_data({source.format() == Format::float64 ? std::uint64_t{0x7ff8000000000000} : 0x7fc00000});
  }
  const Calibration calibration{.scale = finite_float(scale, id, "has a scale that is finite in float32"),
                                .offset = finite_float(offset, id, "has an offset that is finite in float32")};
  return source.with_calibration(calibration);
}

Raster::Raster(RasterMetadata metadata, std::vector<Band> bands)
    : metadata_(std::move(metadata)), bands_(std::move(bands)) {
  if (bands_.empty()) throw Error(ErrorCode::missing_operand, {"raster", "bands", "has at least one band", {}});
  std::set<std::string_view> ids;
  for (const Band& band : bands_) {
    if (band.id.empty()) throw Error(ErrorCode::invalid_argument, {"raster", "bands", "has a name for every band", {}});
    if (!ids.insert(band.id).second)
      throw Error(ErrorCode::duplicate_id, {"raster", "bands", "has a name of its own for every band", band.id});
    const std::uint64_t length = band.source().length();
    if (length != metadata_.pixel_count())
      throw Error(ErrorCode::length_mismatch,
                  {"raster", band.id, "has width * height samples",
                   std::to_string(length) + " and " + std::to_string(metadata_.pixel_count())});
  }
}

const Band& Raster::band(std::string_view id) const {
  std::string names;
  for (const Band& candidate : bands_) {
    if (candidate.id == id) return candidate;
    names += (names.empty() ? "" : ", ") + candidate.id;
  }
  throw Error(ErrorCode::unknown_id, {"raster", std::string(id), "names one of its bands", names});
}

}  // namespace tessera::raster
