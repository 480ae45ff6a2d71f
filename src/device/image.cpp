#include <tessera/device/image.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <utility>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>

#include "device/encoder_state.hpp"
#include "device/image_state.hpp"
#include "device/result.hpp"
#include "device/transfer_rings.hpp"
#include "device/transfers.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_pending_reads = 3;  // with a quarter of the ring each, the next piece still has room

[[noreturn]] void reject(ErrorCode code, std::string_view operation, const Image& image, std::string_view rule,
                         std::string values = {}) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = image ? image.name() : std::string(),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

/// Checks a transfer between the host and a region, and returns the region.
ImageRegion check_transfer(const Device& device, std::string_view operation, const Image& image, std::size_t bytes,
                           const std::optional<ImageRegion>& region, ImageUsage usage) {
  if (!image) reject(ErrorCode::missing_operand, operation, image, "the image is empty");
  if (image.state()->device != device.state()) {
    reject(ErrorCode::foreign_device, operation, image, "the image belongs to another device");
  }
  if (!contains(image.usage(), usage)) {
    reject(ErrorCode::usage_mismatch, operation, image, "the image was not made for this use",
           "needs " + names_of(usage) + ", has " + names_of(image.usage()));
  }
  const ImageRegion checked = detail::require_region(image.description(), region, operation, image.name());
  const std::uint64_t expected = std::uint64_t{checked.width} * checked.height * size_of(image.format());
  if (bytes != expected) {
    reject(ErrorCode::length_mismatch, operation, image, "the bytes are those of the region's texels, rows packed",
           detail::quantity("bytes", bytes) + ", " + detail::quantity("region bytes", expected));
  }
  return checked;
}

/// Cuts a region into pieces that fit into memory that comes in pieces: whole rows, or a part of one row.
class RegionWalk {
 public:
  RegionWalk(const ImageRegion& region, std::uint64_t texel_bytes) : region_(region), texel_bytes_(texel_bytes) {}

  bool done() const noexcept { return row_ == region_.height; }
  /// Bytes that the next piece has at most.
  std::uint64_t left() const noexcept {
    return (std::uint64_t{region_.height - row_} * region_.width - column_) * texel_bytes_;
  }
  ImageRegion next(std::uint64_t bytes) noexcept {
    const std::uint64_t texels = bytes / texel_bytes_;
    ImageRegion piece{.x = region_.x + column_, .y = region_.y + row_, .width = region_.width, .height = 1};
    if (column_ == 0 && texels >= region_.width) {
      piece.height = static_cast<std::uint32_t>(std::min<std::uint64_t>(texels / region_.width, region_.height - row_));
      row_ += piece.height;
    } else {
      piece.width = static_cast<std::uint32_t>(std::min<std::uint64_t>(texels, region_.width - column_));
      column_ += piece.width;
      if (column_ == region_.width) {
        column_ = 0;
        ++row_;
      }
    }
    return piece;
  }

 private:
  ImageRegion region_;
  std::uint64_t texel_bytes_;
  std::uint32_t row_ = 0;
  std::uint32_t column_ = 0;
};

VkBufferImageCopy copy_of(const detail::BufferState& buffer, const ImageRegion& region) {
  VkBufferImageCopy copy{};
  copy.bufferOffset = buffer.offset;
  copy.imageSubresource = detail::whole_layer;
  copy.imageOffset = {static_cast<std::int32_t>(region.x), static_cast<std::int32_t>(region.y), 0};
  copy.imageExtent = {region.width, region.height, 1};
  return copy;
}

}  // namespace

std::uint32_t size_of(ImageFormat format) noexcept { return format < ImageFormat::rgba32_float ? 4 : 16; }

ImageComponent component_of(ImageFormat format) noexcept {
  return static_cast<ImageComponent>(static_cast<unsigned>(format) % 3);
}

std::string_view name_of(ImageFormat format) noexcept {
  constexpr std::array<std::string_view, 6> names = {"r32_float",    "r32_uint",    "r32_sint",
                                                     "rgba32_float", "rgba32_uint", "rgba32_sint"};
  return names[static_cast<std::size_t>(format)];
}

std::string names_of(ImageUsage usage) {
  constexpr std::array<std::pair<ImageUsage, std::string_view>, 5> names = {{{ImageUsage::sampled, "sampled"},
                                                                             {ImageUsage::storage, "storage"},
                                                                             {ImageUsage::attachment, "attachment"},
                                                                             {ImageUsage::copy_source, "copy_source"},
                                                                             {ImageUsage::copy_target, "copy_target"}}};
  std::string text;
  for (const auto& [flag, name] : names) {
    if (!contains(usage, flag)) continue;
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

const ImageDescription& Image::description() const noexcept { return state_->description; }
const std::string& Image::name() const noexcept { return state_->name; }
Device Image::device() const { return Device(state_->device); }

Image Device::create_image(const ImageDescription& description, std::string_view name) {
  return Image(state_->create_image(description, name));
}

void Device::write(const Image& target, std::span<const std::byte> texels, const std::optional<ImageRegion>& region) {
  const ImageRegion whole = check_transfer(*this, "write", target, texels.size(), region, ImageUsage::copy_target);
  state_->require_alive("write");
  RegionWalk walk(whole, size_of(target.format()));
  while (!walk.done()) {
    const auto piece = detail::take_piece(state_, state_->rings().upload(), MemoryKind::upload, walk.left());
    const std::uint64_t begin = texels.size() - walk.left();
    const ImageRegion part = walk.next(piece->size);
    std::memcpy(piece->mapped, texels.data() + begin, texels.size() - begin - walk.left());
    detail::EncoderState encoder(state_, "write");
    const VkBufferImageCopy copy = copy_of(*piece, part);
    state_->functions().vkCmdCopyBufferToImage(encoder.commands(), piece->buffer, target.state()->image,
                                               detail::resting_layout, 1, &copy);
    encoder.retain(piece);
    encoder.retain(target.state());
    encoder.mark_external_work();
    state_->submit(encoder, {});
  }
}

void Device::read(const Image& source, std::span<std::byte> texels, const std::optional<ImageRegion>& region) {
  const ImageRegion whole = check_transfer(*this, "read", source, texels.size(), region, ImageUsage::copy_source);
  state_->wait(state_->submitted(), std::chrono::nanoseconds::max());
  struct PendingRead {
    std::shared_ptr<detail::BufferState> piece;
    Fence fence;
    std::span<std::byte> target;

    void finish() const {
      fence.wait();
      std::memcpy(target.data(), piece->mapped, target.size());
    }
  };
  std::deque<PendingRead> pending;
  RegionWalk walk(whole, size_of(source.format()));
  while (!walk.done()) {
    if (pending.size() == most_pending_reads) {
      pending.front().finish();
      pending.pop_front();
    }
    auto piece = detail::take_piece(state_, state_->rings().download(), MemoryKind::download, walk.left());
    const std::uint64_t begin = texels.size() - walk.left();
    const ImageRegion part = walk.next(piece->size);
    detail::EncoderState encoder(state_, "read");
    const VkBufferImageCopy copy = copy_of(*piece, part);
    state_->functions().vkCmdCopyImageToBuffer(encoder.commands(), source.state()->image, detail::resting_layout,
                                               piece->buffer, 1, &copy);
    encoder.retain(piece);
    encoder.retain(source.state());
    encoder.mark_external_work();
    Fence fence = state_->submit(encoder, {});
    pending.push_back({std::move(piece), std::move(fence), texels.subspan(begin, texels.size() - begin - walk.left())});
  }
  for (const PendingRead& each : pending) each.finish();
}

}  // namespace tessera
