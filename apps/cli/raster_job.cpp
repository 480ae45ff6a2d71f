#include "raster_job.hpp"

#include <algorithm>
#include <set>

#include <gdal.h>

namespace tessera::cli {
namespace {

constexpr std::uint64_t result_alignment = 256;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + result_alignment - 1) / result_alignment * result_alignment;
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

/// One pass over the bands that still need one.
class StatisticsPass {
 public:
  StatisticsPass(const JobContext& context, const std::vector<BandChoice>& bands,
                 const std::vector<BandStatistics*>& statistics)
      : context_(context), job_(stream_job(context.inputs, {})) {
    std::vector<BandChoice> chosen;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      if (!statistics[i]->needs_pass()) continue;
      chosen.push_back(bands[i]);
      parts_.push_back({.statistics = statistics[i], .offset = result_bytes_, .bytes = statistics[i]->result_bytes()});
      result_bytes_ += aligned(parts_.back().bytes);
    }
    job_ = stream_job(context.inputs, chosen);
  }

  bool empty() const noexcept { return parts_.empty(); }

  void run(const std::string& progress_name) {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (parts_[i].statistics->on_host()) job_.inputs[i].place = residency::StreamPlace::host;
    job_.result_bytes = result_bytes_;
    job_.blank_windows = residency::BlankWindows::reuse;
    if (result_bytes_ > 0)
      job_.build = [this](Graph& graph, const residency::StreamViews& views) { build(graph, views); };
    job_.accept = [this](const residency::StreamedWindow& window) {
      for (std::size_t i = 0; i < parts_.size(); ++i)
        parts_[i].statistics->accept(band_window(window, i, results_of(window, parts_[i])));
    };
    run_stream(context_, job_, progress_name);
    for (const Part& part : parts_) part.statistics->end_pass();
  }

 private:
  struct Part {
    BandStatistics* statistics = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  static std::span<const std::byte> results_of(const residency::StreamedWindow& window, const Part& part) {
    return part.bytes == 0 ? std::span<const std::byte>() : window.results.subspan(part.offset, part.bytes);
  }

  void build(Graph& graph, const residency::StreamViews& views) const {
    std::size_t next = 0;
    for (const Part& part : parts_) {
      if (part.statistics->on_host()) continue;
      part.statistics->add_operations(graph, {.band = views.inputs[next],
                                              .unmasked = views.unmasked[next],
                                              .results = views.results,
                                              .offset = part.offset});
      ++next;
    }
  }

  const JobContext& context_;
  residency::StreamJob job_;
  std::vector<Part> parts_;
  std::uint64_t result_bytes_ = 0;
};

}  // namespace

residency::StreamJob stream_job(const InputRasters& inputs, const std::vector<BandChoice>& bands) {
  residency::StreamJob job{.inputs = {}, .grid = residency::WindowGrid({1, 1}, {1, 1})};
  for (const BandChoice& band : bands)
    job.inputs.push_back(
        {.source = &inputs.source(band.input), .band = band.band, .unmasked_plane = inputs.unmasked_plane(band)});
  return job;
}

void run_stream(const JobContext& context, residency::StreamJob& job, const std::string& progress_name,
                residency::Extent output_block) {
  const residency::StreamOptions options = stream_options(context.run, progress_name);
  const std::uint64_t memory = context.run.memory_bytes();
  const std::uint64_t cache = std::min(block_cache_bytes(job.inputs, context.run), memory / 4);
  GDALSetCacheMax64(static_cast<GIntBig>(cache));
  residency::WindowPlanOptions plan;
  plan.memory = memory - cache;
  plan.bytes_per_pixel = residency::stream_bytes_per_pixel(context.device, job.inputs, job.output_bands, options);
  plan.output_block = output_block;
  plan.maximum_pixels = std::uint64_t{1} << 23;
  const residency::TileSource& first = *job.inputs.front().source;
  job.grid = residency::plan_windows(first.extent(), first.preferred_block(), plan, first.name());
  residency::stream(context.device, job, options);
}

BandWindow band_window(const residency::StreamedWindow& window, std::size_t input, std::span<const std::byte> results) {
  return {.pixels = window.window.pixel_count(),
          .missing_by_mask = window.missing_by_mask[input],
          .missing_by_alpha = window.missing_by_alpha[input],
          .missing_by_unreadable = window.missing_by_unreadable[input],
          .results = results,
          .samples = window.samples[input],
          .validity = window.validity[input],
          .unmasked = window.unmasked[input]};
}

void gather(const JobContext& context, const std::vector<BandChoice>& bands,
            const std::vector<BandStatistics*>& statistics, const std::string& progress_name) {
  for (unsigned number = 1;; ++number) {
    StatisticsPass pass(context, bands, statistics);
    if (pass.empty()) return;
    pass.run(number == 1 ? progress_name : progress_name + ", pass " + std::to_string(number));
  }
}

}  // namespace tessera::cli
