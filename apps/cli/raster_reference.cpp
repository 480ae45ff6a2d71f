#include "raster_reference.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <fmt/format.h>
#include <gdal.h>

namespace tessera::cli {
namespace {

bool parse_number(const std::string& text, std::uint32_t& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

const io::RasterFile& RasterFiles::open(const std::string& path) {
  auto& file = files_[path];
  if (!file) file = std::make_unique<io::RasterFile>(io::RasterFile::open(path));
  return *file;
}

BandReference RasterFiles::band_of(const io::RasterFile& file, const std::string& band,
                                   const std::string& option) const {
  std::uint32_t number = 0;
  if (!parse_number(band, number)) return {&file, file.find_band(band)};
  if (number == 0) throw UsageError{fmt::format("{}: bands are numbered from 1", option)};
  static_cast<void>(file.band(number));
  return {&file, number};
}

BandReference RasterFiles::resolve(const std::string& scene, const std::string& reference, const std::string& option) {
  if (!scene.empty()) {
    const io::RasterFile& file = open(scene);
    std::uint32_t number = 0;
    const auto named = std::count_if(file.bands().begin(), file.bands().end(),
                                     [&](const raster::BandInfo& band) { return band.description == reference; });
    if (parse_number(reference, number) || named > 0) return band_of(file, reference, option);
  }
  if (std::filesystem::exists(reference)) {
    const io::RasterFile& file = open(reference);
    if (file.bands().size() > 1)
      throw UsageError{
          fmt::format("{}: {} has {} bands; name one as {},BAND", option, reference, file.bands().size(), reference)};
    return {&file, 1};
  }
  if (const auto comma = reference.rfind(','); comma != std::string::npos && comma > 0)
    return band_of(open(reference.substr(0, comma)), reference.substr(comma + 1), option);
  if (scene.empty()) {
    std::uint32_t number = 0;
    if (parse_number(reference, number))
      throw UsageError{fmt::format("{}: band {} of which file? Name the scene, or use FILE,BAND", option, reference)};
    return {&open(reference), 1};
  }
  return band_of(open(scene), reference, option);
}

std::vector<std::string> RasterFiles::names() const {
  std::vector<std::string> names;
  for (const auto& [name, file] : files_) names.push_back(name);
  return names;
}

residency::WindowGrid plan_job(const Device& device, const io::RasterFile& file,
                               const std::vector<residency::StreamInput>& inputs, std::uint32_t output_bands,
                               residency::Extent output_block, const RunOptions& options,
                               const residency::StreamOptions& stream) {
  const std::uint64_t memory = options.memory_bytes();
  GDALSetCacheMax64(static_cast<GIntBig>(memory / 4));
  residency::WindowPlanOptions plan;
  plan.memory = memory / 2;
  plan.bytes_per_pixel = residency::stream_bytes_per_pixel(device, inputs, output_bands, stream);
  plan.output_block = output_block;
  plan.maximum_pixels = std::uint64_t{1} << 23;
  return residency::plan_windows(file.extent(), file.preferred_block(), plan, file.name());
}

}  // namespace tessera::cli
