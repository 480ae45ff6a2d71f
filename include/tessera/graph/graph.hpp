#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/device/device.hpp>
#include <tessera/export.hpp>
#include <tessera/graph/image_nodes.hpp>
#include <tessera/graph/images.hpp>
#include <tessera/graph/operation.hpp>
#include <tessera/graph/vector.hpp>
#include <tessera/graph/views.hpp>

namespace tessera {

class CompiledGraph;

/// An import that can be given other memory at every encoding. Converts to the view of all its rows. Thread-safe to
/// copy and read.
class TESSERA_EXPORT ImportedVector {
 public:
  operator const VectorView&() const noexcept { return view_; }  // NOLINT(google-explicit-constructor)
  const VectorView& view() const noexcept { return view_; }
  std::uint32_t import_index() const noexcept { return import_index_; }
  ImportedVector(VectorView view, std::uint32_t import_index) noexcept
      : view_(std::move(view)), import_index_(import_index) {}

 private:
  VectorView view_;
  std::uint32_t import_index_;
};

/// A buffer import. Thread-safe to copy and read.
class TESSERA_EXPORT ImportedBuffer : public GraphBuffer {
 public:
  std::uint32_t import_index() const noexcept { return import_index_; }
  ImportedBuffer(GraphBuffer buffer, std::uint32_t import_index) noexcept
      : GraphBuffer(buffer), import_index_(import_index) {}

 private:
  std::uint32_t import_index_;
};

/// Shape of a vector whose memory is given at encoding.
struct VectorDeclaration {
  std::string id{};
  Format format = Format::float32;
  std::vector<std::uint64_t> chunk_lengths{};
  std::uint64_t byte_stride = 0;  ///< the same for every chunk; 0 means packed
};

/// Other memory for an import in one encoding.
struct Rebinding {
  std::uint32_t import_index = 0;
  std::optional<Vector> vector{};
  Buffer buffer{};
  std::uint64_t graph = 0;  ///< identity of the import's graph; 0 leaves it unchecked
  Image image{};
};
inline Rebinding rebind(const ImportedVector& import, Vector vector) {
  return {import.import_index(), std::move(vector), {}, import.view().graph()};
}
inline Rebinding rebind(const ImportedBuffer& import, Buffer buffer) {
  return {import.import_index(), std::nullopt, std::move(buffer), import.graph()};
}
inline Rebinding rebind(const ImportedImage& import, Image image) {
  return {import.import_index(), std::nullopt, {}, import.graph(), std::move(image)};
}

/// Limits of one execution step. The first node of a step always runs. Zero in an optional field is rejected.
struct WorkBudget {
  std::uint64_t invocations = 0;  ///< required, at least 1
  std::optional<std::uint64_t> nodes{};
  std::optional<std::uint64_t> read_bytes{};
  std::optional<std::uint64_t> write_bytes{};
};

enum class Timing : std::uint8_t { off, per_node };

struct EncodeOptions {
  std::any parameters{};  ///< given to host conditions
  Timing timing = Timing::off;
};

/// What one node did in one encoding.
enum class NodeOutcome : std::uint8_t { executed, skipped, resolved_on_device };

struct NodeReport {
  std::string_view id;  ///< lives as long as the compiled graph
  NodeOutcome outcome = NodeOutcome::executed;
};

/// What an encoding recorded. Times are available once the submission is done.
class TESSERA_EXPORT Encoding {
 public:
  /// Nodes recorded; those that a condition on the device decides count as well.
  std::uint64_t executed_nodes() const noexcept;
  /// Nodes that a host condition left out.
  std::uint64_t skipped_nodes() const noexcept;
  /// Barriers between nodes.
  std::uint64_t barriers() const noexcept;
  /// Outcome of each node in schedule order; only filled when a host condition or timing was used.
  std::span<const NodeReport> nodes() const noexcept;
  /// GPU time of each node in nanoseconds, in schedule order, 0 for one that was left out; empty without
  /// `Timing::per_node`. Waits for the submission. Throws `execution_order` when the encoder was not submitted.
  std::vector<double> node_nanoseconds() const;

