#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/export.hpp>
#include <tessera/graph/graph.hpp>
#include <tessera/raster/band.hpp>
#include <tessera/residency/tile_source.hpp>
#include <tessera/residency/window.hpp>

namespace tessera::residency {

/// Where an input's samples are wanted.
enum class StreamPlace : std::uint8_t {
  device,  ///< in device memory, as a band of the graph
  host,    ///< in host memory only, for types that are worked on there
};

/// One band that a job reads. The source outlives the job.
struct StreamInput {
  const TileSource* source = nullptr;
  std::uint32_t band = 1;
  StreamPlace place = StreamPlace::device;
  /// A further plane of the source that is delivered beside the band's own: `StreamViews::unmasked`.
  std::optional<std::uint32_t> unmasked_plane = {};
};

/// What a job's graph works on: one band per device input, in order; one float32 view per output band; the results'
/// buffer.
struct StreamViews {
  std::vector<raster::Band> inputs;
  std::vector<VectorView> outputs;
  GraphBuffer results;
  std::vector<std::optional<Validity>> unmasked = {};  ///< per device input: `StreamInput::unmasked_plane`
};

/// One window that is done, as `StreamJob::accept` sees it. Valid during the call.
struct StreamedWindow {
  Window window;
  std::span<const std::byte> results;                   ///< what the graph wrote
  std::vector<std::span<const std::byte>> samples;      ///< per input, in the band's storage type
  std::vector<std::span<const std::uint8_t>> validity;  ///< per input; empty without a validity plane
  std::vector<std::span<const std::uint8_t>> unmasked;  ///< per input; empty without `StreamInput::unmasked_plane`
  std::vector<std::span<const std::byte>> outputs;      ///< per output band: float32 values
  /// Per input: missing pixels of its validity plane by reason, as `ValidityDestination` counts them.
  std::vector<std::uint64_t> missing_by_mask;
  std::vector<std::uint64_t> missing_by_alpha;
  std::vector<std::uint64_t> missing_by_quality;
  std::vector<std::uint64_t> missing_by_unreadable;
};

/// What is done about windows of which the inputs store nothing (`TileSource::is_blank`).
enum class BlankWindows : std::uint8_t {
  compute,  ///< what is done about every other window
  reuse,    ///< accepted with what such a window of as many pixels gave, and neither read nor computed
};

/// Work on a raster larger than memory, window by window.
struct StreamJob {
  std::vector<StreamInput> inputs;
  WindowGrid grid;
  /// float32 bands that the graph computes; band `i` of the sink receives output `i - 1`.
  std::uint32_t output_bands = 0;
  TileSink* sink = nullptr;
  /// Bytes of small results per window.
  std::uint64_t result_bytes = 0;
  /// Adds the operations for one shape of window; called once per shape. Absent: no device work.
  std::function<void(Graph& graph, const StreamViews& views)> build = {};
  /// Receives every window in order, on one thread.
  std::function<void(const StreamedWindow& window)> accept = {};
  /// `reuse` is for jobs whose `accept` looks at results and counts only: `samples`, `validity` and `unmasked` of such
  /// a window are empty. Jobs with outputs, or with inputs on the host, compute every window all the same.
  BlankWindows blank_windows = BlankWindows::compute;
};

struct StreamOptions {
  std::uint32_t decode_threads = 1;
  /// Windows under way at once; memory grows with it.
  std::uint32_t slots = 3;
  std::stop_token stop = {};
  /// Windows done and in all; called on one thread.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
};

/// Bytes that one pixel of a window takes over all slots, for `WindowPlanOptions::bytes_per_pixel`.
TESSERA_EXPORT std::uint64_t stream_bytes_per_pixel(const Device& device, std::span<const StreamInput> inputs,
                                                    std::uint32_t output_bands, const StreamOptions& options);

/// Runs a job: decoding, upload, kernels, download and writing overlap; memory is bounded by the windows under way. The
/// sink is not finished. Samples are decoded straight into device memory where the device lets the host write there.
/// Throws what sources, graph and sink throw, `cancelled` after a stop; nothing is left running.
TESSERA_EXPORT void stream(Device& device, const StreamJob& job, const StreamOptions& options);

}  // namespace tessera::residency
