#include "written_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <system_error>
#include <type_traits>
#include <utility>

#include "creation.hpp"

namespace tessera::io::detail {

namespace {

namespace fs = std::filesystem;

using raster::BandInfo;
using raster::SampleType;
using residency::Window;

[[noreturn]] void fail(const WrittenRaster& raster, const char* rule, std::string values) {
  fail_writer(ErrorCode::file_unwritable, raster.path, rule, std::move(values));
}

/// Driver and creation options, for messages.
std::string format_of(const RasterWriterOptions& options) {
  std::string text = options.driver;
  for (const std::string& option : options.creation_options) {
    text += " " + option;
  }
  return text;
}

Dataset open_again(const std::string& name, const WrittenRaster& raster) {
  const MessageCollector messages;
  Dataset dataset(
      GDALOpenEx(name.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY | GDAL_OF_VERBOSE_ERROR, nullptr, nullptr, nullptr));
  if (!dataset) {
    fail(raster, "the written file can't be opened again", messages.text());
  }
  return dataset;
}

/// Pixels of a written raster that are not what was written.
struct Differences {
  std::uint64_t pixels = 0;
  std::uint64_t missing = 0;  ///< of these, those that were to be missing
  std::string first;

  bool any() const { return pixels != 0; }
};

template <typename Sample>
bool is_same(Sample left, Sample right) {
  if constexpr (std::is_floating_point_v<Sample>) {
    return left == right || (std::isnan(left) && std::isnan(right));
  }
  return left == right;
}

/// As text that tells neighbours apart in every type but 64-bit integers.
std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.9g", value);
  return text;
}

template <typename Sample>
void compare(const BandInfo& band, std::span<const Sample> expected, std::span<const Sample> found,
             Differences& differences) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (is_same(expected[i], found[i])) {
      continue;
    }
    const bool was_missing = band.no_data.kind() == raster::NoData::Kind::not_a_number
                                 ? std::isnan(static_cast<double>(expected[i]))
                                 : band.no_data.needs_comparison() && band.no_data.matches(&expected[i]);
    differences.pixels += 1;
    differences.missing += was_missing ? 1 : 0;
    if (differences.first.empty()) {
      differences.first =
          text_of(static_cast<double>(expected[i])) + " became " + text_of(static_cast<double>(found[i]));
    }
  }
}

/// Samples of one band and window, in the band's own type.
std::vector<std::byte> read_samples(GDALRasterBandH band, SampleType type, const Window& window,
                                    const WrittenRaster& raster) {
  const std::size_t size = raster::size_of(type);
  std::vector<std::byte> samples(window.pixel_count() * size);
  const MessageCollector messages;
  if (GDALRasterIO(band, GF_Read, static_cast<int>(window.column), static_cast<int>(window.row),
                   static_cast<int>(window.width), static_cast<int>(window.height), samples.data(),
                   static_cast<int>(window.width), static_cast<int>(window.height), gdal_type_of(type), 0,
                   0) != CE_None) {
    fail(raster, "the written pixels can't be read again: the format must hold them by itself",
         format_of(raster.options) + "; " + messages.text());
  }
  return samples;
}

template <typename Sample>
std::span<const Sample> samples_as(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const Sample*>(bytes.data()), bytes.size() / sizeof(Sample)};
}

void compare_samples(const BandInfo& band, const std::vector<std::byte>& expected, const std::vector<std::byte>& found,
                     Differences& differences) {
  const auto compare_as = [&](auto sample) {
    using Sample = decltype(sample);
    compare<Sample>(band, samples_as<Sample>(expected), samples_as<Sample>(found), differences);
  };
  switch (band.type) {
    case SampleType::uint8:
      return compare_as(std::uint8_t{});
    case SampleType::sint8:
      return compare_as(std::int8_t{});
    case SampleType::uint16:
      return compare_as(std::uint16_t{});
    case SampleType::sint16:
      return compare_as(std::int16_t{});
    case SampleType::uint32:
      return compare_as(std::uint32_t{});
    case SampleType::sint32:
      return compare_as(std::int32_t{});
    case SampleType::uint64:
      return compare_as(std::uint64_t{});
    case SampleType::sint64:
      return compare_as(std::int64_t{});
    case SampleType::float32:
      return compare_as(float{});
    case SampleType::float64:
      return compare_as(double{});
  }
}

