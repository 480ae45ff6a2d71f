#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <tessera/graph/graph.hpp>

// What operations use to put nodes into a graph. Internal to the library.
namespace tessera::detail {

/// A chunk list's address table: kernels find its slot in the binding block and, behind it, one address per chunk.
struct TableReference {
  std::uint32_t index = 0;
};

/// Longer tables live in buffers of their own; the chunk addresses of the others stand in the binding block.
inline constexpr std::size_t longest_inline_table = 8;

/// Bytes that never change after compilation (span tables, literals, edges); clones share them.
struct ConstantReference {
  std::uint32_t index = 0;
};

/// The argument record of one dispatch: the shared struct's bytes, and where addresses are put in once memory is
/// placed.
class ArgumentRecord {
 public:
  enum class AddressKind : std::uint8_t { table_slot, table_entries, transient, constant };
  struct Relocation {
    std::uint32_t offset = 0;  ///< of a uint64 in the record; the addend is what the field holds now
    AddressKind kind = AddressKind::table_slot;
    std::uint32_t index = 0;
  };

  ArgumentRecord() = default;
  template <class Record>
  explicit ArgumentRecord(const Record& record) : bytes_(sizeof(Record)) {
    static_assert(std::is_trivially_copyable_v<Record>);
    std::memcpy(bytes_.data(), &record, sizeof(Record));
  }
  void relocate(std::size_t offset, TableReference table) { add(offset, AddressKind::table_slot, table.index); }
  /// The chunk addresses themselves, for tables of at most `longest_inline_table` chunks: one load less for kernels.
  void relocate_entries(std::size_t offset, TableReference table) {
    add(offset, AddressKind::table_entries, table.index);
  }
  void relocate(std::size_t offset, ConstantReference constant) { add(offset, AddressKind::constant, constant.index); }
  /// Only transients have a fixed address; imports are reached through table slots.
  void relocate_transient(std::size_t offset, const GraphBuffer& transient) {
    add(offset, AddressKind::transient, transient.resource());
  }

  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  const std::vector<Relocation>& relocations() const noexcept { return relocations_; }

 private:
  void add(std::size_t offset, AddressKind kind, std::uint32_t index) {
    relocations_.push_back({static_cast<std::uint32_t>(offset), kind, index});
  }
  std::vector<std::byte> bytes_;
  std::vector<Relocation> relocations_;
};

enum class Access : std::uint8_t { read, write, read_write };
/// Stages of work. Render nodes have the last three; only `compute`, `transfer` and `color` write.
enum class Stage : std::uint8_t { compute, indirect, transfer, vertex, fragment, color };

/// Rows of a view that a node touches.
struct ViewUse {
  VectorView view;
  Access access = Access::read;
};
/// What fills a port of an operation.
struct OperandUse {
  std::string port;
  VectorView view;
  Access access = Access::read;
};
/// Bytes of a buffer that a node touches.
struct BufferUse {
  GraphBuffer buffer;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  Access access = Access::read;
};

/// An image at a binding of the kernel's descriptor set: storage images at 0, 1, ..., sampled ones at 8, 9, ...
struct ImageUse {
  GraphImage image;
  ImageAccess access = ImageAccess::storage_read;
  std::uint32_t binding = 0;
};

struct Workload {
  std::uint64_t invocations = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// How a condition reaches a dispatch.
enum class Gating : std::uint8_t {
  by_graph,      ///< under a condition the graph makes it indirect and zeroes its groups
  by_operation,  ///< runs always: it reads the condition word itself (the latch of GPU-resident lengths)
};

/// Whether a kernel relies on every subgroup of a workgroup being full, where the device can promise it.
enum class FullSubgroups : std::uint8_t { optional, required };

struct Dispatch {
  std::string name{};                      ///< of this pass inside its operation, for example `scan tiles`
  std::string module{};                    ///< kernel module
  std::vector<std::uint32_t> constants{};  ///< specialisation constants 0, 1, ...
  ArgumentRecord arguments{};
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  /// Three words on the device, written by the operation's latch, that replace `groups`; the graph does not gate such a
  /// dispatch.
  std::optional<DataView> indirect{};
  Gating gating = Gating::by_graph;
  FullSubgroups subgroups = FullSubgroups::optional;
  std::vector<ViewUse> view_uses{};
  std::vector<BufferUse> buffer_uses{};
  std::vector<ImageUse> image_uses{};  ///< any: the kernel is one on images
  Workload workload{};
  std::string note{};  ///< what the inspector says of the plan, for example `row mode`
};

/// Workgroup counts for `count` workgroups, folded into three dimensions; kernels return early beyond `count`.
/// Throws `limit_exceeded` naming the operation.
TESSERA_EXPORT std::array<std::uint32_t, 3> fold_workgroups(std::uint64_t count, const DeviceLimits& limits,
                                                            std::string_view operation);

/// Receives the nodes of an operation. An operation that throws leaves nothing behind.
class NodeSink {
 public:
  virtual ~NodeSink() = default;
  virtual Device& device() = 0;
  virtual std::uint64_t graph() const = 0;
  virtual VectorView import(const Vector& vector) = 0;
  virtual GraphBuffer transient(std::uint64_t bytes, std::string_view name) = 0;
  virtual ConstantReference constant(std::vector<std::byte> bytes) = 0;
  virtual TableReference table(const VectorView& view) = 0;
  /// Puts the table of a view's chunks at an offset of the dispatch's record, and declares what is done with its rows.
  void bind(Dispatch& dispatch, std::size_t offset, const VectorView& view, Access access) {
    dispatch.arguments.relocate(offset, table(view));
    dispatch.view_uses.push_back({.view = view, .access = access});
  }
  /// The word that says whether the enclosing body runs; none outside conditions.
  virtual std::optional<DataView> condition() const = 0;
  virtual void dispatch(Dispatch dispatch) = 0;
  /// The operands of the operation that is being lowered, for errors that name them.
  virtual void describe_operands(std::vector<OperandUse> operands) = 0;
  /// Lowers another operation in place, under a name of its own.
  virtual void add(const Operation& operation, std::string_view name) = 0;
};

/// What an `Operation` holds: how it becomes nodes.
class Lowering {
 public:
  virtual ~Lowering() = default;
  /// Base name of its nodes: the id given by the application or the operation's name.
  virtual std::string name() const = 0;
  /// The id that the application gave, or empty. Two operations of one graph can't have the same.
  virtual std::string id() const { return {}; }
  /// What an operation was made from; none for containers and nodes of the application's own.
  virtual const Request* request() const noexcept { return nullptr; }
  virtual void lower(NodeSink& sink) const = 0;
};

}  // namespace tessera::detail
