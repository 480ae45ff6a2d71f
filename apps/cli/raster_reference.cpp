#include "raster_reference.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gdal.h>

namespace tessera::cli {
namespace {

bool parse_number(const std::string& text, std::uint32_t& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

/// What GDAL's block cache holds while files are read in steps: for each thread a step and a block, of all bands of
/// every file. Files whose bands decode alone, and the writer, go past it.
std::uint64_t block_cache_bytes(const std::vector<residency::StreamInput>& inputs, const RunOptions& options) {
  constexpr std::uint64_t step_bytes = std::uint64_t{8} << 20;
  std::set<const residency::TileSource*> sources;
  std::uint64_t bytes = 0;
  for (const residency::StreamInput& input : inputs) {
    if (!sources.insert(input.source).second) continue;
    const residency::Extent block = input.source->preferred_block();
    const std::uint64_t block_pixels =
        static_cast<std::uint64_t>(block.width) * static_cast<std::uint64_t>(block.height);
    std::uint64_t pixel_bytes = 0;
    for (const raster::BandInfo& band : input.source->bands()) pixel_bytes += raster::size_of(band.type);
    // Headers may claim any block.
    if (block_pixels > options.memory_bytes() / pixel_bytes) return options.memory_bytes();
    bytes += options.thread_count() * (step_bytes + block_pixels * pixel_bytes);
  }
  return bytes;
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
  for (const auto& [name, file] : files_) {
    names.push_back(name);
    names.insert(names.end(), file->info().files.begin(), file->info().files.end());
  }
  return names;
}

residency::WindowGrid plan_job(const Device& device, const io::RasterFile& file,
                               const std::vector<residency::StreamInput>& inputs, std::uint32_t output_bands,
                               residency::Extent output_block, const RunOptions& options,
                               const residency::StreamOptions& stream) {
  const std::uint64_t memory = options.memory_bytes();
  const std::uint64_t cache = std::min(block_cache_bytes(inputs, options), memory / 4);
  GDALSetCacheMax64(static_cast<GIntBig>(cache));
  residency::WindowPlanOptions plan;
  plan.memory = memory - cache;
  plan.bytes_per_pixel = residency::stream_bytes_per_pixel(device, inputs, output_bands, stream);
  plan.output_block = output_block;
  plan.maximum_pixels = std::uint64_t{1} << 23;
  return residency::plan_windows(file.extent(), file.preferred_block(), plan, file.name());
}

}  // namespace tessera::cli
