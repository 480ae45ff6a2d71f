#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tessera/error.hpp>

#include "graph/schedule.hpp"
#include "support/barrier_oracle.hpp"
#include "support/random_data.hpp"
#include "support/random_graphs.hpp"

namespace tessera::test {
namespace {

using detail::Access;
using detail::bit_of;
using detail::full_barrier;
using detail::make_schedule;
using detail::RecordedCommand;
using detail::ResourceUse;
using detail::Schedule;
using detail::ScheduleBarrier;
using detail::ScheduleNode;
using detail::ScheduleResource;
using detail::Stage;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t compute = bit_of(Stage::compute);
constexpr std::uint32_t indirect = bit_of(Stage::indirect);
constexpr std::uint32_t transfer = bit_of(Stage::transfer);

bool reports(const std::vector<Violation>& violations, ViolationKind kind, const std::string& first,
             const std::string& second) {
  return std::any_of(violations.begin(), violations.end(), [&](const Violation& violation) {
    return violation.kind == kind && violation.first == first && violation.second == second;
  });
}

// Two or three nodes on one import, and the barriers between them.
struct Scene {
  std::vector<ScheduleNode> nodes;
  std::vector<ScheduleResource> resources{{"r", false, 100}};
  std::vector<std::optional<std::uint64_t>> placement{std::nullopt};
  std::vector<RecordedCommand> commands;

