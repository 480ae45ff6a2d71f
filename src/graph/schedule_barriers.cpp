#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "graph/schedule_parts.hpp"
#include "graph/schedule_ranges.hpp"

// Barriers are global, images apart, which have barriers of their own: what they cover depends on stage and round only,
// never on the memory. And a barrier that covers an access covers every earlier one at the same stage. So one round
// number per pair of stages tells all: accesses up to that round are covered.
namespace tessera::detail {

namespace {

using Round = std::int64_t;
constexpr Round never = -1;

template <class Value>
using PerStage = std::array<Value, stage_count>;
using PerStagePair = PerStage<PerStage<Round>>;  ///< [source stage][destination stage]

constexpr PerStagePair uncovered = [] {
  PerStagePair rounds{};
  for (auto& row : rounds) row.fill(never);
  return rounds;
}();

void raise(Round& round, Round other) { round = std::max(round, other); }
bool contains(std::uint32_t mask, std::size_t stage) { return ((mask >> stage) & 1U) != 0; }

/// Up to which round each kind of access is covered, or must be.
struct Coverage {
  PerStagePair execution = uncovered;  ///< done before the destination stage begins
  PerStagePair available =
      uncovered;  ///< writes available, which the destination stage waits for: a chain may go on from there
  PerStagePair visible_to_reads = uncovered;
  PerStagePair visible_to_writes = uncovered;
};

/// `before` and a barrier in front of `round`, by Vulkan's rules: execution chains through stages that two barriers
/// share; a write is made available once, at its own stage, and visible at any later link of the chain.
Coverage apply(const Coverage& before, const ScheduleBarrier& barrier, Round round, std::size_t stages) {
  Coverage after = before;
  for (std::size_t source = 0; source < stages; ++source) {
    Round executed = contains(barrier.source_stages, source) ? round - 1 : never;
    Round available = contains(barrier.source_writes, source) ? round - 1 : never;
    for (std::size_t link = 0; link < stages; ++link) {
      if (!contains(barrier.source_stages, link)) continue;
      raise(executed, before.execution[source][link]);
      raise(available, before.available[source][link]);
    }
    for (std::size_t destination = 0; destination < stages; ++destination) {
      if (contains(barrier.destination_stages, destination)) {
        raise(after.execution[source][destination], executed);
        raise(after.available[source][destination], available);
      }
      if (contains(barrier.destination_reads, destination)) {
        raise(after.visible_to_reads[source][destination], available);
      }
      if (contains(barrier.destination_writes, destination)) {
        raise(after.visible_to_writes[source][destination], available);
      }
    }
  }
  return after;
}

constexpr PerStage<Round> never_read = [] {
  PerStage<Round> rounds{};
  rounds.fill(never);
  return rounds;
}();

/// Who touched a range last, as far as later hazards tell.
struct RangeState {
  Round write_round = never;
  std::uint32_t write_stages = 0;
  PerStage<Round> read_rounds = never_read;  ///< since that write
};

/// One more than the last stage that a node has: loops over stages end there.
std::size_t stages_in_use(const std::vector<ScheduleNode>& nodes) {
  std::size_t count = static_cast<std::size_t>(Stage::transfer) + 1;  // what nodes without uses may touch
  for (const ScheduleNode& node : nodes) {
    for (const ResourceUse& use : node.uses) count = std::max(count, static_cast<std::size_t>(use.stage) + 1);
  }
  return count;
}

class BarrierPass {
 public:
  BarrierPass(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
              Schedule& schedule)
      : nodes_(nodes),
        schedule_(schedule),
        stages_(stages_in_use(nodes)),
        images_(plan_image_barriers(nodes, resources, schedule)),
        imports_(schedule.placement.size()) {}

  void run() {
    const std::vector<std::uint32_t>& order = schedule_.order;
    for (std::size_t first = 0; first < order.size();) {
      const std::uint32_t round = schedule_.round[order[first]];
      std::size_t last = first;
      while (last < order.size() && schedule_.round[order[last]] == round) ++last;
      required_ = Coverage{};
      for (std::size_t at = first; at < last; ++at) require_node(order[at]);
      add_barrier(round);
      for (std::size_t at = first; at < last; ++at) {
        schedule_.commands.push_back({ScheduleCommand::Kind::node, order[at]});
        record_accesses(nodes_[order[at]], round);
      }
      first = last;
    }
    if (!images_.empty() && !images_.back().empty()) push_barrier({}, images_.size() - 1);
  }

 private:
  /// The memory behind a use: a space of addresses and a range in it.
  struct Place {
    RangeMap<RangeState>& space;
    std::uint64_t begin;
    std::uint64_t end;
  };
  Place place_of(const ResourceUse& use) {
    const auto& offset = schedule_.placement[use.resource];
    if (!offset) return {imports_[use.resource], use.begin, use.end};
    return {scratch_, *offset + use.begin, *offset + use.end};
  }

  void require_node(std::uint32_t index) {
    const ScheduleNode& node = nodes_[index];
    for (const ResourceUse& use : node.uses) {
      if (use.begin == use.end || use.layout) continue;
      const Place place = place_of(use);
      place.space.visit(place.begin, place.end, [&](const RangeState& state) { require_use(use, state); });
    }
    for (const std::uint32_t dependency : node.depends_on) {
      if (dependency != index) require_explicit(dependency, node);
    }
  }

  void require_use(const ResourceUse& use, const RangeState& state) {
    const auto stage = static_cast<std::size_t>(use.stage);
    for (std::size_t source = 0; source < stages_; ++source) {
      if (contains(state.write_stages, source)) {
        if (reads(use.access)) raise(required_.visible_to_reads[source][stage], state.write_round);
        if (writes(use.access)) raise(required_.visible_to_writes[source][stage], state.write_round);
      }
      if (writes(use.access)) raise(required_.execution[source][stage], state.read_rounds[source]);
    }
  }

