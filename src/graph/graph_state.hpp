#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "graph/node_sink.hpp"
#include "graph/schedule.hpp"

// What a graph under construction is made of.
namespace tessera::detail {

inline constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

enum class ResourceKind : std::uint8_t { imported_vector, imported_buffer, transient, imported_image, transient_image };

struct GraphResource {
  std::string id;
  ResourceKind kind = ResourceKind::transient;
  std::uint64_t bytes = 0;          ///< of a vector: what its rows occupy; 0 for an image, which has no byte addresses
  std::uint32_t import = no_index;  ///< into the imports
  std::uint32_t image = no_index;   ///< into the images

  bool is_image() const noexcept { return image != no_index; }
};

struct GraphImport {
  std::uint32_t resource = 0;
  std::shared_ptr<const ChunkList> shape;  ///< of a vector; null for a buffer
  std::optional<Vector> vector;            ///< default binding
  Buffer buffer;                           ///< default binding
  std::uint32_t count_import = no_index;   ///< the import of a vector's count word
  Image image{};                           ///< default binding

  bool has_default() const noexcept {
    return vector.has_value() || static_cast<bool>(buffer) || static_cast<bool>(image);
  }
};

/// Three group counts on the device.
struct IndirectGroups {
  std::uint32_t resource = no_index;
  std::uint64_t byte_offset = 0;
};

/// A dispatch as nodes share it: every round of a loop runs the same one.
struct GraphDispatch {
  Dispatch dispatch;
  std::vector<ResourceUse> uses;
  std::optional<IndirectGroups> indirect;
};

struct GraphCustomNode {
  CustomNode node;
  std::vector<ResourceUse> uses;
};

struct GraphRenderNode {
  RenderNode node;
  std::vector<ResourceUse> uses;
};

/// A copy or clear of images by the driver's commands.
struct ImageTransfer {
  enum class Kind : std::uint8_t { buffer_to_image, image_to_buffer, image_to_image, clear };
  Kind kind = Kind::clear;
  std::uint32_t source = no_index;  ///< resource
  std::uint32_t target = no_index;  ///< resource
  ImageRegion region{};             ///< of the image; of the source between images
  std::uint32_t target_x = 0;       ///< between images
  std::uint32_t target_y = 0;
  std::uint64_t buffer_offset = 0;
  std::uint32_t row_texels = 0;  ///< from row to row in the buffer
  ImageValue value{};
  std::vector<ResourceUse> uses{};
  Workload workload{};
};

struct GraphNode {
  std::string id;
  std::uint32_t dispatch = no_index;    ///< into the dispatches
  std::uint32_t custom = no_index;      ///< into the custom nodes
  std::uint32_t host_scope = no_index;  ///< innermost host condition around it
  bool gated = false;                   ///< a condition on the device decides
  std::uint32_t render = no_index;      ///< into the render nodes
  std::uint32_t transfer = no_index;    ///< into the image transfers

  /// Recorded by a function of the application's, at every encoding.
  bool has_callback() const noexcept { return custom != no_index || render != no_index; }
};

/// One host condition; scopes form a tree.
struct HostScope {
  std::string id;
  std::uint32_t parent = no_index;
  std::function<bool(const std::any&)> evaluate;
};

/// The plan of a node as declared, resolved per resource.
std::vector<ResourceUse> resolve_uses(const std::vector<GraphResource>& resources,
                                      const std::vector<GraphImport>& imports, const Dispatch& dispatch);
/// Appends a view's rows, and the read of its count word. Many ranges of one resource become their hull.
void append_view_use(const std::vector<GraphResource>& resources, const std::vector<GraphImport>& imports,
                     const VectorView& view, Access access, Stage stage, std::vector<ResourceUse>& uses);

/// An image that a node touches at a stage.
struct StagedImageUse {
  GraphImage image;
  ImageAccess access = ImageAccess::sampled;
  Stage stage = Stage::compute;
};
/// The uses of one node, each image in the one layout that serves all of them.
std::vector<ResourceUse> resolve_image_uses(std::span<const StagedImageUse> uses);

/// The flag that an access needs.
ImageUsage usage_for(ImageAccess access) noexcept;

/// Whether a graph takes two vectors for one import: one chunk list, or short lists of equal chunks, and the same count
/// word.
bool is_same_import(const Vector& left, const Vector& right);

/// Who holds a path of the node namespace. Owning the lowering keeps its identity from being reused.
struct NameEntry {
  std::shared_ptr<const Lowering> owner;
  bool by_application = false;
  std::uint32_t next_suffix = 2;
};

/// Keeps node paths unique.
class NodeNames {
 public:
  /// `parent/base`, or that with the first free suffix. Throws `duplicate_id` when the application gave the same id to
  /// two operations.
  std::string claim(std::string_view parent, std::string_view base, bool by_application,
                    const std::shared_ptr<const Lowering>& owner);
  std::size_t journal_size() const noexcept { return journal_.size(); }
  void roll_back(std::size_t journal_size);

