#include <tessera/residency/encoding_sink.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include <tessera/error.hpp>

namespace tessera::residency {
namespace {

using raster::NoData;
using raster::SampleType;

struct PixelCounts {
  std::uint64_t missing = 0;
  std::uint64_t collisions = 0;
  std::uint64_t clamped = 0;
};

/// One valid value in another type.
template <class Sample>
Sample encoded(float value, std::uint64_t& clamped) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return value;
  } else {
    using Limits = std::numeric_limits<Sample>;
    // Exact: a double holds a float and a half beside it. From 2^53 on, where it doesn't, there are no halves.
    const double rounded = std::trunc(static_cast<double>(value) + (value < 0.0F ? -0.5 : 0.5));
    if (rounded < static_cast<double>(Limits::lowest())) {
      ++clamped;
      return Limits::lowest();
    }
    if (rounded >= std::ldexp(1.0, Limits::digits)) {
      ++clamped;
      return Limits::max();
    }
    return static_cast<Sample>(rounded);
  }
}

/// Encodes one band; where the band has no nodata value, clears the validity of missing pixels.
template <class Sample>
PixelCounts encode(std::span<const std::byte> values, const NoData& no_data, std::vector<std::byte>& target,
                   std::vector<std::uint8_t>& validity) {
  const std::size_t pixels = values.size() / sizeof(float);
  target.resize(pixels * sizeof(Sample));
  const bool is_declared = no_data.kind() != NoData::Kind::none;
  Sample missing = std::is_floating_point_v<Sample> ? std::numeric_limits<Sample>::quiet_NaN() : Sample{};
  if (no_data.needs_comparison()) {
    const std::uint64_t bits = no_data.bits();
    std::memcpy(&missing, &bits, sizeof(Sample));
  }
  const bool compares = no_data.needs_comparison();
  PixelCounts counts;
  for (std::size_t i = 0; i < pixels; ++i) {
    float value = 0.0F;
    std::memcpy(&value, values.data() + i * sizeof(float), sizeof(float));
    Sample sample = missing;
    if (std::isnan(value)) {
      ++counts.missing;
      if (!is_declared) {
        if (validity.empty()) validity.assign(pixels, 1);
        validity[i] = 0;
      }
    } else {
      sample = encoded<Sample>(value, counts.clamped);
      counts.collisions += compares && sample == missing ? 1 : 0;
    }
    std::memcpy(target.data() + i * sizeof(Sample), &sample, sizeof(Sample));
  }
  return counts;
}

/// Missing pixels of float32 values that may go on as they are, because every one of them is the quiet NaN that would
/// be written; none where a value has to be encoded.
std::optional<std::uint64_t> unchanged(std::span<const std::byte> values, const NoData& no_data) {
  if (no_data.needs_comparison()) return std::nullopt;
  constexpr std::size_t step = 1024;  // of a constant size, so that compilers use vectors
  const std::int32_t infinity = std::bit_cast<std::int32_t>(std::numeric_limits<float>::infinity());
  const std::int32_t quiet_nan = std::bit_cast<std::int32_t>(std::numeric_limits<float>::quiet_NaN());
  const std::size_t pixels = values.size() / sizeof(float);
  std::uint64_t missing = 0;
  for (std::size_t first = 0; first < pixels; first += step) {
    std::array<std::int32_t, step> bits{};
    std::memcpy(bits.data(), values.data() + first * sizeof(float), std::min(step, pixels - first) * sizeof(float));
    std::int32_t not_numbers = 0;
    std::int32_t quiet_nans = 0;
    for (const std::int32_t value : bits) {
      not_numbers += (value & 0x7fffffff) > infinity ? 1 : 0;
      quiet_nans += value == quiet_nan ? 1 : 0;
    }
    if (not_numbers != quiet_nans) return std::nullopt;
    missing += static_cast<std::uint64_t>(not_numbers);
  }
  if (missing > 0 && no_data.kind() == NoData::Kind::none) return std::nullopt;
  return missing;
}

