#include "graph/schedule.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>
#include <tessera/error.hpp>

#include "support/random_data.hpp"

namespace tessera::detail {
namespace {

constexpr std::uint32_t compute = bit_of(Stage::compute);
constexpr std::uint32_t indirect = bit_of(Stage::indirect);
constexpr std::uint32_t transfer = bit_of(Stage::transfer);

ResourceUse use(std::uint32_t resource, Access access, Stage stage = Stage::compute) {
  return {resource, 0, 100, access, stage};
}
ResourceUse part(std::uint32_t resource, std::uint64_t begin, std::uint64_t end, Access access) {
  return {resource, begin, end, access, Stage::compute};
}
ScheduleNode node(std::string id, std::vector<ResourceUse> uses, std::vector<std::uint32_t> depends_on = {}) {
  return {std::move(id), std::move(uses), std::move(depends_on)};
}
std::vector<ScheduleResource> imports(std::size_t count) {
  std::vector<ScheduleResource> resources;
  for (std::size_t index = 0; index < count; ++index) resources.push_back({"r" + std::to_string(index), false, 100});
  return resources;
}
ErrorCode code_of(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources) {
  try {
    make_schedule(nodes, resources);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "accepted";
  return ErrorCode::internal;
}

using Order = std::vector<std::uint32_t>;

TEST(Schedule, AnEmptyGraphHasNothing) {
  const Schedule schedule = make_schedule({}, imports(2));
  EXPECT_TRUE(schedule.order.empty());
  EXPECT_TRUE(schedule.commands.empty());
  EXPECT_EQ(schedule.scratch_bytes, 0U);
}

TEST(Schedule, OrdersByRounds) {
  // The contract's example: A writes X, B reads X, C is independent.
  const Schedule schedule = make_schedule(
      {node("A", {use(0, Access::write)}), node("B", {use(0, Access::read)}), node("C", {use(1, Access::write)})},
      imports(2));
  EXPECT_EQ(schedule.order, (Order{0, 2, 1}));
  EXPECT_EQ(schedule.round, (Order{0, 1, 0}));
  EXPECT_EQ(schedule.dependencies[1], (Order{0}));
  EXPECT_EQ(schedule.barriers.size(), 1U);
}

TEST(Schedule, IndependentNodesNeedNoBarrier) {
  std::vector<ScheduleNode> nodes;
  for (std::uint32_t index = 0; index < 50; ++index) {
    nodes.push_back(node("n" + std::to_string(index), {use(50, Access::read), use(index, Access::write)}));
  }
  const Schedule schedule = make_schedule(nodes, imports(51));
  EXPECT_EQ(schedule.barriers.size(), 0U);
  EXPECT_EQ(schedule.commands.size(), 50U);
}

TEST(Schedule, SlicesOfOneResourceAreIndependent) {
  std::vector<ScheduleNode> nodes;
  for (std::uint32_t index = 0; index < 10; ++index) {
    nodes.push_back(node("n" + std::to_string(index), {part(0, index * 10, index * 10 + 10, Access::write)}));
  }
  EXPECT_EQ(make_schedule(nodes, imports(1)).barriers.size(), 0U);
  nodes.push_back(node("across", {part(0, 19, 21, Access::read)}));
  const Schedule schedule = make_schedule(nodes, imports(1));
  EXPECT_EQ(schedule.barriers.size(), 1U);
  EXPECT_EQ(schedule.dependencies[10], (Order{1, 2}));
}

TEST(Schedule, AChainNeedsOneBarrierPerLink) {
  std::vector<ScheduleNode> nodes;
  for (std::uint32_t index = 0; index < 100; ++index) {
    nodes.push_back(node("n" + std::to_string(index), {use(0, Access::read_write)}));
  }
  EXPECT_EQ(make_schedule(nodes, imports(1)).barriers.size(), 99U);
}

TEST(Schedule, IndependentChainsShareTheirBarriers) {
  std::vector<ScheduleNode> nodes;
  for (std::uint32_t index = 0; index < 40; ++index) {
    nodes.push_back(node("n" + std::to_string(index), {use(index % 4, Access::read_write)}));
  }
  EXPECT_EQ(make_schedule(nodes, imports(4)).barriers.size(), 9U);
}

TEST(ScheduleBarriers, EachHazardGetsExactlyItsBits) {
  const auto barrier_between = [](ResourceUse first, ResourceUse second) {
    const Schedule schedule = make_schedule({node("first", {first}), node("second", {second})}, imports(1));
    EXPECT_EQ(schedule.barriers.size(), 1U);
    return schedule.barriers.at(0);
  };
  EXPECT_EQ(barrier_between(use(0, Access::write), use(0, Access::read)),
            (ScheduleBarrier{compute, compute, compute, compute, 0}));
  EXPECT_EQ(barrier_between(use(0, Access::write, Stage::transfer), use(0, Access::read)),
            (ScheduleBarrier{transfer, transfer, compute, compute, 0}));
  EXPECT_EQ(barrier_between(use(0, Access::write), use(0, Access::read, Stage::indirect)),
            (ScheduleBarrier{compute, compute, indirect, indirect, 0}));
  EXPECT_EQ(barrier_between(use(0, Access::write), use(0, Access::write)),
            (ScheduleBarrier{compute, compute, compute, 0, compute}));
  EXPECT_EQ(barrier_between(use(0, Access::write), use(0, Access::read_write)),
            (ScheduleBarrier{compute, compute, compute, compute, compute}));
  // Only execution: a read has nothing to make available.
  EXPECT_EQ(barrier_between(use(0, Access::read), use(0, Access::write, Stage::transfer)),
            (ScheduleBarrier{compute, 0, transfer, 0, 0}));
  EXPECT_EQ(barrier_between(use(0, Access::read, Stage::indirect), use(0, Access::write)),
            (ScheduleBarrier{indirect, 0, compute, 0, 0}));
}

TEST(ScheduleBarriers, ALaterStageNeedsItsOwnVisibility) {
  // Both read what the first node wrote; the second one a round later (it waits for the first through resource 1) and
  // at another stage.
  const Schedule schedule = make_schedule(
      {node("write", {use(0, Access::write)}), node("read", {use(0, Access::read), use(1, Access::write)}),
       node("gated", {use(0, Access::read, Stage::indirect), use(1, Access::read)})},
      imports(2));
  ASSERT_EQ(schedule.barriers.size(), 2U);
  EXPECT_EQ(schedule.barriers[0], (ScheduleBarrier{compute, compute, compute, compute, 0}));
  EXPECT_EQ(schedule.barriers[1], (ScheduleBarrier{compute, compute, compute | indirect, compute | indirect, 0}));
}

TEST(ScheduleBarriers, WhatAnEarlierBarrierCoversIsNotRepeated) {
  // The transfer's write is visible to the compute stage since the first barrier.
  const Schedule schedule = make_schedule({node("upload", {use(0, Access::write, Stage::transfer)}),
                                           node("first", {use(0, Access::read), use(1, Access::write)}),
                                           node("second", {use(0, Access::read), use(1, Access::read)})},
                                          imports(2));
  ASSERT_EQ(schedule.barriers.size(), 2U);
  EXPECT_EQ(schedule.barriers[1], (ScheduleBarrier{compute, compute, compute, compute, 0}));
}

TEST(ScheduleBarriers, WritesWaitForAllReaders) {
  const Schedule schedule =
      make_schedule({node("a", {use(0, Access::read)}), node("b", {use(0, Access::read, Stage::transfer)}),
                     node("c", {use(0, Access::read, Stage::indirect)}), node("d", {use(0, Access::write)})},
                    imports(1));
  ASSERT_EQ(schedule.barriers.size(), 1U);
  EXPECT_EQ(schedule.barriers[0], (ScheduleBarrier{all_stages, 0, compute, 0, 0}));
  EXPECT_EQ(schedule.dependencies[3], (Order{0, 1, 2}));
}

TEST(ScheduleBarriers, AnExplicitDependencyIsAMemoryDependency) {
  const Schedule schedule =
      make_schedule({node("a", {use(0, Access::read)}), node("b", {use(1, Access::read)}, {0})}, imports(2));
  ASSERT_EQ(schedule.barriers.size(), 1U);
  EXPECT_EQ(schedule.barriers[0], (ScheduleBarrier{compute, compute, compute, compute, compute}));
  const Schedule unknown = make_schedule({node("a", {}), node("b", {}, {0})}, {});
  ASSERT_EQ(unknown.barriers.size(), 1U);
  const std::uint32_t writing = compute | transfer;
  EXPECT_EQ(unknown.barriers[0], (ScheduleBarrier{all_stages, writing, all_stages, all_stages, writing}));
}

TEST(Schedule, ExplicitDependenciesMayPointForward) {
  const Schedule schedule =
      make_schedule({node("a", {}, {1}), node("b", {}, {1})}, {});  // depending on itself is ignored
  EXPECT_EQ(schedule.order, (Order{1, 0}));
}

TEST(Schedule, RejectsCyclesAndNamesThem) {
  EXPECT_EQ(code_of({node("a", {}, {1}), node("b", {}, {0})}, {}), ErrorCode::dependency_cycle);
  // A forward dependency against a hazard.
  try {
    make_schedule({node("free", {}), node("a", {use(0, Access::write)}, {2}), node("b", {use(0, Access::read)}),
                   node("late", {}, {2})},
                  imports(1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::dependency_cycle);
    EXPECT_EQ(error.detail().values, "a after b after a");
  }
}

TEST(Schedule, RejectsWhatNoGraphMayDeclare) {
  EXPECT_EQ(code_of({node("a", {use(1, Access::read)})}, imports(1)), ErrorCode::unknown_id);
  EXPECT_EQ(code_of({node("a", {}, {7})}, {}), ErrorCode::unknown_id);
  EXPECT_EQ(code_of({node("a", {use(0, Access::write, Stage::indirect)})}, imports(1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({node("a", {part(0, 5, 4, Access::read)})}, imports(1)), ErrorCode::range_out_of_bounds);
  EXPECT_EQ(code_of({node("a", {part(0, 0, 65, Access::read)})}, {{"t", true, 64}}), ErrorCode::range_out_of_bounds);
}

// Nodes in a chain through import 0, each using the transients listed.
std::vector<ScheduleNode> chain_with_transients(const std::vector<std::vector<std::uint32_t>>& transients) {
  std::vector<ScheduleNode> nodes;
  for (const auto& used : transients) {
    std::vector<ResourceUse> uses{use(0, Access::read_write)};
    for (const std::uint32_t resource : used) uses.push_back(part(resource, 0, 8, Access::read_write));
    nodes.push_back(node("n" + std::to_string(nodes.size()), uses));
  }
  return nodes;
}

TEST(SchedulePlacement, ReusesMemoryAsTheContractSays) {
  // T0 100 bytes in nodes 0-1, T1 400 in 1-2, T2 200 in 2: T2 takes over T0's memory, which grows to 200.
  const std::vector<ScheduleResource> resources{
      {"in", false, 100}, {"T0", true, 100}, {"T1", true, 400}, {"T2", true, 200}};
  const Schedule schedule = make_schedule(chain_with_transients({{1}, {1, 2}, {2, 3}}), resources);
  EXPECT_EQ(schedule.logical_transient_count, 3U);
  EXPECT_EQ(schedule.logical_transient_bytes, 700U);
  EXPECT_EQ(schedule.placement[0], std::nullopt);
  EXPECT_EQ(schedule.placement[1], 0U);
  EXPECT_EQ(schedule.placement[2], 256U);
  EXPECT_EQ(schedule.placement[3], 0U);
  EXPECT_EQ(schedule.scratch_bytes, 256U + 512U);
  EXPECT_EQ(schedule.lifetimes[2], (ScheduleLifetime{1, 2}));
}

TEST(SchedulePlacement, TakesTheSmallestThatFits) {
  const std::vector<ScheduleResource> resources{{"in", false, 100},     {"small", true, 256}, {"large", true, 4096},
                                                {"middle", true, 1024}, {"late", true, 1000}, {"huge", true, 8192}};
  const Schedule schedule = make_schedule(chain_with_transients({{1, 2, 3}, {4}, {5}}), resources);
  EXPECT_EQ(schedule.placement[4], schedule.placement[3]);
  // Nothing holds it: the largest grows.
  EXPECT_EQ(schedule.placement[5], schedule.placement[2]);
  EXPECT_EQ(schedule.scratch_bytes, 256U + 8192U + 1024U);
}

TEST(SchedulePlacement, NodesOfOneRoundDoNotShare) {
  const std::vector<ScheduleResource> resources{
      {"a", true, 64}, {"b", true, 64}, {"unused", true, 64}, {"none", true, 0}};
  const Schedule schedule =
      make_schedule({node("x", {part(0, 0, 64, Access::write)}), node("y", {part(1, 0, 64, Access::write)}),
                     node("z", {part(3, 0, 0, Access::read)})},
                    resources);
  EXPECT_EQ(schedule.barriers.size(), 0U);
  EXPECT_NE(schedule.placement[0], schedule.placement[1]);
  EXPECT_EQ(schedule.placement[2], std::nullopt);
  EXPECT_TRUE(schedule.placement[3].has_value());
  EXPECT_EQ(schedule.logical_transient_bytes, 128U);
  EXPECT_EQ(schedule.scratch_bytes, 512U);
}

TEST(SchedulePlacement, ReuseIsCoveredByTheBarrier) {
  // The second transient is written at the transfer stage where the first was read by compute: bits that only reuse
  // needs.
  const std::vector<ScheduleResource> resources{{"in", false, 100}, {"first", true, 64}, {"second", true, 64}};
  const Schedule schedule =
      make_schedule({node("a", {use(0, Access::write), part(1, 0, 64, Access::write)}),
                     node("b", {use(0, Access::read), {2, 0, 64, Access::write, Stage::transfer}})},
                    resources);
  ASSERT_EQ(schedule.placement[1], schedule.placement[2]);
  ASSERT_EQ(schedule.barriers.size(), 1U);
  EXPECT_EQ(schedule.barriers[0], (ScheduleBarrier{compute, compute, compute | transfer, compute, transfer}));
}

TEST(SchedulePlacement, RejectsScratchBeyond64Bits) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63U;
  EXPECT_EQ(code_of({node("n", {part(0, 0, 1, Access::write), part(1, 0, 1, Access::write)})},
                    {{"a", true, half}, {"b", true, half}}),
            ErrorCode::limit_exceeded);
}

TEST(Schedule, LargeGraphsTakeLittleTime) {
  constexpr std::uint32_t node_count = 10000;
  const auto timed = [](const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources) {
    const std::clock_t start = std::clock();
    EXPECT_EQ(make_schedule(nodes, resources).order.size(), nodes.size());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  std::vector<ScheduleResource> resources = imports(1000);
  for (std::uint32_t index = 0; index < node_count; ++index) {
    resources.push_back({"t" + std::to_string(index), true, 4096});
  }
  std::vector<ScheduleNode> random;
  std::vector<ScheduleNode> chain;
  std::vector<ScheduleNode> slices;
  test::RandomBits bits(1);
  for (std::uint32_t index = 0; index < node_count; ++index) {
    const auto resource = static_cast<std::uint32_t>(bits.below(1000));
    const auto other = static_cast<std::uint32_t>(bits.below(1000));
    random.push_back(node("n", {use(resource, Access::read), use(other, Access::write),
                                part(1000 + index, 0, 4096, Access::read_write)}));
    chain.push_back(node("n", {part(1000 + index, 0, 4096, Access::write),
                               part(1000 + (index == 0 ? 0 : index - 1), 0, 4096, Access::read)}));
    slices.push_back(node("n", {part(0, index, index + 1, Access::write), part(1, 0, node_count, Access::read)}));
  }
  slices.push_back(node("all", {part(0, 0, node_count, Access::read), part(1, 0, node_count, Access::write)}));
  // Generous: optimized, each takes tens of milliseconds.
  EXPECT_LT(timed(random, resources), 2.0);
  EXPECT_LT(timed(chain, resources), 2.0);
  EXPECT_LT(timed(slices, resources), 2.0);
}

}  // namespace
}  // namespace tessera::detail
