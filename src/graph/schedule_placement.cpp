#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <utility>

#include <tessera/error.hpp>

#include "graph/schedule_parts.hpp"

namespace tessera::detail {

namespace {

constexpr std::uint64_t placement_alignment = 256;

std::uint64_t checked_sum(std::uint64_t left, std::uint64_t right) {
  if (right > std::numeric_limits<std::uint64_t>::max() - left) {
    throw Error(ErrorCode::limit_exceeded, {"graph", "transients", "scratch memory must be countable in 64 bits", ""});
  }
  return left + right;
}

/// Memory that transients of disjoint lifetimes share, one after another.
class SlotPool {
 public:
  /// A slot for a transient that lives in the rounds `first` to `last`; `first` never decreases from call to call.
  std::size_t take(std::uint64_t bytes, std::uint32_t first, std::uint32_t last) {
    // Nodes of one round have no barrier between them: a slot is free from the round after its last use.
    while (!busy_.empty() && busy_.top().first < first) {
      const std::size_t slot = busy_.top().second;
      busy_.pop();
      free_.emplace(capacities_[slot], slot);
    }
    const std::size_t slot = choose(bytes);
    capacities_[slot] = std::max(capacities_[slot], bytes);
    busy_.emplace(last, slot);
    return slot;
  }
  const std::vector<std::uint64_t>& capacities() const noexcept { return capacities_; }

 private:
  std::size_t choose(std::uint64_t bytes) {
    if (free_.empty()) {
      capacities_.push_back(bytes);
      return capacities_.size() - 1;
    }
    auto best = free_.lower_bound({bytes, 0});
    if (best == free_.end()) {
      // None holds it: of those with the largest capacity, which grows least, the oldest.
      best = free_.lower_bound({std::prev(free_.end())->first, 0});
    }
    const std::size_t slot = best->second;
    free_.erase(best);
    return slot;
  }

  using RoundAndSlot = std::pair<std::uint32_t, std::size_t>;
  std::vector<std::uint64_t> capacities_;
  std::set<std::pair<std::uint64_t, std::size_t>> free_;
  std::priority_queue<RoundAndSlot, std::vector<RoundAndSlot>, std::greater<>> busy_;
};

std::vector<std::optional<ScheduleLifetime>> find_lifetimes(const std::vector<ScheduleNode>& nodes,
                                                            std::size_t resource_count, const Schedule& schedule) {
  std::vector<std::optional<ScheduleLifetime>> lifetimes(resource_count);
  for (std::uint32_t position = 0; position < schedule.order.size(); ++position) {
    for (const ResourceUse& use : nodes[schedule.order[position]].uses) {
      auto& lifetime = lifetimes[use.resource];
      if (!lifetime) lifetime = ScheduleLifetime{position, position};
      lifetime->last = position;
    }
  }
  return lifetimes;
}

}  // namespace

void place_transients(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                      Schedule& schedule) {
  schedule.lifetimes = find_lifetimes(nodes, resources.size(), schedule);
  schedule.placement.assign(resources.size(), std::nullopt);
  const auto round_at = [&](std::uint32_t position) { return schedule.round[schedule.order[position]]; };

  struct Transient {
    std::uint32_t resource;
    ScheduleLifetime lifetime;
  };
  std::vector<Transient> transients;
  for (std::uint32_t resource = 0; resource < resources.size(); ++resource) {
    const auto& lifetime = schedule.lifetimes[resource];
    if (!resources[resource].transient || resources[resource].image_class != 0 || !lifetime) continue;
    transients.push_back({resource, *lifetime});
    ++schedule.logical_transient_count;
    schedule.logical_transient_bytes = checked_sum(schedule.logical_transient_bytes, resources[resource].bytes);
  }
  std::stable_sort(transients.begin(), transients.end(), [](const Transient& left, const Transient& right) {
    return left.lifetime.first < right.lifetime.first;
  });

  SlotPool pool;
  std::vector<std::pair<std::uint32_t, std::size_t>> slot_of;
  for (const auto& [resource, lifetime] : transients) {
    schedule.placement[resource] = 0;
    if (resources[resource].bytes == 0) continue;
    slot_of.emplace_back(resource,
                         pool.take(resources[resource].bytes, round_at(lifetime.first), round_at(lifetime.last)));
  }
  std::vector<std::uint64_t> offsets;
  for (const std::uint64_t capacity : pool.capacities()) {
    offsets.push_back(schedule.scratch_bytes);
    const std::uint64_t padded = checked_sum(capacity, placement_alignment - 1) / placement_alignment;
    schedule.scratch_bytes = checked_sum(schedule.scratch_bytes, padded * placement_alignment);
  }
  for (const auto& [resource, slot] : slot_of) schedule.placement[resource] = offsets[slot];
}

}  // namespace tessera::detail
