#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <variant>

#include <vulkan/vulkan.h>

#include <tessera/graph/image_nodes.hpp>

namespace tessera::detail {

/// Throws `format_mismatch` for a value whose components are not those of the format.
void require_image_value(const std::optional<ImageValue>& value, ImageFormat format, std::string_view operation,
                         std::string_view operand);

inline VkClearColorValue vulkan_color(const ImageValue& value) noexcept {
  VkClearColorValue color{};
  std::visit([&](const auto& components) { std::memcpy(&color, components.data(), sizeof(color)); }, value);
  return color;
}

VkImageLayout vulkan_layout(ImageLayout layout) noexcept;

}  // namespace tessera::detail
