#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "device/internal.hpp"
#include "graph/graph_state.hpp"
#include "graph/memory_ranges.hpp"
#include "graph/schedule.hpp"

// What a compiled graph is made of.
namespace tessera::detail {

/// What one update command may write.
inline constexpr std::uint64_t largest_update_bytes = 65536;

/// Where one table's slot and addresses are. Words count from the arena's start.
struct TablePlace {
  bool fixed = false;                     ///< only transients: written once
  std::uint32_t slot_word = 0;            ///< holds the address of the chunk addresses
  std::uint32_t address_word = no_index;  ///< the chunk addresses, for short tables
  std::uint32_t external = no_index;      ///< into the external tables, for long ones
};

/// How nodes use an import.
struct ImportUsage {
  bool used = false;
  bool written = false;
  std::uint64_t begin = 0;  ///< bytes of a buffer that nodes touch
  std::uint64_t end = 0;
  std::vector<std::uint32_t> tables;  ///< with chunks of this import
};

/// Memory bound to one import. One of the members, or none.
struct ImportBinding {
  const std::vector<Chunk>* chunks = nullptr;
  const Buffer* buffer = nullptr;
  const CountWord* count = nullptr;
  const Image* image = nullptr;

  bool bound() const noexcept { return chunks != nullptr || buffer != nullptr || count != nullptr || image != nullptr; }
  /// Address of the first row of a chunk; 0 for a chunk without memory.
  std::uint64_t address(std::uint32_t chunk) const noexcept;
};

/// Where the memory bound to an import lies.
struct BoundMemory {
  MemoryHull hull;
  bool ascending = true;  ///< each chunk begins behind the one before: no two overlap
};

/// The chunk addresses of a long table in device memory. Immutable once written.
struct TableVersion {
  Buffer buffer;
};

/// Keeps buffers of table versions that nothing uses any more. Thread-safe.
class TableVersionPool : public std::enable_shared_from_this<TableVersionPool> {
 public:
  explicit TableVersionPool(Device device) : device_(std::move(device)) {}
  std::shared_ptr<const TableVersion> take(std::uint64_t bytes);

 private:
  void give_back(Buffer buffer);
  Device device_;
  std::mutex mutex_;
  std::vector<Buffer> free_;
};

/// Device-independent and device-wide parts of a compiled graph; clones share them. Immutable.
struct Program {
  explicit Program(Device owner) : device(std::move(owner)) {}

  Device device;
  std::uint64_t graph = 0;
  GraphParts parts;
  std::vector<ScheduleNode> schedule_nodes;
  Schedule schedule;
  std::vector<ImportUsage> usage;
  std::vector<ImportBinding> defaults;
  std::vector<BoundMemory> default_memory;

  // arena: binding block, fixed tables, records; in words of 8 bytes
  std::vector<TablePlace> table_places;
  std::vector<std::uint32_t> external_tables;  ///< table indexes
  std::uint64_t block_words = 0;
  std::uint64_t fixed_words = 0;
  std::vector<std::uint64_t> record_offsets;  ///< bytes from the arena's start, per dispatch
  std::uint64_t arena_bytes = 0;

  std::vector<Buffer> constant_buffers;
  std::vector<std::uint64_t> constant_addresses;
  std::vector<std::uint64_t> constant_bytes;
  std::vector<std::uint64_t> access_offsets;  ///< of access tables, per dispatch; where accesses are checked
  std::uint64_t access_bytes = 0;
  std::vector<VkPipeline> pipelines;              ///< per dispatch
  std::vector<std::uint32_t> image_dispatches;    ///< dispatches of kernels on images
  std::vector<ImageDescription> physical_images;  ///< that transients share
  GraphStatistics statistics;
};

/// Commands between two places where something is decided at encoding.
struct Segment {
  std::uint32_t first_command = 0;  ///< of the schedule
  std::uint32_t last_command = 0;   ///< behind the last
  std::uint32_t host_scope = no_index;
  std::uint32_t callback = no_index;  ///< a single node that a function of the application's records
  std::uint32_t nodes = 0;
  std::uint32_t barriers = 0;
  std::vector<std::uint32_t> fixed_imports;     ///< whose default memory the commands name, ascending
  std::shared_ptr<SecondaryCommands> commands;  ///< null where such an import has no default
};

/// What is known of a long vector that was bound before.
struct KnownBinding {
  std::weak_ptr<const std::vector<Chunk>> chunks;
  std::uint32_t import = no_index;
  BoundMemory memory;
  std::vector<std::shared_ptr<const TableVersion>> versions;  ///< per table of the import's usage; null for short ones
};

/// Bindings of one encoding, checked.
struct CheckedBindings {
  std::vector<ImportBinding> imports;
  std::vector<BoundMemory> memory;
  std::vector<std::uint32_t> changed;  ///< imports that are not bound to their default
};

}  // namespace tessera::detail

namespace tessera {

/// One arena and what hangs on it.
struct CompiledGraph::State {
  explicit State(std::shared_ptr<const detail::Program> source);

  Device& device() noexcept { return device_; }

  std::shared_ptr<const detail::Program> program;
  Buffer arena;
  Buffer scratch;
  Buffer access_tables;  ///< where accesses are checked
  std::vector<std::uint64_t> default_block;
  std::vector<std::shared_ptr<const detail::TableVersion>> external;  ///< default versions, per external table
  std::shared_ptr<detail::TableVersionPool> pool;
  std::vector<detail::Segment> segments;
  std::shared_ptr<const detail::PreparedCommands> prepared;  ///< all of `segments`, made when first asked for
  std::vector<Image> images;                                 ///< physical images of transients
  std::shared_ptr<detail::ImageDescriptors> descriptors;
  std::vector<VkDescriptorSet> image_sets;  ///< per dispatch, of the default bindings; empty without kernels on images
  bool defaults_complete = false;           ///< every import has a default binding
  std::vector<detail::KnownBinding> known;
  std::size_t next_known = 0;

  // kept between encodings for their memory
  std::vector<std::uint64_t> block;
  std::vector<VkCommandBuffer> batch;
  detail::CheckedBindings bindings;

 private:
  Device device_;
};

}  // namespace tessera
