#include "graph/schedule.hpp"

#include <tessera/error.hpp>

#include "graph/schedule_parts.hpp"

namespace tessera::detail {

namespace {

bool has_one_layout(const ScheduleNode& node, const ResourceUse& use) {
  if (!use.layout) return true;
  return std::all_of(node.uses.begin(), node.uses.end(), [&](const ResourceUse& other) {
    return other.resource != use.resource || other.layout == use.layout;
  });
}

}  // namespace

void validate_schedule_input(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources) {
  for (const ScheduleNode& node : nodes) {
    for (const std::uint32_t dependency : node.depends_on) {
      if (dependency >= nodes.size()) {
        throw Error(ErrorCode::unknown_id, {"graph", node.id, "a dependency must be a node of the graph",
                                            std::to_string(dependency) + " of " + std::to_string(nodes.size())});
      }
    }
    for (const ResourceUse& use : node.uses) {
      if (use.resource >= resources.size()) {
        throw Error(ErrorCode::unknown_id, {"graph", node.id, "a used resource must belong to the graph",
                                            std::to_string(use.resource) + " of " + std::to_string(resources.size())});
      }
      const ScheduleResource& resource = resources[use.resource];
      if ((bit_of(use.stage) & writing_stages) == 0 && writes(use.access)) {
        throw Error(ErrorCode::invalid_argument, {"graph", node.id, "the stage only reads", resource.id});
      }
      if (use.layout.has_value() != (resource.image_class != 0) || !has_one_layout(node, use)) {
        throw Error(ErrorCode::invalid_argument, {"graph", node.id, "a node has an image in one layout", resource.id});
      }
      if (use.begin > use.end || (resource.transient && use.end > resource.bytes)) {
        throw Error(ErrorCode::range_out_of_bounds,
                    {"graph", node.id, "a use must lie inside its resource",
                     resource.id + ": [" + std::to_string(use.begin) + ", " + std::to_string(use.end) + ") of " +
                         std::to_string(resource.bytes)});
      }
    }
  }
}

Schedule make_schedule(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources) {
  validate_schedule_input(nodes, resources);
  Schedule schedule;
  schedule.dependencies = find_dependencies(nodes, resources.size());
  order_in_rounds(nodes, schedule);
  place_transients(nodes, resources, schedule);
  place_images(nodes, resources, schedule);
  derive_barriers(nodes, resources, schedule);
  return schedule;
}

}  // namespace tessera::detail
