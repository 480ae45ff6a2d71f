#include <algorithm>
#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "graph/schedule_parts.hpp"
#include "graph/schedule_ranges.hpp"

namespace tessera::detail {

namespace {

constexpr std::uint32_t no_node = DependencyCollector::no_node;

/// Who touched a range last.
struct Accesses {
  std::uint32_t writer = no_node;
  std::vector<std::uint32_t> readers;  ///< since that write
};

/// Ids along one cycle among the nodes that never became ready, which `blocked_by` leads through.
std::string describe_cycle(const std::vector<ScheduleNode>& nodes, const Schedule& schedule,
                           const std::vector<bool>& done) {
  std::vector<std::uint32_t> path;
  std::vector<bool> on_path(nodes.size(), false);
  auto current = static_cast<std::uint32_t>(std::find(done.begin(), done.end(), false) - done.begin());
  while (!on_path[current]) {
    on_path[current] = true;
    path.push_back(current);
    const auto& dependencies = schedule.dependencies[current];
    current = *std::find_if(dependencies.begin(), dependencies.end(), [&](std::uint32_t node) { return !done[node]; });
  }
  std::string text = nodes[current].id;
  for (auto it = std::find(path.begin(), path.end(), current) + 1; it != path.end(); ++it) {
    text += " after " + nodes[*it].id;
  }
  return text + " after " + nodes[current].id;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> find_dependencies(const std::vector<ScheduleNode>& nodes,
                                                          std::size_t resource_count) {
  std::vector<RangeMap<Accesses>> accesses(resource_count);
  std::vector<std::vector<std::uint32_t>> dependencies(nodes.size());
  DependencyCollector collector(nodes.size());
  ImageOrder images(resource_count);
  for (std::uint32_t index = 0; index < nodes.size(); ++index) {
    const ScheduleNode& node = nodes[index];
    collector.start(index);
    for (const std::uint32_t dependency : node.depends_on) collector.add(dependency);
    bool has_images = false;
    for (const ResourceUse& use : node.uses) {
      has_images = has_images || use.layout.has_value();
      if (use.begin == use.end || use.layout) continue;
      accesses[use.resource].visit(use.begin, use.end, [&](const Accesses& earlier) {
        collector.add(earlier.writer);
        if (!writes(use.access)) return;
        for (const std::uint32_t reader : earlier.readers) collector.add(reader);
      });
    }
    if (has_images) images.add(index, node, collector);
    dependencies[index] = collector.take();
    // Writes first: they end the reads of earlier nodes, not those of this one.
    for (const ResourceUse& use : node.uses) {
      if (use.begin < use.end && writes(use.access) && !use.layout) {
        accesses[use.resource].assign(use.begin, use.end, Accesses{index, {}});
      }
    }
    for (const ResourceUse& use : node.uses) {
      if (use.begin == use.end || use.access != Access::read || use.layout) continue;
      accesses[use.resource].update(use.begin, use.end, [&](Accesses& range) {
        const bool known = range.writer == index || (!range.readers.empty() && range.readers.back() == index);
        if (!known) range.readers.push_back(index);
      });
    }
  }
  return dependencies;
}

void order_in_rounds(const std::vector<ScheduleNode>& nodes, Schedule& schedule) {
  const std::size_t count = nodes.size();
  std::vector<std::vector<std::uint32_t>> dependants(count);
  std::vector<std::size_t> waiting(count, 0);
  for (std::uint32_t node = 0; node < count; ++node) {
    waiting[node] = schedule.dependencies[node].size();
    for (const std::uint32_t dependency : schedule.dependencies[node]) dependants[dependency].push_back(node);
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t node = 0; node < count; ++node) {
    if (waiting[node] == 0) ready.push_back(node);
  }
  std::vector<bool> done(count, false);
  schedule.round.assign(count, 0);
  schedule.order.reserve(count);
  for (std::uint32_t round = 0; !ready.empty(); ++round) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t node : ready) {
      schedule.order.push_back(node);
      schedule.round[node] = round;
      done[node] = true;
      for (const std::uint32_t dependant : dependants[node]) {
        if (--waiting[dependant] == 0) next.push_back(dependant);
      }
    }
    std::sort(next.begin(), next.end());
    ready = std::move(next);
  }
  if (schedule.order.size() < count) {
    throw Error(ErrorCode::dependency_cycle,
                {"graph", "depends_on", "dependencies must not form a cycle", describe_cycle(nodes, schedule, done)});
  }
}

}  // namespace tessera::detail