/// Masks agree where both accept or both refuse.
void compare_masks(GDALDatasetH source, GDALDatasetH copy, const Window& window, const WrittenRaster& raster,
                   Differences& differences) {
  std::vector<std::byte> masks[2];
  for (int i = 0; i < 2; ++i) {
    const GDALRasterBandH band = GDALGetMaskBand(GDALGetRasterBand(i == 0 ? source : copy, 1));
    masks[i] = read_samples(band, SampleType::uint8, window, raster);
  }
  for (std::size_t i = 0; i < masks[0].size(); ++i) {
    const bool is_missing = masks[0][i] == std::byte{0};
    if (is_missing != (masks[1][i] == std::byte{0})) {
      differences.pixels += 1;
      differences.missing += is_missing ? 1 : 0;
      differences.first = differences.first.empty() ? "the mask changed" : differences.first;
    }
  }
}

[[noreturn]] void fail_different(const WrittenRaster& raster, const Differences& differences, const char* when) {
  const std::uint64_t all = raster.metadata.pixel_count() * raster.bands.size();
  fail(raster, "the format and its creation options must keep every pixel as it is",
       format_of(raster.options) + ": " + when + std::to_string(differences.pixels) + " of " + std::to_string(all) +
           " pixels changed, " + std::to_string(differences.missing) + " of them missing ones; " + differences.first);
}

/// Zeros, ones and missing pixels in no order, which no lossy codec keeps; in float types any fractions.
std::vector<std::byte> trial_samples(const BandInfo& band, std::uint64_t count) {
  std::minstd_rand random(static_cast<unsigned>(count));
  const std::size_t size = raster::size_of(band.type);
  std::vector<std::byte> bytes(count * size);
  const bool has_missing = band.no_data.needs_comparison();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto pick = random() / 8 % 4;
    const double fraction = static_cast<double>(random()) / static_cast<double>(std::minstd_rand::max());
    const double value = raster::is_floating_point(band.type) ? 2.0 * fraction - 1.0 : static_cast<double>(pick % 2);
    const raster::NoData sample = raster::NoData::of(band.type, value);
    const std::uint64_t bits = pick == 3 && has_missing ? band.no_data.bits() : sample.bits();
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

/// The raster of the trial: the output's grid, a few pixels of it.
raster::RasterMetadata trial_metadata(const raster::RasterMetadata& metadata) {
  raster::RasterMetadata small = metadata;
  small.width = std::min<std::int64_t>(metadata.width, 64);
  small.height = std::min<std::int64_t>(metadata.height, 64);
  return small;
}

void write_trial(const std::string& name, const WrittenRaster& raster,
                 const std::vector<std::vector<std::byte>>& bands) {
  Dataset dataset =
      create_geotiff(name, raster.path, raster.metadata, raster.bands, intermediate_options(raster.options));
  MessageCollector messages;
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const auto width = static_cast<int>(raster.metadata.width);
    const auto height = static_cast<int>(raster.metadata.height);
    const CPLErr status =
        GDALRasterIO(GDALGetRasterBand(dataset.get(), static_cast<int>(i + 1)), GF_Write, 0, 0, width, height,
                     const_cast<std::byte*>(bands[i].data()), width, height, gdal_type_of(raster.bands[i].type), 0, 0);
    if (status != CE_None) {
      fail(raster, "can't be created", messages.text());
    }
  }
  GDALClose(dataset.release());
  if (messages.failed()) {
    fail(raster, "can't be created", messages.text());
  }
}

}  // namespace

