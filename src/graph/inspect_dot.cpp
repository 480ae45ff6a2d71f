#include <sstream>

#include "graph/inspect_names.hpp"

namespace tessera::detail {

namespace {

/// The inside of a quoted DOT string.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : text) {
    if (character == '\n') {
      result += "\\n";
    } else {
      if (character == '"' || character == '\\') result += '\\';
      result += character;
    }
  }
  return result;
}

std::string stage_list(std::uint32_t mask) {
  std::string text;
  visit_stage_names(mask, [&](std::string_view name) {
    if (!text.empty()) text += ", ";
    text += name;
  });
  return text;
}

/// Images that a barrier takes to other layouts, a line for each.
std::string image_lines(const GraphInspection& inspection, std::size_t barrier) {
  std::string text;
  if (inspection.schedule.image_barriers.empty()) return text;
  for (const ImageBarrier& image : inspection.schedule.image_barriers[barrier]) {
    text += "\\n" + escaped(inspection.resources[image.resource].id) + ": ";
    text += inspected_name(image.before);
    text += " to ";
    text += inspected_name(image.after);
  }
  return text;
}

std::string node_label(const InspectedNode& node) {
  std::string label = escaped(node.id);
  if (!node.module.empty()) label += "\\n" + escaped(node.module);
  if (node.indirect) {
    label += "\\nindirect";
  } else if (node.kind == InspectedNode::Kind::dispatch) {
    label += "\\n";
    for (std::size_t axis = 0; axis < node.groups.size(); ++axis) {
      label += (axis == 0 ? "" : " x ") + std::to_string(node.groups[axis]);
    }
  }
  if (!node.note.empty()) label += "\\n" + escaped(node.note);
  for (const std::string& condition : node.host_conditions) label += "\\nif " + escaped(condition);
  return label;
}

}  // namespace

std::string inspection_dot(const GraphInspection& inspection) {
  const Schedule& schedule = inspection.schedule;
  std::ostringstream dot;
  dot << "digraph tessera {\n  node [shape=box];\n";
  std::string barrier_label;
  bool open = false;
  std::uint32_t round = 0;
  for (const ScheduleCommand& command : schedule.commands) {
    if (command.kind == ScheduleCommand::Kind::barrier) {
      const ScheduleBarrier& barrier = schedule.barriers[command.index];
      barrier_label = ", after barrier " + std::to_string(command.index) + ": " + stage_list(barrier.source_stages) +
                      " to " + stage_list(barrier.destination_stages) + image_lines(inspection, command.index);
      continue;
    }
    if (!open || schedule.round[command.index] != round) {
      round = schedule.round[command.index];
      dot << (open ? "  }\n" : "") << "  subgraph cluster_" << round << " {\n    label=\"round " << round
          << barrier_label << "\";\n";
      open = true;
      barrier_label.clear();
    }
    const InspectedNode& node = inspection.nodes[command.index];
    dot << "    node" << command.index << " [label=\"" << node_label(node) << "\""
        << (node.gated ? ", style=dashed" : "") << "];\n";
  }
  if (open) dot << "  }\n";
  for (const std::uint32_t node : schedule.order) {
    for (const std::uint32_t dependency : schedule.dependencies[node]) {
      dot << "  node" << dependency << " -> node" << node << ";\n";
    }
  }
  dot << "}\n";
  return dot.str();
}

}  // namespace tessera::detail
