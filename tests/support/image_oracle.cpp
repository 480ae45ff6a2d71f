#include "support/image_oracle.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tessera::test {

namespace {

using detail::Access;
using detail::ImageBarrier;
using detail::RecordedCommand;
using detail::ResourceUse;
using detail::ScheduleBarrier;
using detail::ScheduleNode;
using detail::ScheduleResource;

/// A physical image: an import by its resource, or a place that transients share.
using Physical = std::pair<bool, std::uint64_t>;

Physical physical_of(const DeclaredGraph& graph, std::uint32_t resource) {
  const auto& place = graph.placement.at(resource);
  return place ? Physical{true, *place} : Physical{false, resource};
}

/// A node's access, or a layout change.
struct Event {
  std::size_t command = 0;
  std::string name;
  Physical image;
  bool reads = false;
  bool writes = false;
  std::uint32_t stage = 0;                      ///< as a bit, of a node's access
  const ScheduleBarrier* transition = nullptr;  ///< the masks of the barrier that changes the layout
};

std::vector<Event> list_events(const DeclaredGraph& graph, std::span<const RecordedCommand> commands) {
  std::vector<Event> events;
  for (std::size_t at = 0; at < commands.size(); ++at) {
    for (const ImageBarrier& part : commands[at].images) {
      if (part.before == part.after) continue;
      events.push_back({.command = at,
                        .name = "layout of " + graph.resources[part.resource].id,
                        .image = physical_of(graph, part.resource),
                        .writes = true,
                        .transition = &part.masks});
    }
    if (commands[at].kind != RecordedCommand::Kind::node) continue;
    const ScheduleNode& node = graph.nodes.at(commands[at].node);
    for (const ResourceUse& use : node.uses) {
      if (!use.layout) continue;
      events.push_back({.command = at,
                        .name = node.id,
                        .image = physical_of(graph, use.resource),
                        .reads = use.access != Access::write,
                        .writes = use.access != Access::read,
                        .stage = 1U << static_cast<std::uint32_t>(use.stage)});
    }
  }
  return events;
}

/// Stages that come after an event, and what they see of it. Barriers of one command start from the same knowledge:
/// they don't chain with one another.
struct Knowledge {
  std::uint32_t after = 0;
  std::uint32_t available = 0;
  std::uint32_t to_reads = 0;
  std::uint32_t to_writes = 0;
};

bool is_ordered(const Event& event, const Knowledge& known, const ScheduleBarrier& barrier) {
  return (barrier.source_stages & (known.after | event.stage)) != 0;
}

bool is_available(const Event& event, const Knowledge& known, const ScheduleBarrier& barrier) {
  return (barrier.source_writes & barrier.source_stages & event.stage) != 0 ||
         (barrier.source_stages & known.available) != 0;
}

/// `memory`: whether the barrier covers the event's memory, and not execution alone.
void pass(const Event& event, const Knowledge& before, const ScheduleBarrier& barrier, bool memory, Knowledge& after) {
  if (is_ordered(event, before, barrier)) after.after |= barrier.destination_stages;
  if (!memory || !event.writes || !is_available(event, before, barrier)) return;
  after.available |= barrier.destination_stages;
  after.to_reads |= barrier.destination_reads & barrier.destination_stages;
  after.to_writes |= barrier.destination_writes & barrier.destination_stages;
}

void check_pair(const Event& first, const Event& second, const Knowledge& known, std::vector<Violation>& violations) {
  const auto report = [&](ViolationKind kind) { violations.push_back({kind, first.name, second.name, "image"}); };
  if (second.transition != nullptr) {
    if (first.reads && !is_ordered(first, known, *second.transition)) report(ViolationKind::write_after_read);
    if (first.writes && !is_available(first, known, *second.transition)) report(ViolationKind::write_after_write);
    return;
  }
  if (first.writes && second.reads && (known.to_reads & second.stage) == 0) report(ViolationKind::read_after_write);
  if (first.writes && second.writes && (known.to_writes & second.stage) == 0) report(ViolationKind::write_after_write);
  if (first.reads && second.writes && (known.after & second.stage) == 0) report(ViolationKind::write_after_read);
}

void check_hazards_of(const DeclaredGraph& graph, std::span<const RecordedCommand> commands,
                      std::span<const Event> events, std::size_t index, std::vector<Violation>& violations) {
  const Event& first = events[index];
  Knowledge known;
  if (first.transition != nullptr) {
    known = {first.transition->destination_stages, first.transition->destination_stages,
             first.transition->destination_reads, first.transition->destination_writes};
  }
  std::size_t next = index + 1;
  for (std::size_t at = first.command; at < commands.size(); ++at) {
    for (; next < events.size() && events[next].command == at; ++next) {
      const bool apart = events[next].image != first.image || at == first.command;
      if (!apart) check_pair(first, events[next], known, violations);
    }
    if (at == first.command || commands[at].kind != RecordedCommand::Kind::barrier) continue;
    const Knowledge before = known;
    pass(first, before, commands[at].barrier, true, known);
    for (const ImageBarrier& part : commands[at].images) {
      pass(first, before, part.masks, physical_of(graph, part.resource) == first.image, known);
    }
  }
}

/// What an image is now.
struct ImageState {
  ImageLayout layout = ImageLayout::undefined;
  std::uint32_t holder = 0;  ///< the resource whose contents it has
};

class LayoutWalk {
 public:
  LayoutWalk(const DeclaredGraph& graph, std::vector<Violation>& violations) : graph_(graph), violations_(violations) {}

