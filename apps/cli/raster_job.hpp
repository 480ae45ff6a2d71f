#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tessera/residency/stream.hpp>

#include "input_rasters.hpp"
#include "run.hpp"
#include "statistics/band_statistics.hpp"

// Streaming jobs over prepared inputs.
namespace tessera::cli {

/// What every pass of a job needs.
struct JobContext {
  Device& device;
  const RunOptions& run;
  const InputRasters& inputs;
};

/// A job over chosen bands, whose grid `run_stream` makes.
residency::StreamJob stream_job(const InputRasters& inputs, const std::vector<BandChoice>& bands);

/// Cuts the area into windows and runs the job over `job.inputs`; the grid is made here. The windows under way and
/// GDAL's block cache, which is set here to what the threads need and at most a quarter, share --memory.
void run_stream(const JobContext& context, residency::StreamJob& job, const std::string& progress_name,
                residency::Extent output_block = {});

/// One band's part of a streamed window.
BandWindow band_window(const residency::StreamedWindow& window, std::size_t input, std::span<const std::byte> results);

/// Makes as many passes as the bands' statistics need. `statistics[i]` belongs to `bands[i]`.
void gather(const JobContext& context, const std::vector<BandChoice>& bands,
            const std::vector<BandStatistics*>& statistics, const std::string& progress_name);

}  // namespace tessera::cli
