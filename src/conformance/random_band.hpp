#pragma once

#include <tessera/raster/band.hpp>

#include "conformance/case.hpp"
#include "reference/raster.hpp"

namespace tessera::conformance {

/// A band with everything that can make a pixel missing, on the host and on the device.
template <class Sample>
class RandomBand {
 public:
  RandomBand(Device& device, Random& random, std::uint64_t pixels)
      : samples_(random_values<Sample>(random, pixels)),
        validity_(device, random, pixels),
        values_(device, random, samples_) {
    if (pixels != 0 && random.one_in(2)) no_data_ = samples_[random.below(pixels)];
    if (random.one_in(2)) {
      scale_ = random.pick({0.5F, -0.001F, 3.0F});
      offset_ = random.pick({0.0F, -1.0F, 100.0F});
    }
  }

  reference::Band<Sample> on_host() const {
    return {.samples = samples_, .mask = validity_.words(), .no_data = no_data_, .scale = scale_, .offset = offset_};
  }

  raster::Band on_device() const {
    raster::Band band{.id = "band", .values = values_.vector()};
    band.validity = validity_.on_device();
    if (no_data_) band.no_data = no_data_of(*no_data_);
    band.scale = scale_;
    band.offset = offset_;
    return band;
  }

 private:
  static raster::NoData no_data_of(Sample value) {
    if constexpr (std::is_same_v<Sample, float>) return raster::NoData::of(raster::SampleType::float32, value);
    if constexpr (std::is_same_v<Sample, std::uint16_t>)
      return raster::NoData::of_unsigned(raster::SampleType::uint16, value);
    if constexpr (std::is_same_v<Sample, std::int16_t>)
      return raster::NoData::of_signed(raster::SampleType::sint16, value);
    return raster::NoData::of_unsigned(raster::SampleType::uint8, static_cast<std::uint8_t>(value));
  }

  std::vector<Sample> samples_;
  RandomValidity validity_;
  std::optional<Sample> no_data_;
  float scale_ = 1.0F;
  float offset_ = 0.0F;
  DeviceRows<Sample> values_;
};

}  // namespace tessera::conformance
