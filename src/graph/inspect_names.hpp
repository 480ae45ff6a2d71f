#pragma once

#include <array>
#include <string_view>

#include "graph/inspect.hpp"

// The stable names of the exports.
namespace tessera::detail {

inline std::string_view inspected_name(InspectedResource::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 8> names{"imported_vector", "imported_buffer", "declared_vector",
                                                         "declared_buffer", "transient",       "imported_image",
                                                         "declared_image",  "transient_image"};
  return names[static_cast<std::size_t>(kind)];
}

inline std::string_view inspected_name(InspectedNode::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 4> names{"dispatch", "custom", "render", "image_transfer"};
  return names[static_cast<std::size_t>(kind)];
}

inline std::string_view inspected_name(Access access) noexcept {
  static constexpr std::array<std::string_view, 3> names{"read", "write", "read_write"};
  return names[static_cast<std::size_t>(access)];
}

inline std::string_view inspected_name(Stage stage) noexcept {
  static constexpr std::array<std::string_view, stage_count> names{"compute", "indirect", "transfer",
                                                                   "vertex",  "fragment", "color"};
  return names[static_cast<std::size_t>(stage)];
}

inline std::string_view inspected_name(ImageLayout layout) noexcept {
  static constexpr std::array<std::string_view, 6> names{"undefined",  "general",     "shader_read",
                                                         "attachment", "copy_source", "copy_target"};
  return names[static_cast<std::size_t>(layout)];
}

inline std::string_view inspected_name(NodeOutcome outcome) noexcept {
  static constexpr std::array<std::string_view, 3> names{"executed", "skipped", "resolved_on_device"};
  return names[static_cast<std::size_t>(outcome)];
}

/// Calls `visit(std::string_view)` for each stage of a mask.
template <class Visit>
void visit_stage_names(std::uint32_t mask, Visit&& visit) {
  for (std::uint32_t stage = 0; stage < stage_count; ++stage) {
    if (((mask >> stage) & 1U) != 0) visit(inspected_name(static_cast<Stage>(stage)));
  }
}

}  // namespace tessera::detail
