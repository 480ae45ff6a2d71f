#include "graph/conflicts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::detail {
namespace {

bool touches(const VectorView& view, std::uint32_t resource) {
  const ChunkList& list = *view.chunk_list();
  const std::uint64_t begin = view.first_row();
  const std::uint64_t end = begin + view.length();
  for (std::size_t i = 0; i < list.chunks.size(); ++i) {
    const bool inside = list.first_row[i] < end && list.first_row[i + 1] > begin;
    if (inside && list.chunks[i].resource == resource) return true;
  }
  return false;
}

bool belongs_to(const std::string& node, const std::string& operation) {
  // Rounds of a loop stand between an operation's name and that of its node.
  return node.starts_with(operation) &&
         (node.size() == operation.size() || node[operation.size()] == '/' || node[operation.size()] == '#');
}

std::vector<UsePlace> uses_of(const Program& program, std::uint32_t import) {
  const GraphParts& parts = program.parts;
  const std::uint32_t resource = parts.imports[import].resource;
  std::vector<UsePlace> places;
  for (const GraphOperation& operation : parts.operations) {
    for (const OperandUse& use : operation.operands) {
      const bool counts = use.view.count() && use.view.count()->buffer.resource() == resource;
      if (touches(use.view, resource))
        places.push_back({.operation = operation.path, .port = use.port, .writes = use.access != Access::read});
      else if (counts)
        places.push_back({.operation = operation.path, .port = use.port + ".count", .writes = false});
    }
  }
  for (const ScheduleNode& node : program.schedule_nodes) {
    for (const ResourceUse& use : node.uses) {
      if (use.resource != resource || use.begin >= use.end) continue;
      const bool writes = use.access != Access::read;
      const bool known = std::any_of(places.begin(), places.end(), [&](const UsePlace& place) {
        return place.writes >= writes && belongs_to(node.id, place.operation);
      });
      if (!known) places.push_back({.operation = node.id, .port = {}, .writes = writes});
    }
  }
  return places;
}

}  // namespace

Conflict find_conflict(const Program& program, std::uint32_t left, std::uint32_t right) {
  const std::vector<UsePlace> left_places = uses_of(program, left);
  const std::vector<UsePlace> right_places = uses_of(program, right);
  Conflict found;
  for (const bool same_operation : {true, false}) {
    for (const UsePlace& first : left_places) {
      for (const UsePlace& second : right_places) {
        if (!first.writes && !second.writes) continue;
        if (!same_operation || first.operation == second.operation) return {.left = first, .right = second};
      }
    }
  }
  return found;
}

UsePlace find_writer(const Program& program, std::uint32_t import) {
  for (UsePlace& place : uses_of(program, import)) {
    if (place.writes) return std::move(place);
  }
  return {};
}

}  // namespace tessera::detail