PixelCounts encode_as(SampleType type, std::span<const std::byte> values, const NoData& no_data,
                      std::vector<std::byte>& target, std::vector<std::uint8_t>& validity) {
  switch (type) {
    case SampleType::uint8:
      return encode<std::uint8_t>(values, no_data, target, validity);
    case SampleType::sint8:
      return encode<std::int8_t>(values, no_data, target, validity);
    case SampleType::uint16:
      return encode<std::uint16_t>(values, no_data, target, validity);
    case SampleType::sint16:
      return encode<std::int16_t>(values, no_data, target, validity);
    case SampleType::uint32:
      return encode<std::uint32_t>(values, no_data, target, validity);
    case SampleType::sint32:
      return encode<std::int32_t>(values, no_data, target, validity);
    case SampleType::uint64:
      return encode<std::uint64_t>(values, no_data, target, validity);
    case SampleType::sint64:
      return encode<std::int64_t>(values, no_data, target, validity);
    case SampleType::float32:
      return encode<float>(values, no_data, target, validity);
    case SampleType::float64:
      return encode<double>(values, no_data, target, validity);
  }
  return {};
}

}  // namespace

EncodingSink::EncodingSink(TileSink& inner, EncodingOptions options)
    : inner_(&inner), options_(options), bands_(inner.bands().begin(), inner.bands().end()) {
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    raster::BandInfo& band = bands_[i];
    if (band.no_data.kind() == NoData::Kind::unmatchable) {
      throw Error(
          ErrorCode::invalid_argument,
          {"encoding_sink", inner.name(), "the nodata value must be one that the output's type holds",
           "band " + std::to_string(i + 1) + ": " + band.no_data.text() + " in " + std::string(name_of(band.type))});
    }
    band.type = SampleType::float32;
    band.no_data = NoData::of(SampleType::float32, std::numeric_limits<double>::quiet_NaN());
  }
  counts_.resize(bands_.size());
  encoded_.resize(bands_.size());
}

const EncodingSink::Counts& EncodingSink::counts(std::uint32_t band) const {
  if (band == 0 || band > counts_.size()) {
    throw Error(ErrorCode::band_out_of_range,
                {"encoding_sink", name(), "bands are numbered from 1 to their count",
                 "band " + std::to_string(band) + " of " + std::to_string(counts_.size())});
  }
  return counts_[band - 1];
}

void EncodingSink::write_checked(const WriteRequest& request) {
  std::vector<BandSamples> bands;
  validity_.assign(request.validity.begin(), request.validity.end());
  for (const BandSamples& samples : request.bands) {
    const std::size_t index = samples.band - 1;
    const raster::BandInfo& band = inner_->bands()[index];
    if (band.type == SampleType::float32) {
      if (const auto missing = unchanged(samples.samples, band.no_data)) {
        counts_[index].missing += *missing;
        bands.push_back(samples);
        continue;
      }
    }
    const PixelCounts added = encode_as(band.type, samples.samples, band.no_data, encoded_[index], validity_);
    counts_[index].missing += added.missing;
    counts_[index].collisions += added.collisions;
    counts_[index].clamped += added.clamped;
    bands.push_back({.band = samples.band, .samples = encoded_[index]});
  }
  inner_->write({.window = request.window, .bands = bands, .validity = validity_});
}

void EncodingSink::finish() {
  std::string values;
  for (std::size_t i = 0; i < counts_.size() && options_.collisions == CollisionPolicy::reject; ++i) {
    if (counts_[i].collisions == 0) continue;
    values += (values.empty() ? "" : "; ") + std::to_string(counts_[i].collisions) + " in band " +
              std::to_string(i + 1) + " equal " + inner_->bands()[i].no_data.text();
  }
  if (!values.empty()) {
    throw Error(ErrorCode::invalid_argument,
                {"encoding_sink", name(), "valid results must not equal the nodata value; choose another", values});
  }
  inner_->finish();
}

}  // namespace tessera::residency