  struct State;
  explicit Encoding(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  const State& state() const noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

struct GraphStatistics {
  std::uint64_t node_count = 0;
  std::uint64_t dispatch_count = 0;
  std::uint64_t barrier_count = 0;  ///< inside one execution without host conditions
  std::uint64_t import_count = 0;
  std::uint64_t imported_bytes = 0;  ///< of default bindings
  std::uint64_t logical_transient_count = 0;
  std::uint64_t logical_transient_bytes = 0;   ///< transients that nodes use
  std::uint64_t physical_transient_bytes = 0;  ///< after reuse over disjoint lifetimes
  std::uint64_t argument_bytes = 0;            ///< arena: binding block and records
  std::uint64_t table_bytes = 0;               ///< span and chunk tables
  std::uint64_t read_bytes = 0;                ///< declared work estimate
  std::uint64_t write_bytes = 0;
  std::uint64_t invocations = 0;
  std::vector<std::string> node_order;
  std::uint64_t imported_image_bytes = 0;           ///< of default bindings, rows packed; as all figures of images
  std::uint64_t logical_transient_image_count = 0;  ///< transient images that nodes use
  std::uint64_t logical_transient_image_bytes = 0;
  std::uint64_t physical_transient_image_count = 0;  ///< after reuse over disjoint lifetimes
  std::uint64_t physical_transient_image_bytes = 0;
};

/// One step of a resumable execution.
struct ExecutionStep {
  std::uint64_t first_node = 0;
  std::uint64_t next_node = 0;
  std::uint64_t invocations = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  bool exceeds_budget = false;
};

/// A cursor over the steps of one execution: each `encode_next` records one step into an encoder that the caller
/// submits in order. The compiled graph must not be encoded otherwise in between. Not thread-safe.
class TESSERA_EXPORT Execution {
 public:
  std::span<const ExecutionStep> steps() const noexcept;
  std::uint64_t steps_done() const noexcept;
  bool done() const noexcept;
  /// Throws `execution_order` once done.
  Encoding encode_next(Encoder& encoder, std::span<const Rebinding> rebindings = {}, const EncodeOptions& options = {});

  struct State;
  explicit Execution(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

 private:
  std::shared_ptr<State> state_;
};

/// A graph under construction: resources and operations are declared, nothing runs and nothing is read. Not
/// thread-safe. Nothing of the caller's memory is owned, copied or uploaded. Compiling freezes it: later declarations
/// throw `graph_frozen`.
class TESSERA_EXPORT Graph {
 public:
  explicit Graph(Device device);
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  const Device& device() const noexcept;
  /// Unique in this process; views carry it.
  std::uint64_t identity() const noexcept;

  /// Imports borrowed memory; the vector is the default binding. The same chunk list imported twice gives the same
  /// import. Ids are one namespace for resources and must not be empty when given; without one a name is made. Throws
  /// `foreign_device`, `duplicate_id`.
  ImportedVector import(const Vector& vector, std::string_view id = {});
  ImportedBuffer import(const Buffer& buffer, std::string_view id = {});
  /// A vector or buffer without a default: every encoding must bind it (else `unbound_import`).
  /// Throws `duplicate_id`, `layout_mismatch` (stride), `limit_exceeded` (a chunk of 2^32 rows or more),
  /// `graph_frozen`.
  ImportedVector declare(const VectorDeclaration& declaration);
  ImportedBuffer declare_buffer(std::string_view id, std::uint64_t bytes);

  /// Scratch memory that the compiled graph owns; contents are undefined at its first write in an execution.
  /// Throws `limit_exceeded` (the device's largest buffer), `duplicate_id`, `graph_frozen`.
  GraphBuffer transient(std::uint64_t bytes, std::string_view id = {});
  DataView transient_view(Format format, std::uint64_t length, std::string_view id = {});
  /// Scratch with the chunk lengths of another view; empty chunks share one backing.
  VectorView transient_like(const VectorView& shape, Format format, std::string_view id = {});

  /// Imports a borrowed image, the default binding. The same image imported twice gives the same import. Nodes find
  /// images in the layouts that they need; an execution finds an imported image in the general layout and leaves it so.
  /// Throws `missing_operand`, `foreign_device`, `duplicate_id`, `graph_frozen`.
  ImportedImage import(const Image& image, std::string_view id = {});
  /// An image without a default: every encoding must bind one. Throws what `Device::create_image` throws for such a
  /// description, `duplicate_id`, `graph_frozen`.
  ImportedImage declare_image(std::string_view id, const ImageDescription& description);
  /// An image that the compiled graph owns; contents are undefined at its first use in an execution. Images of the same
  /// format and extents share memory where their lifetimes allow. Throws as `declare_image`.
  GraphImage transient_image(const ImageDescription& description, std::string_view id = {});

  /// Validates the operation and adds its nodes. When it throws, the graph is as before. Node ids are the operation's
  /// path (its id or name below those of its containers, made unique where the application gave none) and the pass:
  /// `group/sum/reduce`. Throws what the operation rejects, and `foreign_graph`, `foreign_device`, `duplicate_id` (two
  /// operations with one id), `range_out_of_bounds`, `layout_mismatch`, `limit_exceeded` (workgroups, 2^22 nodes),
  /// `graph_frozen`; nodes on images also `usage_mismatch`, `extent_mismatch`, `format_mismatch`, `alias`.
  void add(const Operation& operation);

  /// Derives order, barriers and memory, builds pipelines and uploads tables. Succeeds once (then `graph_frozen`); when
  /// it throws, the graph is as before. Throws `dependency_cycle` and `unknown_id` (explicit dependencies), `alias`
  /// (default bindings that overlap where one is written), `limit_exceeded`, `out_of_memory`, `memory_limit`,
  /// `device_lost`.
  CompiledGraph compile();

  struct State;
  State& state() noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// A graph ready to be encoded again and again. Single-flight: executions follow one another in the order of
/// submission; use `clone` for executions at the same time. Thread-safe to encode from one thread at a time. Copies
/// share the same arena and scratch.
class TESSERA_EXPORT CompiledGraph {
 public:
  /// Records one execution. Rebound vectors have the chunk lengths, strides and format of the import, and a count word
  /// where it has one; buffers may be larger. Rebound images have the import's format and extents, and
  /// its usage or more; no two imports that nodes use are one image. Everything is validated before anything is
  /// recorded; a rejected encoding leaves encoder and graph untouched. Memory of two imports that nodes use may overlap
  /// only where both are read and neither is written. Throws `unbound_import`, `unknown_id`, `duplicate_id` (an import
  /// bound twice), `foreign_graph`, `foreign_device`, `format_mismatch`, `partition_mismatch`, `layout_mismatch`
  /// (strides), `capacity_too_small`, `missing_operand`, `surplus_operand`, `alias`, `execution_order` (an encoder
  /// already submitted), `out_of_memory`, `device_lost`. Cost: some microseconds of the host, and O(chunks) for each
  /// vector that was not bound recently.
  Encoding encode(Encoder& encoder, std::span<const Rebinding> rebindings = {}, const EncodeOptions& options = {});
  Encoding encode(Encoder& encoder, std::initializer_list<Rebinding> rebindings, const EncodeOptions& options = {}) {
    return encode(encoder, std::span<const Rebinding>(rebindings.begin(), rebindings.size()), options);
  }

  /// Steps within a budget; steps never reorder nodes. Throws `invalid_argument` for a zero budget.
  Execution execute_in_steps(const WorkBudget& budget);

  /// Shares pipelines and tables, owns its own arena and scratch.
  CompiledGraph clone() const;

  const GraphStatistics& statistics() const noexcept;
  /// Schedule, uses, barriers, lifetimes and plans, with stable names (`"schema": 1`).
  std::string inspect_json() const;
  /// The schedule as a Graphviz digraph.
  std::string inspect_dot() const;
  /// Node times of a timed encoding as a Chrome trace (`chrome://tracing`, Perfetto).
  std::string chrome_trace(const Encoding& encoding) const;
  const Device& device() const noexcept;

  struct State;
  explicit CompiledGraph(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  State& state() noexcept { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Runs one operation now and waits: a graph of one operation. The device keeps up to 32 such graphs (64 MiB of scratch
/// memory at most, none of the operation's own), so that the same operation over vectors of the same formats, chunk
/// lengths and strides is compiled once; they go with the last handle of the device. Thread-safe.
/// Throws what `Graph::add`, `Graph::compile` and `CompiledGraph::encode` throw.
TESSERA_EXPORT void run(Device& device, const Operation& operation);

}  // namespace tessera