  Scene& node(const std::string& id, Access access, Stage stage) {
    commands.push_back({RecordedCommand::Kind::node, static_cast<std::uint32_t>(nodes.size()), {}});
    nodes.push_back({id, {{0, 0, 100, access, stage}}, {}});
    return *this;
  }
  Scene& barrier(const ScheduleBarrier& masks) {
    commands.push_back(recorded_barrier(masks));
    return *this;
  }
  std::vector<Violation> check() const { return check_recording({nodes, resources, placement}, commands); }
};

TEST(BarrierOracle, DemandsABarrierForEachKindOfHazard) {
  const auto kind_without_barrier = [](Access first, Access second) {
    const auto violations = Scene().node("a", first, Stage::compute).node("b", second, Stage::compute).check();
    EXPECT_EQ(violations.size(), 1U);
    EXPECT_EQ(violations.at(0).first, "a");
    EXPECT_EQ(violations.at(0).second, "b");
    return violations.at(0).kind;
  };
  EXPECT_EQ(kind_without_barrier(Access::write, Access::read), ViolationKind::read_after_write);
  EXPECT_EQ(kind_without_barrier(Access::read, Access::write), ViolationKind::write_after_read);
  EXPECT_EQ(kind_without_barrier(Access::write, Access::write), ViolationKind::write_after_write);
  EXPECT_THAT(Scene().node("a", Access::read, Stage::compute).node("b", Access::read, Stage::compute).check(),
              IsEmpty());
}

TEST(BarrierOracle, DemandsTheStagesAndAccessesOfTheHazard) {
  const auto check = [](const ScheduleBarrier& barrier) {
    return Scene()
        .node("a", Access::write, Stage::transfer)
        .barrier(barrier)
        .node("b", Access::read, Stage::indirect)
        .check();
  };
  EXPECT_THAT(check({transfer, transfer, indirect, indirect, 0}), IsEmpty());
  EXPECT_THAT(check({compute, compute, indirect, indirect, 0}), Not(IsEmpty()));
  EXPECT_THAT(check({transfer, 0, indirect, indirect, 0}), Not(IsEmpty()));
  EXPECT_THAT(check({transfer, transfer, compute, compute, 0}), Not(IsEmpty()));
  EXPECT_THAT(check({transfer, transfer, indirect, 0, 0}), Not(IsEmpty()));
  EXPECT_THAT(check(full_barrier), IsEmpty());
}

TEST(BarrierOracle, AWriteAfterReadNeedsExecutionOnly) {
  const auto check = [](const ScheduleBarrier& barrier) {
    return Scene()
        .node("a", Access::read, Stage::indirect)
        .barrier(barrier)
        .node("b", Access::write, Stage::compute)
        .check();
  };
  EXPECT_THAT(check({indirect, 0, compute, 0, 0}), IsEmpty());
  EXPECT_THAT(check({compute, compute, compute, 0, compute}), Not(IsEmpty()));
}

TEST(BarrierOracle, ChainsGoThroughStages) {
  const auto check = [](const ScheduleBarrier& first, const ScheduleBarrier& second) {
    return Scene()
        .node("a", Access::write, Stage::transfer)
        .barrier(first)
        .barrier(second)
        .node("b", Access::read, Stage::indirect)
        .check();
  };
  // Made available by the first, visible by the second, linked by the compute stage.
  EXPECT_THAT(check({transfer, transfer, compute, compute, 0}, {compute, 0, indirect, indirect, 0}), IsEmpty());
  EXPECT_THAT(check({transfer, transfer, compute, 0, 0}, {compute, 0, indirect, indirect, 0}), IsEmpty());
  // No link; the write is not available; availability in the second does not help a write of another stage.
  EXPECT_THAT(check({transfer, transfer, compute, compute, 0}, {indirect, 0, indirect, indirect, 0}), Not(IsEmpty()));
  EXPECT_THAT(check({transfer, 0, compute, compute, 0}, {compute, 0, indirect, indirect, 0}), Not(IsEmpty()));
  EXPECT_THAT(check({transfer, 0, compute, 0, 0}, {compute, compute, indirect, indirect, 0}), Not(IsEmpty()));
}

TEST(BarrierOracle, BarriersBeforeOrAfterBothDoNotCount) {
  EXPECT_THAT(Scene()
                  .barrier(full_barrier)
                  .node("a", Access::write, Stage::compute)
                  .node("b", Access::read, Stage::compute)
                  .barrier(full_barrier)
                  .check(),
              Not(IsEmpty()));
}

TEST(BarrierOracle, SeparateRangesAreNoHazard) {
  Scene scene;
  scene.node("a", Access::write, Stage::compute).node("b", Access::write, Stage::compute);
  scene.nodes[0].uses[0].end = 50;
  scene.nodes[1].uses[0].begin = 50;
  EXPECT_THAT(scene.check(), IsEmpty());
  scene.nodes[1].uses[0].begin = 49;
  EXPECT_THAT(scene.check(), Not(IsEmpty()));
}

TEST(BarrierOracle, RejectsMalformedBarriers) {
  EXPECT_THAT(Scene().barrier({compute, transfer, compute, 0, 0}).check(), Not(IsEmpty()));
  EXPECT_THAT(Scene().barrier({compute, compute, compute, transfer, 0}).check(), Not(IsEmpty()));
  EXPECT_THAT(Scene().barrier({compute, compute, indirect, 0, indirect}).check(), Not(IsEmpty()));
  EXPECT_THAT(Scene().barrier({64, 0, compute, 0, 0}).check(), Not(IsEmpty()));
}

TEST(BarrierOracle, WatchesTheBindingBlock) {
  const RecordedCommand update{RecordedCommand::Kind::binding_update, 0, {}};
  const RecordedCommand barrier = recorded_barrier({transfer, transfer, compute, compute, 0});
  Scene scene;
  scene.node("n", Access::read, Stage::compute);
  const RecordedCommand node = scene.commands[0];
  scene.commands = {update, barrier, node, recorded_barrier(full_barrier), update, barrier, node};
  EXPECT_THAT(scene.check(), IsEmpty());
  scene.commands = {update, node};
  EXPECT_TRUE(reports(scene.check(), ViolationKind::read_after_write, "binding update", "n"));
  // The next encoding overwrites what the last one may still read.
  scene.commands = {update, barrier, node, update, barrier, node};
  EXPECT_TRUE(reports(scene.check(), ViolationKind::write_after_read, "n", "binding update"));
  EXPECT_TRUE(reports(scene.check(), ViolationKind::write_after_write, "binding update", "binding update"));
}

TEST(BarrierOracle, FindsWrongOrdersAndPlacements) {
  const std::vector<ScheduleNode> nodes{
      {"w", {{0, 0, 8, Access::write, Stage::compute}}, {}},
      {"r", {{0, 0, 8, Access::read, Stage::compute}, {1, 0, 8, Access::write, Stage::compute}}, {}},
      {"x", {{1, 0, 8, Access::read, Stage::compute}}, {}}};
  const std::vector<ScheduleResource> resources{{"t", true, 8}, {"u", true, 8}};
  const Schedule good = make_schedule(nodes, resources);
  EXPECT_THAT(check_schedule(nodes, resources, good), IsEmpty());

  Schedule swapped = good;
  std::swap(swapped.order[0], swapped.order[1]);
  std::swap(swapped.commands[0], swapped.commands[2]);
  EXPECT_TRUE(reports(check_schedule(nodes, resources, swapped), ViolationKind::order, "w", "r"));
  Schedule overlapping = good;
  overlapping.placement[1] = overlapping.placement[0];
  EXPECT_TRUE(reports(check_schedule(nodes, resources, overlapping), ViolationKind::placement, "t", "u"));
  Schedule outside = good;
  outside.placement[1] = 512;
  EXPECT_TRUE(reports(check_schedule(nodes, resources, outside), ViolationKind::placement, "u", ""));
  Schedule missing = good;
  missing.order.pop_back();
  missing.commands.pop_back();
  EXPECT_TRUE(reports(check_schedule(nodes, resources, missing), ViolationKind::order, "x", ""));
}

// The graphs of seeds that schedule, up to `count`.
template <class Check>
void for_random_graphs(std::uint64_t first_seed, std::uint64_t count, const Check& check) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomGraph graph = random_graph(seed);
    check(graph, make_schedule(graph.nodes, graph.resources), seed);
  }
}