 private:
  std::unordered_map<std::string, NameEntry> entries_;
  std::vector<std::string> journal_;
};

/// An operation's operands by port, for errors that name them.
struct GraphOperation {
  std::string path;  ///< begins the ids of its nodes
  std::vector<OperandUse> operands;
};

/// What declarations made. Moves from the graph into the program that is compiled from it.
struct GraphParts {
  std::vector<GraphResource> resources;
  std::vector<GraphImport> imports;
  std::vector<std::shared_ptr<const ChunkList>> tables;
  std::vector<std::vector<std::byte>> constants;
  std::vector<GraphDispatch> dispatches;
  std::vector<GraphCustomNode> customs;
  std::vector<GraphNode> nodes;
  std::vector<GraphOperation> operations;
  std::vector<HostScope> host_scopes;
  std::vector<ImageDescription> images;
  std::vector<GraphRenderNode> renders;
  std::vector<ImageTransfer> transfers;

  const std::vector<ResourceUse>& uses_of(const GraphNode& node) const;
  Workload workload_of(const GraphNode& node) const;
  /// Ids of nodes that a node names as running before it.
  std::span<const std::string> named_dependencies(const GraphNode& node) const;
};

}  // namespace tessera::detail

namespace tessera {

/// Everything declared so far. A rejected addition is undone with a checkpoint.
struct Graph::State : detail::GraphParts {
  explicit State(Device owner);

  struct Checkpoint {
    std::size_t resources = 0;
    std::size_t imports = 0;
    std::size_t tables = 0;
    std::size_t constants = 0;
    std::size_t dispatches = 0;
    std::size_t customs = 0;
    std::size_t nodes = 0;
    std::size_t operations = 0;
    std::size_t host_scopes = 0;
    std::size_t images = 0;
    std::size_t renders = 0;
    std::size_t transfers = 0;
    std::size_t names = 0;
  };
  Checkpoint checkpoint() const noexcept;
  void roll_back(const Checkpoint& checkpoint);

  void require_mutable(std::string_view declaration) const;
  /// Takes the id, or makes one with that prefix where it is empty. Throws `duplicate_id`.
  std::string claim_resource_id(std::string_view id, std::string_view prefix);
  /// The id, or that with the first suffix that makes it new.
  std::string unused_resource_id(std::string id) const;
  std::uint32_t add_resource(detail::GraphResource resource);

  /// Each returns the import's index.
  std::uint32_t import_vector(const Vector& vector, std::string_view id);
  std::uint32_t import_buffer(const Buffer& buffer, std::string_view id);
  std::uint32_t declare_vector(const VectorDeclaration& declaration);
  std::uint32_t declare_buffer(std::string_view id, std::uint64_t bytes);
  GraphBuffer transient(std::uint64_t bytes, std::string_view id);
  std::uint32_t import_image(const Image& image, std::string_view id);
  std::uint32_t declare_image(std::string_view id, const ImageDescription& description);
  GraphImage transient_image(const ImageDescription& description, std::string_view id);
  GraphImage image_of_import(std::uint32_t import) const;
  VectorView view_of_import(std::uint32_t import) const;

  /// Checks that a view belongs here and stays inside its resources.
  void require_view(const VectorView& view, std::string_view operation, std::string_view operand);
  void require_range(const detail::BufferUse& use, std::string_view operation, std::string_view operand) const;
  /// Checks that an image belongs here and was made for an access.
  void require_image(const GraphImage& image, ImageAccess access, std::string_view operation,
                     std::string_view operand) const;
  detail::TableReference table(const std::shared_ptr<const detail::ChunkList>& chunks);

  Device device;
  std::uint64_t identity;
  bool frozen = false;
  bool keeps_default_bindings = true;  ///< otherwise the compiled graph forgets what it was compiled with
  detail::NodeNames names;

 private:
  std::uint32_t add_vector_import(Format format, std::vector<detail::GraphChunk> chunks, std::string_view id,
                                  std::string_view prefix);
  std::uint32_t find_vector_import(const Vector& vector) const;
  std::uint32_t add_image(detail::ResourceKind kind, const ImageDescription& description, std::string_view id,
                          std::string_view prefix);

  std::unordered_set<std::string> resource_ids_;
  std::uint64_t next_resource_number_ = 0;
  std::unordered_map<const void*, std::uint32_t> imports_by_memory_;  ///< chunk list or buffer to import
  std::unordered_map<const detail::ChunkList*, std::uint32_t> tables_by_list_;
  std::unordered_map<std::string, std::uint32_t> tables_by_content_;  ///< one-chunk lists
  std::unordered_set<const detail::ChunkList*> checked_lists_;
};

}  // namespace tessera
