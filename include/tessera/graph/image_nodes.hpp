#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <tessera/device/encoder.hpp>
#include <tessera/export.hpp>
#include <tessera/graph/images.hpp>
#include <tessera/graph/operation.hpp>
#include <tessera/graph/views.hpp>

namespace tessera {

/// One texel's components; formats of one component use the first. The alternative is that of the image's format.
using ImageValue = std::variant<std::array<float, 4>, std::array<std::uint32_t, 4>, std::array<std::int32_t, 4>>;

/// Copies texels from a buffer into an image or a region of it. The buffer holds rows from the first to the last,
/// `bytes_per_row` apart. Offset and row distance are multiples of the texel's size.
struct CopyToImageNode {
  std::string id{};
  GraphBuffer source;
  std::uint64_t source_offset = 0;
  std::uint64_t bytes_per_row = 0;  ///< 0 means packed
  GraphImage target;                ///< with the usage `copy_target`
  std::optional<ImageRegion> region{};
};

/// Copies texels of an image or a region of it into a buffer; the bytes between rows stay.
struct CopyFromImageNode {
  std::string id{};
  GraphImage source;  ///< with the usage `copy_source`
  std::optional<ImageRegion> region{};
  GraphBuffer target;
  std::uint64_t target_offset = 0;
  std::uint64_t bytes_per_row = 0;  ///< 0 means packed
};

/// Copies texels between two images of one format.
struct CopyImageNode {
  std::string id{};
  GraphImage source;                    ///< with the usage `copy_source`
  std::optional<ImageRegion> region{};  ///< of the source
  GraphImage target;                    ///< another image, with the usage `copy_target`
  std::uint32_t target_x = 0;
  std::uint32_t target_y = 0;
};

/// Gives every texel one value.
struct ClearImageNode {
  std::string id{};
  GraphImage target;                  ///< with the usage `copy_target`
  std::optional<ImageValue> value{};  ///< none: zeros
};

/// What happens to an attachment's texels when rendering begins.
enum class LoadOperation : std::uint8_t { load, clear, discard };
/// What happens to them when it ends.
enum class StoreOperation : std::uint8_t { store, discard };

/// A render target: all of an image.
struct RenderAttachment {
  GraphImage image;  ///< with the usage `attachment`
  LoadOperation load = LoadOperation::load;
  StoreOperation store = StoreOperation::store;
  std::optional<ImageValue> clear{};  ///< none: zeros
};

/// Where a render node reads.
enum class RenderStage : std::uint8_t {
  vertex_and_fragment,
  vertex,    ///< vertex shader, vertex and index input
  fragment,  ///< fragment shader
  indirect,  ///< parameters of indirect draws; buffers only
};

/// Rows that a render node reads; a `DataView` converts to a view.
struct RenderRead {
  VectorView view;
  RenderStage stage = RenderStage::vertex_and_fragment;
};

/// An image that the shaders of a render node read.
struct RenderImage {
  GraphImage image;
  ImageAccess access = ImageAccess::sampled;  ///< or `storage_read`
  RenderStage stage = RenderStage::fragment;
};

/// Rendering under way, with viewport and scissor set to all of the attachments. Valid during the call only.
/// Not thread-safe.
class TESSERA_EXPORT RenderPass {
 public:
  RenderPass(Encoder& encoder, std::uint32_t width, std::uint32_t height, void* native) noexcept
      : encoder_(encoder), width_(width), height_(height), native_(native) {}
  RenderPass(const RenderPass&) = delete;
  RenderPass& operator=(const RenderPass&) = delete;

  std::uint32_t width() const noexcept { return width_; }
  std::uint32_t height() const noexcept { return height_; }
  /// Keeps an object (a pipeline, a descriptor pool) alive until the submission is done.
  void retain(std::shared_ptr<const void> object) { encoder_.retain(std::move(object)); }
  /// The Vulkan command buffer: see `interop::command_buffer`.
  void* native() const noexcept { return native_; }

 private:
  Encoder& encoder_;
  std::uint32_t width_;
  std::uint32_t height_;
  void* native_;
};

/// Draws into attachments with commands that a function of the application's records at every encoding, between the
/// begin and the end of dynamic rendering. It binds pipelines of its own, made for the attachments' formats, and
/// touches nothing but what is declared. At least one attachment; all have the same extents. Inside a condition on the
/// device it is rejected (`unsupported_operation`). An exception from the function leaves the encoder unusable: drop
/// it.
struct RenderNode {
  std::string id{};
  std::vector<RenderAttachment> attachments{};
  std::vector<RenderRead> reads{};
  std::vector<RenderImage> images{};
  std::vector<std::string> depends_on{};  ///< ids of nodes that run before, besides those that the uses order
  std::function<void(RenderPass& pass, const NodeContext& context)> record{};
};

TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const CopyToImageNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const CopyFromImageNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const CopyImageNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const ClearImageNode&);
TESSERA_EXPORT std::shared_ptr<const detail::Lowering> make_lowering(const RenderNode&);

}  // namespace tessera
