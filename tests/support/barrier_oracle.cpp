#include "support/barrier_oracle.hpp"

#include <algorithm>
#include <ostream>

#include "support/image_oracle.hpp"

namespace tessera::test {

namespace {

using detail::Access;
using detail::RecordedCommand;
using detail::ResourceUse;
using detail::Schedule;
using detail::ScheduleBarrier;
using detail::ScheduleNode;
using detail::ScheduleResource;
using detail::Stage;

constexpr std::int64_t scratch_space = -1;
constexpr std::int64_t binding_space = -2;

/// One access of one recorded command to physical memory.
struct PhysicalAccess {
  std::size_t command = 0;
  std::string node;
  std::int64_t space = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool reads = false;
  bool writes = false;
  std::uint32_t stage = 0;
};

std::string name_of_stage(std::uint32_t stage) {
  static const char* const names[] = {"compute", "indirect", "transfer", "vertex", "fragment", "color"};
  return stage < 6 ? names[stage] : "unknown";
}

bool has(std::uint32_t mask, std::uint32_t stage) { return (mask & (1U << stage)) != 0; }

/// What is known of one access as barriers pass, by the rules of the specification: an execution dependency starts at
/// its own stage and goes on through each barrier whose source names a stage that it has reached; a write is made
/// available by a barrier whose source names both stage and access; from there visibility travels along the chain.
class Follower {
 public:
  Follower(std::uint32_t stage, bool write) : stage_(stage), write_(write) {}

  void pass(const ScheduleBarrier& barrier) {
    const bool from_itself = has(barrier.source_stages, stage_);
    const bool from_chain = (barrier.source_stages & done_before_) != 0;
    if (from_itself || from_chain) done_before_ |= barrier.destination_stages;
    if (!write_) return;
    const bool made_available = from_itself && has(barrier.source_writes, stage_);
    const bool already_available = (barrier.source_stages & available_before_) != 0;
    if (!made_available && !already_available) return;
    available_before_ |= barrier.destination_stages;
    visible_to_reads_ |= barrier.destination_reads & barrier.destination_stages;
    visible_to_writes_ |= barrier.destination_writes & barrier.destination_stages;
  }
  bool done_before(std::uint32_t stage) const { return has(done_before_, stage); }
  bool visible_to_reads(std::uint32_t stage) const { return has(visible_to_reads_, stage); }
  bool visible_to_writes(std::uint32_t stage) const { return has(visible_to_writes_, stage); }

