#include <tessera/interop/vulkan.hpp>

#include <utility>

#include <tessera/error.hpp>

#include "device/image_state.hpp"

namespace tessera::interop {
namespace {

/// An application's image; the view may be ours.
struct WrappedImage final : detail::ImageState {
  WrappedImage() = default;
  WrappedImage(const WrappedImage&) = delete;
  WrappedImage& operator=(const WrappedImage&) = delete;
  ~WrappedImage() {
    if (own_view != VK_NULL_HANDLE) device->functions().vkDestroyImageView(device->device(), own_view, nullptr);
  }

  VkImageView own_view = VK_NULL_HANDLE;
};

}  // namespace

VulkanImage handles(const Image& image) {
  if (!image) {
    throw Error(ErrorCode::missing_operand,
                {.operation = "handles", .operand = "image", .rule = "the image is empty", .values = {}});
  }
  const detail::ImageState& state = *image.state();
  return {.image = state.image,
          .view = state.view,
          .format = detail::vulkan_format(state.description.format),
          .extent = {state.description.width, state.description.height}};
}

VkFormat vulkan_format(ImageFormat format) noexcept { return detail::vulkan_format(format); }

Image wrap(const Device& device, const ForeignImage& foreign) {
  device.state()->require_alive("wrap");
  if (foreign.image == VK_NULL_HANDLE) {
    throw Error(ErrorCode::missing_operand,
                {.operation = "wrap", .operand = foreign.name, .rule = "the image must be given", .values = {}});
  }
  auto state = std::make_shared<WrappedImage>();
  state->device = device.state();
  state->image = foreign.image;
  state->description = {.format = foreign.format,
                        .width = foreign.extent.width,
                        .height = foreign.extent.height,
                        .usage = detail::usage_of(foreign.usage)};
  detail::require_image_description(*device.state(), state->description, "wrap", foreign.name);
  state->name = foreign.name;
  state->owner = foreign.owner;
  state->view = foreign.view;
  if (state->view == VK_NULL_HANDLE) {
    state->own_view = detail::create_image_view(*device.state(), foreign.image, state->description);
    state->view = state->own_view;
  }
  return Image(std::move(state));
}

}  // namespace tessera::interop