  static std::uint32_t stages_of(const ScheduleNode& node) {
    std::uint32_t stages = 0;
    for (const ResourceUse& use : node.uses) stages |= bit_of(use.stage);
    // What reads its groups from memory then computes.
    if ((stages & bit_of(Stage::indirect)) != 0) stages |= bit_of(Stage::compute);
    return stages == 0 ? all_stages : stages;
  }

  void require_explicit(std::uint32_t dependency, const ScheduleNode& node) {
    const Round round = schedule_.round[dependency];
    const std::uint32_t sources = stages_of(nodes_[dependency]);
    const std::uint32_t destinations = stages_of(node);
    for (std::size_t source = 0; source < stages_; ++source) {
      if (!contains(sources, source)) continue;
      for (std::size_t destination = 0; destination < stages_; ++destination) {
        if (!contains(destinations, destination)) continue;
        raise(required_.execution[source][destination], round);
        if (!contains(writing_stages, source)) continue;
        raise(required_.visible_to_reads[source][destination], round);
        if (contains(writing_stages, destination)) raise(required_.visible_to_writes[source][destination], round);
      }
    }
  }

  bool is_met_by(const Coverage& coverage) const {
    for (std::size_t source = 0; source < stages_; ++source) {
      for (std::size_t destination = 0; destination < stages_; ++destination) {
        const auto open = [&](PerStagePair Coverage::*kind) {
          return (coverage.*kind)[source][destination] < (required_.*kind)[source][destination];
        };
        if (open(&Coverage::execution) || open(&Coverage::visible_to_reads) || open(&Coverage::visible_to_writes)) {
          return false;
        }
      }
    }
    return true;
  }

  /// A barrier that covers each open hazard by itself.
  ScheduleBarrier direct_barrier() const {
    ScheduleBarrier barrier;
    const auto open = [&](PerStagePair Coverage::*kind, std::size_t source, std::size_t destination) {
      return (covered_.*kind)[source][destination] < (required_.*kind)[source][destination];
    };
    for (std::size_t source = 0; source < stages_; ++source) {
      for (std::size_t destination = 0; destination < stages_; ++destination) {
        const bool to_reads = open(&Coverage::visible_to_reads, source, destination);
        const bool to_writes = open(&Coverage::visible_to_writes, source, destination);
        if (!to_reads && !to_writes && !open(&Coverage::execution, source, destination)) continue;
        barrier.source_stages |= 1U << source;
        barrier.destination_stages |= 1U << destination;
        if (to_reads || to_writes) barrier.source_writes |= 1U << source;
        if (to_reads) barrier.destination_reads |= 1U << destination;
        if (to_writes) barrier.destination_writes |= 1U << destination;
      }
    }
    return barrier;
  }

  void add_barrier(Round round) {
    const auto place = static_cast<std::size_t>(round);
    if (is_met_by(covered_)) {
      if (!images_.empty() && !images_[place].empty()) push_barrier({}, place);
      return;
    }
    ScheduleBarrier barrier = direct_barrier();
    // Chains through earlier barriers may make some of it superfluous.
    for (std::uint32_t stage = 0; stage < stages_; ++stage) {
      const std::uint32_t keep = ~(1U << stage);
      ScheduleBarrier without_stage = barrier;
      without_stage.source_stages &= keep;
      without_stage.source_writes &= keep;
      ScheduleBarrier without_writes = barrier;
      without_writes.source_writes &= keep;
      for (const ScheduleBarrier& candidate : {without_stage, without_writes}) {
        if (candidate == barrier || !is_met_by(apply(covered_, candidate, round, stages_))) continue;
        barrier = candidate;
        break;
      }
    }
    covered_ = apply(covered_, barrier, round, stages_);
    push_barrier(barrier, place);
  }

  void push_barrier(const ScheduleBarrier& barrier, std::size_t round) {
    schedule_.commands.push_back(
        {ScheduleCommand::Kind::barrier, static_cast<std::uint32_t>(schedule_.barriers.size())});
    schedule_.barriers.push_back(barrier);
    if (!images_.empty()) schedule_.image_barriers.push_back(std::move(images_[round]));
  }

  void record_accesses(const ScheduleNode& node, Round round) {
    // Writes first: they end the reads of earlier nodes, not those of this one.
    for (const ResourceUse& use : node.uses) {
      if (use.begin == use.end || !writes(use.access) || use.layout) continue;
      const Place place = place_of(use);
      // A node may write the same bytes at two stages.
      std::uint32_t stages = bit_of(use.stage);
      place.space.visit(place.begin, place.end, [&](const RangeState& state) {
        if (state.write_round == round) stages |= state.write_stages;
      });
      place.space.assign(place.begin, place.end, RangeState{round, stages, never_read});
    }
    for (const ResourceUse& use : node.uses) {
      if (use.begin == use.end || !reads(use.access) || use.layout) continue;
      const Place place = place_of(use);
      place.space.update(place.begin, place.end, [&](RangeState& state) {
        raise(state.read_rounds[static_cast<std::size_t>(use.stage)], round);
      });
    }
  }

  const std::vector<ScheduleNode>& nodes_;
  Schedule& schedule_;
  std::size_t stages_;
  std::vector<std::vector<ImageBarrier>> images_;  ///< per round, and one behind the last; empty without images
  std::vector<RangeMap<RangeState>> imports_;
  RangeMap<RangeState> scratch_;
  Coverage covered_;
  Coverage required_;
};

}  // namespace

void derive_barriers(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                     Schedule& schedule) {
  BarrierPass(nodes, resources, schedule).run();
}

}  // namespace tessera::detail
