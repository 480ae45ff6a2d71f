#pragma once

#include <cstdint>

#include <tessera/device/image.hpp>
#include <tessera/export.hpp>

namespace tessera {

/// How texels lie in memory, which decides what may be done with them. The graph derives and changes layouts; nodes of
/// the application's own are told, and leave them as they are.
enum class ImageLayout : std::uint8_t {
  undefined,    ///< contents are lost
  general,      ///< storage, mixed uses, and every image between submissions
  shader_read,  ///< sampled
  attachment,   ///< render target
  copy_source,
  copy_target,
};

/// What a node does with an image.
enum class ImageAccess : std::uint8_t {
  sampled,
  storage_read,
  storage_write,
  storage_read_write,
  attachment,  ///< counts as read and write
  copy_source,
  copy_target,
};

/// An image of one graph: a handle. Thread-safe to copy and read.
class TESSERA_EXPORT GraphImage {
 public:
  std::uint64_t graph() const noexcept { return graph_; }
  std::uint32_t resource() const noexcept { return resource_; }
  const ImageDescription& description() const noexcept { return description_; }
  ImageFormat format() const noexcept { return description_.format; }
  std::uint32_t width() const noexcept { return description_.width; }
  std::uint32_t height() const noexcept { return description_.height; }

  /// Made by `Graph` only.
  GraphImage(std::uint64_t graph, std::uint32_t resource, const ImageDescription& description) noexcept
      : graph_(graph), resource_(resource), description_(description) {}
  friend bool operator==(const GraphImage&, const GraphImage&) noexcept = default;

 private:
  std::uint64_t graph_;
  std::uint32_t resource_;
  ImageDescription description_;
};

/// An image import, which can be given another image at every encoding. Thread-safe to copy and read.
class TESSERA_EXPORT ImportedImage : public GraphImage {
 public:
  std::uint32_t import_index() const noexcept { return import_index_; }
  ImportedImage(GraphImage image, std::uint32_t import_index) noexcept
      : GraphImage(image), import_index_(import_index) {}

 private:
  std::uint32_t import_index_;
};

}  // namespace tessera