TEST(RandomSchedules, AreRight) {
  std::uint64_t barriers = 0;
  std::uint64_t reused = 0;
  for_random_graphs(0, 5000, [&](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    EXPECT_THAT(check_schedule(graph.nodes, graph.resources, schedule), IsEmpty());
    barriers += schedule.barriers.size();
    reused += schedule.scratch_bytes + 255 < schedule.logical_transient_bytes ? 1 : 0;
  });
  // The generator makes what there is to get wrong.
  EXPECT_GT(barriers, 20000U);
  EXPECT_GT(reused, 500U);
}

TEST(RandomSchedules, AreDeterministic) {
  for_random_graphs(10000, 200, [](const RandomGraph& graph, const Schedule& schedule, std::uint64_t seed) {
    const RandomGraph again = random_graph(seed);
    const Schedule other = make_schedule(again.nodes, again.resources);
    EXPECT_EQ(schedule.order, other.order);
    EXPECT_EQ(schedule.commands, other.commands);
    EXPECT_EQ(schedule.barriers, other.barriers);
    EXPECT_EQ(schedule.placement, other.placement);
    EXPECT_EQ(schedule.scratch_bytes, other.scratch_bytes);
    EXPECT_EQ(graph.nodes.size(), again.nodes.size());
  });
}

// Rounds by definition: repeatedly, all nodes whose dependencies were done before the round. Empty for a cycle.
std::vector<std::uint32_t> reference_order(const RandomGraph& graph, std::size_t& rounds) {
  const auto conflicts = [](const ScheduleNode& first, const ScheduleNode& second) {
    for (const ResourceUse& left : first.uses) {
      for (const ResourceUse& right : second.uses) {
        if (left.resource == right.resource && (left.access != Access::read || right.access != Access::read) &&
            std::max(left.begin, right.begin) < std::min(left.end, right.end)) {
          return true;
        }
      }
    }
    return false;
  };
  const std::size_t count = graph.nodes.size();
  std::vector<bool> done(count, false);
  std::vector<std::uint32_t> order;
  for (rounds = 0; order.size() < count; ++rounds) {
    std::vector<std::uint32_t> ready;
    for (std::uint32_t node = 0; node < count; ++node) {
      bool waits = done[node];
      for (const std::uint32_t other : graph.nodes[node].depends_on) waits = waits || (other != node && !done[other]);
      for (std::uint32_t other = 0; other < node; ++other) {
        waits = waits || (!done[other] && conflicts(graph.nodes[other], graph.nodes[node]));
      }
      if (!waits) ready.push_back(node);
    }
    if (ready.empty()) return {};
    for (const std::uint32_t node : ready) done[node] = true;
    order.insert(order.end(), ready.begin(), ready.end());
  }
  return order;
}

TEST(RandomSchedules, FollowRoundsWithOneBarrierBetweenTwo) {
  std::size_t cycles = 0;
  for (std::uint64_t seed = 0; seed < 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomGraph graph = random_graph(seed, {.nodes = 24, .dependencies = ExplicitDependencies::any});
    std::size_t rounds = 0;
    const std::vector<std::uint32_t> expected = reference_order(graph, rounds);
    try {
      const Schedule schedule = make_schedule(graph.nodes, graph.resources);
      EXPECT_EQ(schedule.order, expected);
      EXPECT_EQ(schedule.barriers.size(), rounds - 1);
      EXPECT_THAT(check_schedule(graph.nodes, graph.resources, schedule), IsEmpty());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::dependency_cycle);
      EXPECT_THAT(expected, IsEmpty());
      ++cycles;
    }
  }
  EXPECT_GT(cycles, 50U);
  EXPECT_LT(cycles, 1900U);
}

