#include <utility>

#include "graph/schedule_parts.hpp"

// Images in the schedule. They are few and used as a whole, so each is followed by itself: its accesses form phases of
// one layout, each a single writing node or any readers, and a barrier of its own stands between two phases.
namespace tessera::detail {

namespace {

/// All accesses to one physical image in one phase.
struct Phase {
  std::uint32_t round = 0;  ///< of the first
  std::uint32_t last_round = 0;
  std::uint32_t resource = 0;
  ImageLayout layout = ImageLayout::undefined;
  std::uint32_t reading_stages = 0;
  std::uint32_t writing_stages = 0;

  std::uint32_t stages() const noexcept { return reading_stages | writing_stages; }
};

constexpr std::uint32_t lowest_bit(std::uint32_t mask) noexcept { return mask & (~mask + 1); }

/// Whether an access belongs to the phase: in its round it can only be of the same node, or another reader.
bool continues(const Phase& phase, const ResourceUse& use, std::uint32_t round) {
  if (phase.resource != use.resource || phase.layout != use.layout) return false;
  return phase.last_round == round || (phase.writing_stages == 0 && !writes(use.access));
}

std::vector<Phase> phases_of(const std::vector<std::pair<std::uint32_t, ResourceUse>>& uses) {
  std::vector<Phase> phases;
  for (const auto& [round, use] : uses) {
    if (phases.empty() || !continues(phases.back(), use, round)) {
      phases.push_back({.round = round, .last_round = round, .resource = use.resource, .layout = *use.layout});
    }
    Phase& phase = phases.back();
    phase.last_round = round;
    if (reads(use.access)) phase.reading_stages |= bit_of(use.stage);
    if (writes(use.access)) phase.writing_stages |= bit_of(use.stage);
  }
  return phases;
}

/// Which stages see all that was done to an image: everything does when an encoding begins.
struct Visibility {
  std::uint32_t to_reads = every_stage;
  std::uint32_t to_writes = every_stage;
};

/// The barrier in front of a phase. Where nothing came before in this execution, any single stage of its own links it
/// to the barrier that opens the encoding.
ImageBarrier barrier_before(const Phase& phase, const Phase* former, ImageLayout before, Visibility& visible) {
  const std::uint32_t former_writes = former != nullptr ? former->writing_stages : 0;
  if (former_writes != 0 || before != phase.layout) visible = {.to_reads = 0, .to_writes = 0};
  ScheduleBarrier masks{.source_stages = former != nullptr ? former->stages() : lowest_bit(phase.stages()),
                        .source_writes = former_writes,
                        .destination_stages = phase.writing_stages,
                        .destination_reads = phase.reading_stages & ~visible.to_reads,
                        .destination_writes = phase.writing_stages & ~visible.to_writes};
  masks.destination_stages |= masks.destination_reads;
  visible.to_reads |= masks.destination_reads;
  visible.to_writes |= masks.destination_writes;
  return {.resource = phase.resource, .before = before, .after = phase.layout, .masks = masks};
}

}  // namespace

void ImageOrder::add(std::uint32_t index, const ScheduleNode& node, DependencyCollector& collector) {
  for (std::size_t at = 0; at < node.uses.size(); ++at) {
    const ResourceUse& use = node.uses[at];
    if (!use.layout) continue;
    const auto same_image = [&](const ResourceUse& other) { return other.resource == use.resource; };
    const auto begin = node.uses.begin();
    if (std::any_of(begin, begin + static_cast<std::ptrdiff_t>(at), same_image)) continue;
    const bool written = std::any_of(
        begin, node.uses.end(), [&](const ResourceUse& other) { return same_image(other) && writes(other.access); });
    Image& image = images_[use.resource];
    if (image.users.empty() || image.written || written || image.layout != *use.layout) {
      image.former = std::exchange(image.users, {});
      image.layout = *use.layout;
      image.written = written;
    }
    for (const std::uint32_t dependency : image.former) collector.add(dependency);
    image.users.push_back(index);
  }
}

void place_images(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                  Schedule& schedule) {
  std::vector<std::uint32_t> transients;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource) {
    if (resources[resource].image_class == 0 || !resources[resource].transient) continue;
    if (schedule.lifetimes[resource]) transients.push_back(resource);
  }
  if (transients.empty() || nodes.empty()) return;
  std::stable_sort(transients.begin(), transients.end(), [&](std::uint32_t left, std::uint32_t right) {
    return schedule.lifetimes[left]->first < schedule.lifetimes[right]->first;
  });
  const auto round_at = [&](std::uint32_t position) { return schedule.round[schedule.order[position]]; };
  std::vector<std::uint32_t> last_rounds;  // per physical image
  for (const std::uint32_t resource : transients) {
    const ScheduleLifetime lifetime = *schedule.lifetimes[resource];
    std::size_t place = 0;
    while (place < last_rounds.size()) {
      const bool same = resources[schedule.physical_images[place]].image_class == resources[resource].image_class;
      if (same && last_rounds[place] < round_at(lifetime.first)) break;
      ++place;
    }
    if (place == last_rounds.size()) {
      schedule.physical_images.push_back(resource);
      last_rounds.push_back(0);
    }
    last_rounds[place] = round_at(lifetime.last);
    schedule.placement[resource] = place;
  }
}

std::vector<std::vector<ImageBarrier>> plan_image_barriers(const std::vector<ScheduleNode>& nodes,
                                                           const std::vector<ScheduleResource>& resources,
                                                           const Schedule& schedule) {
  // Per physical image, imports first: its accesses in execution order.
  std::vector<std::vector<std::pair<std::uint32_t, ResourceUse>>> uses;
  std::uint32_t rounds = 0;
  for (const std::uint32_t node : schedule.order) {
    rounds = schedule.round[node] + 1;
    for (const ResourceUse& use : nodes[node].uses) {
      if (!use.layout) continue;
      if (uses.empty()) uses.resize(resources.size() + schedule.physical_images.size());
      const auto& place = schedule.placement[use.resource];
      uses[place ? resources.size() + *place : use.resource].emplace_back(schedule.round[node], use);
    }
  }
  if (uses.empty()) return {};

  std::vector<std::vector<ImageBarrier>> barriers(std::size_t{rounds} + 1);
  for (const auto& image : uses) {
    if (image.empty()) continue;
    const bool transient = resources[image.front().second.resource].transient;
    ImageLayout layout = transient ? ImageLayout::undefined : resting_image_layout;
    const Phase* former = nullptr;
    Visibility visible;
    const std::vector<Phase> phases = phases_of(image);
    for (const Phase& phase : phases) {
      if (former != nullptr && former->resource != phase.resource) layout = ImageLayout::undefined;
      if (former != nullptr || layout != phase.layout) {
        barriers[phase.round].push_back(barrier_before(phase, former, layout, visible));
      }
      layout = phase.layout;
      former = &phase;
    }
    if (transient || layout == resting_image_layout) continue;
    barriers.back().push_back({.resource = former->resource,
                               .before = layout,
                               .after = resting_image_layout,
                               .masks = {.source_stages = former->stages(),
                                         .source_writes = former->writing_stages,
                                         .destination_stages = lowest_bit(former->stages()),
                                         .destination_reads = 0,
                                         .destination_writes = 0}});
  }
  return barriers;
}

}  // namespace tessera::detail