  void run(std::span<const RecordedCommand> commands) {
    for (std::size_t at = 0; at < commands.size(); ++at) {
      std::set<Physical> changed;
      for (const ImageBarrier& part : commands[at].images) {
        if (!changed.insert(physical_of(graph_, part.resource)).second) report(part.resource, at, "twice in a barrier");
        change(part, at);
      }
      if (commands[at].kind == RecordedCommand::Kind::node) use(graph_.nodes.at(commands[at].node));
    }
    for (const auto& [image, state] : images_) {
      if (image.first || state.layout == ImageLayout::general) continue;
      report(state.holder, commands.size(), "not at rest in the end");
    }
  }

 private:
  ImageState& state_of(std::uint32_t resource) {
    ImageState start{.layout = ImageLayout::undefined, .holder = resource};
    if (!graph_.resources[resource].transient) start.layout = ImageLayout::general;
    return images_.try_emplace(physical_of(graph_, resource), start).first->second;
  }

  void change(const ImageBarrier& part, std::size_t command) {
    ImageState& state = state_of(part.resource);
    const bool dropped = part.before == ImageLayout::undefined;
    if (dropped && !graph_.resources[part.resource].transient) report(part.resource, command, "contents dropped");
    if (!dropped && (state.layout != part.before || state.holder != part.resource)) {
      report(part.resource, command, "changed from a layout that it is not in");
    }
    state = {.layout = part.after, .holder = part.resource};
  }

  void use(const ScheduleNode& node) {
    for (const ResourceUse& use : node.uses) {
      if (!use.layout) continue;
      const ImageState& state = state_of(use.resource);
      if (state.layout == *use.layout && state.holder == use.resource) continue;
      violations_.push_back({ViolationKind::layout, graph_.resources[use.resource].id, node.id, "in another layout"});
    }
  }

  void report(std::uint32_t resource, std::size_t command, const char* detail) {
    violations_.push_back(
        {ViolationKind::layout, graph_.resources[resource].id, "command " + std::to_string(command), detail});
  }

  const DeclaredGraph& graph_;
  std::vector<Violation>& violations_;
  std::map<Physical, ImageState> images_;
};

}  // namespace

void check_images(const DeclaredGraph& graph, std::span<const RecordedCommand> commands,
                  std::vector<Violation>& violations) {
  const std::vector<Event> events = list_events(graph, commands);
  for (std::size_t index = 0; index < events.size(); ++index) {
    check_hazards_of(graph, commands, events, index, violations);
  }
  LayoutWalk(graph, violations).run(commands);
}

void check_image_placement(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                           const detail::Schedule& schedule, std::vector<Violation>& violations) {
  struct Life {
    std::optional<std::uint32_t> first;
    std::uint32_t last = 0;
  };
  std::vector<Life> lives(resources.size());
  for (const std::uint32_t node : schedule.order) {
    for (const ResourceUse& use : nodes.at(node).uses) {
      Life& life = lives[use.resource];
      if (!life.first) life.first = schedule.round[node];
      life.last = schedule.round[node];
    }
  }
  const auto report = [&](std::uint32_t first, const std::string& second, const char* detail) {
    violations.push_back({ViolationKind::placement, resources[first].id, second, detail});
  };
  for (std::uint32_t first = 0; first < resources.size(); ++first) {
    if (resources[first].image_class == 0) continue;
    const auto& place = schedule.placement[first];
    if (place.has_value() != (resources[first].transient && lives[first].first)) report(first, "", "placed or not");
    if (!place) continue;
    if (*place >= schedule.physical_images.size()) report(first, "", "no such image");
    for (std::uint32_t second = first + 1; second < resources.size(); ++second) {
      if (resources[second].image_class == 0 || schedule.placement[second] != place) continue;
      if (resources[second].image_class != resources[first].image_class) {
        report(first, resources[second].id, "of another class");
      }
      if (lives[first].last < *lives[second].first || lives[second].last < *lives[first].first) continue;
      report(first, resources[second].id, "both alive in one image");
    }
  }
  std::set<std::uint32_t> used;
  for (const RecordedCommand& command : record(schedule)) {
    for (const ImageBarrier& part : command.images) {
      if (part.before != ImageLayout::undefined || !used.contains(part.resource)) continue;
      report(part.resource, "", "contents dropped");
    }
    if (command.kind != RecordedCommand::Kind::node) continue;
    for (const ResourceUse& use : nodes.at(command.node).uses) used.insert(use.resource);
  }
}

}  // namespace tessera::test
