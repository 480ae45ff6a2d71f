#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/schedule.hpp"

// The passes of make_schedule, in this order.
namespace tessera::detail {

constexpr bool reads(Access access) noexcept { return access != Access::write; }
constexpr bool writes(Access access) noexcept { return access != Access::read; }

/// Rejects what no graph may declare.
void validate_schedule_input(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources);

/// Collects the dependencies of one node after another, each once.
class DependencyCollector {
 public:
  static constexpr std::uint32_t no_node = ~std::uint32_t{0};

  explicit DependencyCollector(std::size_t node_count) : seen_by_(node_count, no_node) {}

  void start(std::uint32_t node) {
    node_ = node;
    found_.clear();
  }
  void add(std::uint32_t dependency) {
    if (dependency == no_node || dependency == node_ || seen_by_[dependency] == node_) return;
    seen_by_[dependency] = node_;
    found_.push_back(dependency);
  }
  std::vector<std::uint32_t> take() {
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  std::vector<std::uint32_t> seen_by_;
  std::vector<std::uint32_t> found_;
  std::uint32_t node_ = no_node;
};

/// Who must be done before a node may touch its images. Nodes come in declaration order.
class ImageOrder {
 public:
  explicit ImageOrder(std::size_t resource_count) : images_(resource_count) {}

  /// Adds the dependencies of a node, then notes its uses.
  void add(std::uint32_t index, const ScheduleNode& node, DependencyCollector& collector);

 private:
  /// Nodes that touch the image in one layout, none after another: one that writes, or readers.
  struct Image {
    std::vector<std::uint32_t> former;  ///< of the phase before
    std::vector<std::uint32_t> users;
    ImageLayout layout = ImageLayout::undefined;
    bool written = false;
  };
  std::vector<Image> images_;
};

/// Places transient images and lists the physical ones.
void place_images(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                  Schedule& schedule);

/// Image barriers in front of each round, and behind the last; empty when no node uses an image.
std::vector<std::vector<ImageBarrier>> plan_image_barriers(const std::vector<ScheduleNode>& nodes,
                                                           const std::vector<ScheduleResource>& resources,
                                                           const Schedule& schedule);

/// Per node, ascending and without repetition: the nodes that must be done before it. Explicit ones may be declared
/// later than it.
std::vector<std::vector<std::uint32_t>> find_dependencies(const std::vector<ScheduleNode>& nodes,
                                                          std::size_t resource_count);

/// Fills `round` and `order` from `dependencies`.
void order_in_rounds(const std::vector<ScheduleNode>& nodes, Schedule& schedule);

/// Fills `lifetimes`, `placement` and the byte counts.
void place_transients(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                      Schedule& schedule);

/// Fills `commands`, `barriers` and `image_barriers`.
void derive_barriers(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                     Schedule& schedule);

}  // namespace tessera::detail
