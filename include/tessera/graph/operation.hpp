#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/device/encoder.hpp>
#include <tessera/export.hpp>
#include <tessera/graph/images.hpp>
#include <tessera/graph/vector.hpp>
#include <tessera/graph/views.hpp>

namespace tessera {

struct Request;

namespace detail {
class Lowering;
}

/// Anything that can be added to a graph: an operation such as `Reduction`, a container, or a node of the application's
/// own. Converts implicitly from each of them. Holds copies of their fields; the memory they name stays the caller's.
/// Thread-safe to copy.
class TESSERA_EXPORT Operation {
 public:
  template <class T>
  requires requires(const T& aggregate) { to_request(aggregate); }
  Operation(const T& aggregate)  // NOLINT(google-explicit-constructor)
      : Operation(from_request(to_request(aggregate))) {}
  template <class T>
  requires requires(const T& part) { make_lowering(part); }
  Operation(const T& part)  // NOLINT(google-explicit-constructor)
      : lowering_(make_lowering(part)) {}

  /// An operation given by name with its operands and options, as language bindings use it.
  /// Throws `unsupported_operation` when no operation has that name.
  static Operation from_request(const Request& request);

  const std::shared_ptr<const detail::Lowering>& lowering() const noexcept { return lowering_; }
  explicit Operation(std::shared_ptr<const detail::Lowering> lowering) noexcept : lowering_(std::move(lowering)) {}

 private:
  std::shared_ptr<const detail::Lowering> lowering_;
};

using OperationList = std::vector<Operation>;

/// A named group: its parts in order. No barrier, no scope; hazards decide what waits. An empty list adds nothing.
struct Composite {
  std::string id{};
  OperationList operations{};
};

/// Runs the body when a uint32 word on the device is not zero when the body begins; otherwise nothing of it runs,
/// initialisation included, and earlier contents stay. Nested conditions are joined. Bodies hold compute work: image,
/// render and custom nodes are rejected with `unsupported_operation`.
struct Conditional {
  std::string id{};
  DataView predicate;
  OperationList body{};
};

/// Runs the body up to `maximum_iterations` times; each round sees what the former one wrote. With a predicate, a round
/// after the first `minimum_iterations` runs only while the predicate word is not zero at its beginning; once it was
/// zero, no later round runs. Throws `invalid_argument` unless `maximum_iterations >= 1` and `minimum_iterations <=
/// maximum_iterations`.
struct Loop {
  std::string id{};
  std::uint32_t maximum_iterations = 1;
  std::uint32_t minimum_iterations = 0;
  std::optional<DataView> predicate{};  ///< one uint32
  std::optional<DataView>
      iterations{};  ///< one uint32: rewritten by every execution with the number of rounds that ran
  OperationList body{};
};

/// Runs the body when a function of the application's says so at encoding. It is given `EncodeOptions::parameters`.
/// When it says no, nothing is recorded for the body and earlier contents stay. An exception from it abandons the
/// encoding.
struct HostConditional {
  std::string id{};
  std::function<bool(const std::any& parameters)> evaluate{};
  OperationList body{};
};

/// Copies bytes between buffers of the graph; offsets and size are multiples of 4.
struct CopyNode {
  std::string id{};
  GraphBuffer source;
  std::uint64_t source_offset = 0;
  GraphBuffer target;
  std::uint64_t target_offset = 0;
  std::uint64_t bytes = 0;
};

/// Fills bytes of a buffer with a repeated word; offset and size are multiples of 4.
struct FillNode {
  std::string id{};
  GraphBuffer target;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t word = 0;
};

/// What a node does with memory.
enum class NodeAccess : std::uint8_t { read, write, read_write };

/// Rows that a custom node touches; a `DataView` converts to a view.
struct NodeUse {
  VectorView view;
  NodeAccess access = NodeAccess::read;
};

/// An image that a custom node touches.
struct NodeImageUse {
  GraphImage image;
  ImageAccess access = ImageAccess::sampled;
};

/// What a node of the application's own may ask for while it records. Valid during the call only. Not thread-safe.
class TESSERA_EXPORT NodeContext {
 public:
  NodeContext(const NodeContext&) = delete;
  NodeContext& operator=(const NodeContext&) = delete;
  virtual ~NodeContext() = default;
  /// Where the rows of a view lie in this encoding, in order: one chunk for each that the view touches.
  /// Throws `foreign_graph`, `unknown_id`.
  virtual std::vector<Chunk> chunks(const VectorView& view) const = 0;
  /// The image in this encoding. Throws `foreign_graph`, `unknown_id`.
  virtual Image image(const GraphImage& image) const = 0;
  /// The layout in which the node finds the image and leaves it. Throws `unknown_id` for one that it does not declare.
  virtual ImageLayout layout(const GraphImage& image) const = 0;
  /// `EncodeOptions::parameters`.
  virtual const std::any& parameters() const noexcept = 0;

 protected:
  NodeContext() = default;
};

/// A node of the application's own: its function records into the encoder at every encoding, and touches nothing but
/// the declared uses. It must not submit. Inside a condition on the device it is rejected (`unsupported_operation`). An
/// exception from it leaves the encoder with the commands recorded so far: drop it then.
struct CustomNode {
  std::string id{};
  std::vector<NodeUse> uses{};
  std::vector<std::string> depends_on{};  ///< ids of nodes that run before, besides those that the uses order
  std::function<void(Encoder& encoder, const NodeContext& context)> record{};
  std::vector<NodeImageUse> image_uses{};  ///< several of one image are found in the general layout
};

TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const Composite&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const Conditional&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const Loop&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const HostConditional&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const CopyNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const FillNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const CustomNode&);

}  // namespace tessera