TEST(RandomSchedules, NeedEveryBarrier) {
  for_random_graphs(20000, 300, [](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    const std::vector<RecordedCommand> commands = record(schedule);
    for (std::size_t at = 0; at < commands.size(); ++at) {
      if (commands[at].kind != RecordedCommand::Kind::barrier) continue;
      std::vector<RecordedCommand> without = commands;
      without.erase(without.begin() + static_cast<std::ptrdiff_t>(at));
      EXPECT_THAT(check_recording({graph.nodes, graph.resources, schedule.placement}, without), Not(IsEmpty()));
    }
  });
}

// Each barrier with one bit less; dropping a stage drops its accesses.
std::vector<ScheduleBarrier> weakened(const ScheduleBarrier& barrier) {
  std::vector<ScheduleBarrier> barriers;
  for (std::uint32_t stage = 0; stage < detail::stage_count; ++stage) {
    const std::uint32_t bit = 1U << stage;
    const auto without = [&](std::initializer_list<std::uint32_t ScheduleBarrier::*> masks) {
      ScheduleBarrier weaker = barrier;
      for (const auto mask : masks) weaker.*mask &= ~bit;
      if (weaker != barrier) barriers.push_back(weaker);
    };
    without({&ScheduleBarrier::source_stages, &ScheduleBarrier::source_writes});
    without({&ScheduleBarrier::source_writes});
    without({&ScheduleBarrier::destination_stages, &ScheduleBarrier::destination_reads,
             &ScheduleBarrier::destination_writes});
    without({&ScheduleBarrier::destination_reads});
    without({&ScheduleBarrier::destination_writes});
  }
  return barriers;
}

TEST(RandomSchedules, NeedEveryStageOfEveryBarrier) {
  std::size_t mutations = 0;
  for_random_graphs(30000, 300, [&](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    for (std::size_t index = 0; index < schedule.barriers.size(); ++index) {
      for (const ScheduleBarrier& weaker : weakened(schedule.barriers[index])) {
        Schedule mutated = schedule;
        mutated.barriers[index] = weaker;
        EXPECT_THAT(check_recording({graph.nodes, graph.resources, schedule.placement}, record(mutated)),
                    Not(IsEmpty()))
            << "barrier " << index;
        ++mutations;
      }
    }
  });
  EXPECT_GT(mutations, 3000U);
}

TEST(RandomSchedules, StayRightWhenNodesAreSkipped) {
  for_random_graphs(40000, 1000, [](const RandomGraph& graph, const Schedule& schedule, std::uint64_t seed) {
    RandomBits bits(seed);
    for (int attempt = 0; attempt < 4; ++attempt) {
      std::vector<bool> skipped;
      for (std::size_t node = 0; node < graph.nodes.size(); ++node) skipped.push_back(bits.below(3) == 0);
      EXPECT_THAT(check_recording({graph.nodes, graph.resources, schedule.placement}, record(schedule, skipped)),
                  IsEmpty());
    }
  });
}

TEST(RandomSchedules, FollowOneAnotherBehindAnOpeningBarrier) {
  std::size_t unsafe = 0;
  for_random_graphs(50000, 500, [&](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    const DeclaredGraph declared{graph.nodes, graph.resources, schedule.placement};
    const std::vector<RecordedCommand> once = record(schedule);
    std::vector<RecordedCommand> with;
    std::vector<RecordedCommand> without;
    for (int encoding = 0; encoding < 3; ++encoding) {
      with.push_back(recorded_barrier(full_barrier));
      with.push_back({RecordedCommand::Kind::binding_update, 0, {}});
      with.push_back(recorded_barrier({transfer, transfer, compute, compute, 0}));
      with.insert(with.end(), once.begin(), once.end());
      without.insert(without.end(), once.begin(), once.end());
    }
    EXPECT_THAT(check_recording(declared, with), IsEmpty());
    unsafe += check_recording(declared, without).empty() ? 0 : 1;
  });
  EXPECT_GT(unsafe, 400U);
}

}  // namespace
}  // namespace tessera::test