Dataset open_written(const std::string& name, const WrittenRaster& raster) {
  Dataset written = open_again(name, raster);
  const MessageCollector quiet;
  if (GDALGetRasterXSize(written.get()) != raster.metadata.width ||
      GDALGetRasterYSize(written.get()) != raster.metadata.height ||
      GDALGetRasterCount(written.get()) != static_cast<int>(raster.bands.size())) {
    fail(raster, "the written file has another size", format_of(raster.options));
  }
  for (std::size_t i = 0; i < raster.bands.size(); ++i) {
    const GDALRasterBandH band = GDALGetRasterBand(written.get(), static_cast<int>(i + 1));
    const BandInfo& info = raster.bands[i];
    if (sample_type_of(band) != info.type) {
      fail(raster, "the format can't hold the samples' type",
           std::string(name_of(info.type)) + " in " + format_of(raster.options));
    }
    if (raster.has_mask && (GDALGetMaskFlags(band) & GMF_PER_DATASET) == 0) {
      fail(raster, "the format can't hold missing pixels without a nodata value", format_of(raster.options));
    }
    if (info.no_data.needs_comparison() && !(no_data_of(band, info.type) == info.no_data)) {
      fail(raster, "the format can't hold the nodata value", info.no_data.text() + " in " + format_of(raster.options));
    }
  }
  return written;
}

void require_same_pixels(const std::string& source_name, const std::string& copy_name, const WrittenRaster& raster) {
  const Dataset source = open_again(source_name, raster);
  const Dataset copy = open_again(copy_name, raster);
  // Whole rows, since many formats decode them together.
  constexpr std::int64_t most_pixels = std::int64_t{4} << 20;
  const std::int64_t rows = std::clamp<std::int64_t>(most_pixels / raster.metadata.width, 1, 512);
  Differences differences;
  Window window{0, 0, raster.metadata.width, rows};
  for (; window.row < raster.metadata.height; window.row += rows) {
    window.height = std::min(rows, raster.metadata.height - window.row);
    if (raster.options.stop.stop_requested()) {
      fail_writer(ErrorCode::cancelled, raster.path, "the application asked to stop");
    }
    for (std::size_t i = 0; i < raster.bands.size(); ++i) {
      const auto number = static_cast<int>(i + 1);
      const SampleType type = raster.bands[i].type;
      compare_samples(raster.bands[i], read_samples(GDALGetRasterBand(source.get(), number), type, window, raster),
                      read_samples(GDALGetRasterBand(copy.get(), number), type, window, raster), differences);
    }
    if (raster.has_mask) {
      compare_masks(source.get(), copy.get(), window, raster, differences);
    }
  }
  if (differences.any()) {
    fail_different(raster, differences, "");
  }
}

std::vector<std::string> try_format(const fs::path& folder, const std::string& name, const WrittenRaster& raster) {
  const raster::RasterMetadata metadata = trial_metadata(raster.metadata);
  RasterWriterOptions options = raster.options;
  // What other threads have to say is not collected.
  options.threads = 1;
  const WrittenRaster trial{raster.path, metadata, raster.bands, options};
  std::vector<std::vector<std::byte>> samples;
  for (const BandInfo& band : raster.bands) {
    samples.push_back(trial_samples(band, metadata.pixel_count()));
  }
  const fs::path written = folder / ".written";
  const fs::path moved = folder / ".moved";
  const fs::path source = folder / ".trial.tif";
  std::error_code ignored;
  fs::create_directory(written, ignored);
  write_trial(source.string(), trial, samples);
  try {
    copy_into_format(source.string(), (written / name).string(), trial.path, metadata, trial.bands, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::file_unwritable || !EQUAL(options.driver.c_str(), "GTiff")) throw;
    fail_writer(ErrorCode::invalid_option, "creation_options", "must suit each other and the samples",
                error.detail().values);
  }
  // As the output will be: its source gone, itself in another place.
  fs::remove(source, ignored);
  fs::rename(written, moved, ignored);
  std::vector<std::string> companions;
  for (const auto& entry : fs::directory_iterator(moved, ignored)) {
    if (entry.path().filename() != name) companions.push_back(entry.path().filename().string());
  }
  Differences differences;
  {
    const Dataset dataset = open_written((moved / name).string(), trial);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const BandInfo& band = raster.bands[i];
      compare_samples(band, samples[i],
                      read_samples(GDALGetRasterBand(dataset.get(), static_cast<int>(i + 1)), band.type,
                                   {0, 0, metadata.width, metadata.height}, trial),
                      differences);
    }
  }
  if (differences.any()) {
    fail_different(trial, differences, "in a trial ");
  }
  fs::remove_all(moved, ignored);
  return companions;
}

}  // namespace tessera::io::detail