 private:
  std::uint32_t stage_;
  bool write_;
  std::uint32_t done_before_ = 0;
  std::uint32_t available_before_ = 0;
  std::uint32_t visible_to_reads_ = 0;
  std::uint32_t visible_to_writes_ = 0;
};

std::vector<PhysicalAccess> list_accesses(const DeclaredGraph& graph, std::span<const RecordedCommand> commands) {
  const bool has_bindings = std::any_of(commands.begin(), commands.end(), [](const RecordedCommand& command) {
    return command.kind == RecordedCommand::Kind::binding_update;
  });
  std::vector<PhysicalAccess> accesses;
  for (std::size_t at = 0; at < commands.size(); ++at) {
    if (commands[at].kind == RecordedCommand::Kind::binding_update) {
      accesses.push_back({at, "binding update", binding_space, 0, 1, false, true, 2});
    }
    if (commands[at].kind != RecordedCommand::Kind::node) continue;
    const ScheduleNode& node = graph.nodes.at(commands[at].node);
    if (has_bindings) accesses.push_back({at, node.id, binding_space, 0, 1, true, false, 0});
    for (const ResourceUse& use : node.uses) {
      if (use.layout) continue;  // images are checked apart
      const auto& offset = graph.placement.at(use.resource);
      const std::int64_t space = offset ? scratch_space : static_cast<std::int64_t>(use.resource);
      const std::uint64_t base = offset.value_or(0);
      accesses.push_back({at, node.id, space, base + use.begin, base + use.end, use.access != Access::write,
                          use.access != Access::read, static_cast<std::uint32_t>(use.stage)});
    }
  }
  return accesses;
}

void check_pair(const PhysicalAccess& first, const PhysicalAccess& second, const Follower& follower,
                std::vector<Violation>& violations) {
  if (first.space != second.space) return;
  const std::uint64_t begin = std::max(first.begin, second.begin);
  const std::uint64_t end = std::min(first.end, second.end);
  if (begin >= end) return;
  const auto report = [&](ViolationKind kind) {
    violations.push_back({kind, first.node, second.node,
                          name_of_stage(first.stage) + " to " + name_of_stage(second.stage) + ", space " +
                              std::to_string(first.space) + ", [" + std::to_string(begin) + ", " + std::to_string(end) +
                              ")"});
  };
  if (first.writes && second.reads && !follower.visible_to_reads(second.stage)) {
    report(ViolationKind::read_after_write);
  }
  if (first.writes && second.writes && !follower.visible_to_writes(second.stage)) {
    report(ViolationKind::write_after_write);
  }
  if (first.reads && second.writes && !follower.done_before(second.stage)) {
    report(ViolationKind::write_after_read);
  }
}

void check_hazards(const DeclaredGraph& graph, std::span<const RecordedCommand> commands,
                   std::vector<Violation>& violations) {
  const std::vector<PhysicalAccess> accesses = list_accesses(graph, commands);
  for (const PhysicalAccess& first : accesses) {
    Follower follower(first.stage, first.writes);
    auto second = std::find_if(accesses.begin(), accesses.end(),
                               [&](const PhysicalAccess& access) { return access.command > first.command; });
    for (std::size_t at = first.command + 1; at < commands.size(); ++at) {
      if (commands[at].kind == RecordedCommand::Kind::barrier) follower.pass(commands[at].barrier);
      for (; second != accesses.end() && second->command == at; ++second) {
        check_pair(first, *second, follower, violations);
      }
    }
  }
}

/// Stages at which a node may act beyond its declared uses.
std::vector<std::uint32_t> stages_of(const ScheduleNode& node) {
  std::vector<bool> used(6, false);
  if (node.uses.empty()) std::fill_n(used.begin(), 3, true);
  for (const ResourceUse& use : node.uses) {
    used[static_cast<std::size_t>(use.stage)] = true;
    if (use.stage == Stage::indirect) used[0] = true;
  }
  std::vector<std::uint32_t> stages;
  for (std::uint32_t stage = 0; stage < 6; ++stage) {
    if (used[stage]) stages.push_back(stage);
  }
  return stages;
}

/// Indirect parameters, vertices and fragments are only read.
bool can_write_at(std::uint32_t stage) { return stage == 0 || stage == 2 || stage == 5; }

bool depends_explicitly(const ScheduleNode& node, std::uint32_t other) {
  return std::find(node.depends_on.begin(), node.depends_on.end(), other) != node.depends_on.end();
}

void check_explicit_pair(const ScheduleNode& first, const ScheduleNode& second, std::uint32_t first_stage,
                         const Follower& follower, std::vector<Violation>& violations) {
  const bool can_write = can_write_at(first_stage);
  for (const std::uint32_t stage : stages_of(second)) {
    const bool ordered = follower.done_before(stage);
    const bool read = !can_write || follower.visible_to_reads(stage);
    const bool written = !can_write || !can_write_at(stage) || follower.visible_to_writes(stage);
    if (ordered && read && written) continue;
    violations.push_back({ViolationKind::explicit_dependency, first.id, second.id,
                          name_of_stage(first_stage) + " to " + name_of_stage(stage)});
  }
}

void check_explicit_dependencies(const DeclaredGraph& graph, std::span<const RecordedCommand> commands,
                                 std::vector<Violation>& violations) {
  for (std::size_t first = 0; first < commands.size(); ++first) {
    if (commands[first].kind != RecordedCommand::Kind::node) continue;
    const std::uint32_t index = commands[first].node;
    for (const std::uint32_t stage : stages_of(graph.nodes[index])) {
      Follower follower(stage, can_write_at(stage));
      for (std::size_t at = first + 1; at < commands.size(); ++at) {
        if (commands[at].kind == RecordedCommand::Kind::barrier) follower.pass(commands[at].barrier);
        if (commands[at].kind != RecordedCommand::Kind::node || commands[at].node == index) continue;
        const ScheduleNode& second = graph.nodes[commands[at].node];
        if (depends_explicitly(second, index)) {
          check_explicit_pair(graph.nodes[index], second, stage, follower, violations);
        }
      }
    }
  }
}

bool is_well_formed(const ScheduleBarrier& barrier) {
  const std::uint32_t writes = barrier.source_writes | barrier.destination_writes;
  return ((barrier.source_stages | barrier.destination_stages) & ~63U) == 0 &&
         (barrier.source_writes & ~barrier.source_stages) == 0 &&
         ((barrier.destination_reads | barrier.destination_writes) & ~barrier.destination_stages) == 0 &&
         !has(writes, 1) && !has(writes, 3) && !has(writes, 4);
}

void check_masks(std::span<const RecordedCommand> commands, std::vector<Violation>& violations) {
  for (std::size_t at = 0; at < commands.size(); ++at) {
    if (commands[at].kind != RecordedCommand::Kind::barrier) continue;
    const auto& images = commands[at].images;
    const bool linked = std::all_of(images.begin(), images.end(), [](const detail::ImageBarrier& image) {
      return image.masks.source_stages != 0 && image.masks.destination_stages != 0 && is_well_formed(image.masks);
    });
    if (is_well_formed(commands[at].barrier) && linked) continue;
    violations.push_back({ViolationKind::malformed_barrier, "command " + std::to_string(at), "", ""});
  }
}

bool conflict(const ScheduleNode& first, const ScheduleNode& second) {
  for (const ResourceUse& left : first.uses) {
    for (const ResourceUse& right : second.uses) {
      if (left.resource != right.resource) continue;
      if (left.layout != right.layout) return true;  // an image is in one layout at a time
      if (left.access == Access::read && right.access == Access::read) continue;
      if (std::max(left.begin, right.begin) < std::min(left.end, right.end)) return true;
    }
  }
  return false;
}

void check_order(const std::vector<ScheduleNode>& nodes, const Schedule& schedule, std::vector<Violation>& violations) {
  std::vector<std::size_t> position(nodes.size(), nodes.size());
  std::vector<std::uint32_t> recorded;
  for (const detail::ScheduleCommand& command : schedule.commands) {
    if (command.kind == detail::ScheduleCommand::Kind::node) recorded.push_back(command.index);
  }
  if (recorded != schedule.order) {
    violations.push_back({ViolationKind::order, "", "", "commands do not follow the order"});
  }
  for (std::size_t at = 0; at < schedule.order.size(); ++at) {
    const std::uint32_t node = schedule.order[at];
    if (node >= nodes.size() || position[node] != nodes.size()) {
      violations.push_back({ViolationKind::order, std::to_string(node), "", "unknown or repeated"});
      return;
    }
    position[node] = at;
  }
  for (std::uint32_t second = 0; second < nodes.size(); ++second) {
    if (position[second] == nodes.size()) {
      violations.push_back({ViolationKind::order, nodes[second].id, "", "missing"});
    }
    for (std::uint32_t first = 0; first < nodes.size(); ++first) {
      const bool must_precede = (first < second && conflict(nodes[first], nodes[second])) ||
                                (first != second && depends_explicitly(nodes[second], first));
      if (must_precede && position[first] > position[second]) {
        violations.push_back({ViolationKind::order, nodes[first].id, nodes[second].id, "out of order"});
      }
    }
  }
}

/// Positions at which a node names the resource.
std::vector<std::size_t> positions_of(std::uint32_t resource, const std::vector<ScheduleNode>& nodes,
                                      const Schedule& schedule) {
  std::vector<std::size_t> positions;
  for (std::size_t at = 0; at < schedule.order.size(); ++at) {
    for (const ResourceUse& use : nodes[schedule.order[at]].uses) {
      if (use.resource == resource) positions.push_back(at);
    }
  }
  return positions;
}

void check_placement(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                     const Schedule& schedule, std::vector<Violation>& violations) {
  const auto report = [&](std::uint32_t first, const std::string& second, const char* detail) {
    violations.push_back({ViolationKind::placement, resources[first].id, second, detail});
  };
  for (std::uint32_t first = 0; first < resources.size(); ++first) {
    if (resources[first].image_class != 0) continue;
    const auto& offset = schedule.placement[first];
    const std::vector<std::size_t> uses = positions_of(first, nodes, schedule);
    if (offset.has_value() != (resources[first].transient && !uses.empty())) report(first, "", "placed or not");
    if (!offset) continue;
    const std::uint64_t end = *offset + resources[first].bytes;
    if (*offset % 256 != 0 || end > schedule.scratch_bytes) report(first, "", "unaligned or outside scratch");
    for (std::uint32_t second = first + 1; second < resources.size(); ++second) {
      const auto& other = schedule.placement[second];
      if (resources[second].image_class != 0) continue;
      if (!other || *other >= end || *other + resources[second].bytes <= *offset) continue;
      const std::vector<std::size_t> other_uses = positions_of(second, nodes, schedule);
      if (uses.back() < other_uses.front() || other_uses.back() < uses.front()) continue;
      report(first, resources[second].id, "both alive in the same memory");
    }
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Violation& violation) {
  static const char* const names[] = {
      "read after write", "write after read", "write after write", "explicit dependency", "order",
      "placement",        "layout",           "malformed barrier"};
  return stream << names[static_cast<std::size_t>(violation.kind)] << ": " << violation.first << ", "
                << violation.second << " (" << violation.detail << ")";
}

std::vector<Violation> check_recording(const DeclaredGraph& graph, std::span<const RecordedCommand> commands) {
  std::vector<Violation> violations;
  check_masks(commands, violations);
  check_hazards(graph, commands, violations);
  check_explicit_dependencies(graph, commands, violations);
  check_images(graph, commands, violations);
  return violations;
}

std::vector<Violation> check_schedule(const std::vector<ScheduleNode>& nodes,
                                      const std::vector<ScheduleResource>& resources, const Schedule& schedule) {
  const std::vector<RecordedCommand> commands = record(schedule);
  std::vector<Violation> violations = check_recording({nodes, resources, schedule.placement}, commands);
  check_order(nodes, schedule, violations);
  check_placement(nodes, resources, schedule, violations);
  check_image_placement(nodes, resources, schedule, violations);
  return violations;
}

std::vector<RecordedCommand> record(const Schedule& schedule, const std::vector<bool>& skipped) {
  std::vector<RecordedCommand> commands;
  for (const detail::ScheduleCommand& command : schedule.commands) {
    if (command.kind == detail::ScheduleCommand::Kind::barrier) {
      commands.push_back(recorded_barrier(schedule.barriers.at(command.index)));
      if (!schedule.image_barriers.empty()) commands.back().images = schedule.image_barriers.at(command.index);
    } else if (skipped.empty() || !skipped.at(command.index)) {
      commands.push_back({RecordedCommand::Kind::node, command.index, {}});
    }
  }
  return commands;
}

RecordedCommand recorded_barrier(const ScheduleBarrier& barrier) {
  return {RecordedCommand::Kind::barrier, 0, barrier};
}

}  // namespace tessera::test
