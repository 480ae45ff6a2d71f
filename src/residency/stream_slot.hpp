#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <tessera/residency/stream.hpp>

// The memory of one window under way, and the graphs that work on it.
namespace tessera::residency::detail {

/// A validity plane of one source; bands that share it share its bytes.
struct PlaneKey {
  const TileSource* source = nullptr;
  std::uint32_t plane = 0;
  friend bool operator==(const PlaneKey&, const PlaneKey&) noexcept = default;
};

/// What a job reads, with shared planes found once.
struct StreamLayout {
  explicit StreamLayout(const StreamJob& job);

  struct Input {
    StreamInput input;
    const raster::BandInfo* info = nullptr;
    std::optional<std::size_t> plane;     ///< index into `planes`
    std::optional<std::size_t> unmasked;  ///< likewise, `StreamInput::unmasked_plane`
  };
  std::vector<Input> inputs;
  std::vector<PlaneKey> planes;
  std::vector<StreamPlace> plane_places;
  std::uint32_t output_bands = 0;
  std::uint64_t result_bytes = 0;

 private:
  std::size_t plane_of(const StreamInput& input, std::uint32_t plane);
};

/// Memory that the host reaches, and the device too where the device works on it.
class StreamMemory {
 public:
  StreamMemory() = default;
  /// For the host only.
  static StreamMemory on_host(std::uint64_t bytes);
  /// Written by the host, read by kernels.
  static StreamMemory input(Device& device, std::uint64_t bytes, const char* name);
  /// Written by kernels, read by the host.
  static StreamMemory output(Device& device, std::uint64_t bytes, const char* name);

  std::span<std::byte> host() const noexcept { return host_; }
  const Buffer& device_buffer() const noexcept { return buffer_; }
  /// Copies to or from the device where its memory is not the host's.
  void record_upload(Encoder& encoder, std::uint64_t bytes) const;
  void record_download(Encoder& encoder, std::uint64_t bytes) const;

 private:
  std::vector<std::byte> bytes_;
  Buffer buffer_;
  Buffer staging_;
  std::span<std::byte> host_;
};

struct StreamSlot {
  StreamSlot(Device& device, const StreamLayout& layout, std::uint64_t pixels);

  std::vector<StreamMemory> samples;  ///< per input
  std::vector<StreamMemory> planes;
  std::vector<ValidityDestination> counts;  ///< per plane: what its last read counted
  std::vector<StreamMemory> outputs;
  StreamMemory results;
  Window window;
  Fence fence;
};

/// One compiled graph per number of pixels, with every buffer declared and bound at encoding.
class StreamGraphs {
 public:
  StreamGraphs(Device& device, const StreamJob& job, const StreamLayout& layout)
      : device_(device), job_(job), layout_(layout) {}

  /// Compiles the graph for windows of a number of pixels, unless it is.
  void prepare(std::uint64_t pixels) { compiled(pixels); }
  /// Records uploads, the graph and downloads for the slot's window.
  void encode(Encoder& encoder, const StreamSlot& slot);

 private:
  struct Compiled {
    std::vector<ImportedVector> samples;  ///< per device input
    std::vector<ImportedVector> planes;   ///< per device plane
    std::vector<ImportedVector> outputs;
    std::optional<ImportedBuffer> results;
    std::optional<CompiledGraph> graph;
  };
  Compiled& compiled(std::uint64_t pixels);
  std::vector<Rebinding> bindings(const Compiled& compiled, const StreamSlot& slot, std::uint64_t pixels) const;

  Device& device_;
  const StreamJob& job_;
  const StreamLayout& layout_;
  std::map<std::uint64_t, Compiled> by_pixels_;
};

}  // namespace tessera::residency::detail
