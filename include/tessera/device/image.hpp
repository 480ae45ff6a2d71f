#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <tessera/export.hpp>

namespace tessera {

class Device;
namespace detail {
struct ImageState;
}

/// How one texel is stored: one or four components of 32 bits.
enum class ImageFormat : std::uint8_t { r32_float, r32_uint, r32_sint, rgba32_float, rgba32_uint, rgba32_sint };

/// What the components of a texel are.
enum class ImageComponent : std::uint8_t { floating, unsigned_integer, signed_integer };

/// Bytes of one texel: 4 or 16.
TESSERA_EXPORT std::uint32_t size_of(ImageFormat format) noexcept;
TESSERA_EXPORT ImageComponent component_of(ImageFormat format) noexcept;
TESSERA_EXPORT std::string_view name_of(ImageFormat format) noexcept;

/// What an image may be used for; flags are joined with `|`.
enum class ImageUsage : std::uint8_t {
  none = 0,
  sampled = 1,      ///< read through a sampler, in kernels and render nodes
  storage = 2,      ///< loads and stores of single texels
  attachment = 4,   ///< render target
  copy_source = 8,  ///< copies from it, `Device::read`
  copy_target = 16  ///< copies into it, clears, `Device::write`
};
constexpr ImageUsage operator|(ImageUsage left, ImageUsage right) noexcept {
  return static_cast<ImageUsage>(static_cast<unsigned>(left) | static_cast<unsigned>(right));
}
constexpr ImageUsage operator&(ImageUsage left, ImageUsage right) noexcept {
  return static_cast<ImageUsage>(static_cast<unsigned>(left) & static_cast<unsigned>(right));
}
/// Whether `usage` has every flag of `part`.
constexpr bool contains(ImageUsage usage, ImageUsage part) noexcept { return (usage & part) == part; }
/// The flags' names, separated by commas.
TESSERA_EXPORT std::string names_of(ImageUsage usage);

/// Shape and purpose of a two-dimensional image of one mip level, one layer and one sample.
struct ImageDescription {
  ImageFormat format = ImageFormat::r32_float;
  std::uint32_t width = 0;   ///< texels, at least 1
  std::uint32_t height = 0;  ///< texels, at least 1
  ImageUsage usage = ImageUsage::none;

  /// Bytes of all texels, rows packed.
  std::uint64_t bytes() const noexcept { return std::uint64_t{width} * height * size_of(format); }
  friend bool operator==(const ImageDescription&, const ImageDescription&) noexcept = default;
};

/// A rectangle of texels; the origin is the first texel of the first row.
struct ImageRegion {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  friend bool operator==(const ImageRegion&, const ImageRegion&) noexcept = default;
};

/// An image in device memory: a shared handle; the memory goes when the last handle goes and no submitted work uses it
/// any more. Contents start undefined. Between submissions an image always rests in Vulkan's general layout: whoever
/// changes the layout restores it.
/// Thread-safe: handles may be copied and destroyed from any thread; contents are the caller's to order.
class TESSERA_EXPORT Image {
 public:
  Image() = default;  ///< no memory; every query but `operator bool` is invalid

  explicit operator bool() const noexcept { return state_ != nullptr; }
  const ImageDescription& description() const noexcept;
  ImageFormat format() const noexcept { return description().format; }
  std::uint32_t width() const noexcept { return description().width; }
  std::uint32_t height() const noexcept { return description().height; }
  ImageUsage usage() const noexcept { return description().usage; }
  /// Bytes of all texels, rows packed.
  std::uint64_t bytes() const noexcept { return description().bytes(); }
  const std::string& name() const noexcept;
  Device device() const;

  friend bool operator==(const Image& left, const Image& right) noexcept = default;

  /// For the library's own layers.
  const std::shared_ptr<detail::ImageState>& state() const noexcept { return state_; }
  explicit Image(std::shared_ptr<detail::ImageState> state) noexcept : state_(std::move(state)) {}

 private:
  std::shared_ptr<detail::ImageState> state_;
};

}  // namespace tessera
