#include "graph/steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tessera/error.hpp>

#include "graph/schedule.hpp"
#include "support/barrier_oracle.hpp"
#include "support/random_data.hpp"
#include "support/random_graphs.hpp"

namespace tessera::detail {
namespace {

std::vector<Workload> invocations(std::initializer_list<std::uint64_t> counts) {
  std::vector<Workload> costs;
  for (const std::uint64_t count : counts) costs.push_back({.invocations = count});
  return costs;
}

/// The contract's notation; `*` marks an oversized step.
std::string notation(const std::vector<ExecutionStep>& steps) {
  std::string text;
  for (const ExecutionStep& step : steps) {
    if (!text.empty()) text += ' ';
    text += '[' + std::to_string(step.first_node) + ',' + std::to_string(step.next_node) + ')';
    if (step.exceeds_budget) text += '*';
  }
  return text;
}

ErrorCode code_of(const std::vector<Workload>& costs, const WorkBudget& budget) {
  try {
    plan_steps(costs, budget);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "accepted";
  return ErrorCode::internal;
}

TEST(Steps, AreThoseOfTheContract) {
  const auto steps = plan_steps(invocations({100, 200, 50, 0, 300, 10}), {.invocations = 250});
  EXPECT_EQ(notation(steps), "[0,1) [1,3) [3,4) [4,5)* [5,6)");
  EXPECT_EQ(steps[1].invocations, 250U);
  EXPECT_EQ(steps[3].invocations, 300U);
}

TEST(Steps, AnEmptyGraphHasNone) { EXPECT_EQ(notation(plan_steps({}, {.invocations = 1})), ""); }

TEST(Steps, ALimitReachedExactlyEndsAStep) {
  EXPECT_EQ(notation(plan_steps(invocations({10, 0, 5, 5, 0}), {.invocations = 10})), "[0,1) [1,4) [4,5)");
}

TEST(Steps, AnyLimitEndsAStep) {
  const std::vector<Workload> costs{{1, 10, 0}, {1, 10, 0}, {1, 0, 30}, {1, 0, 8}, {1, 0, 0}, {1, 0, 0}};
  EXPECT_EQ(notation(plan_steps(costs, {.invocations = 100})), "[0,6)");
  EXPECT_EQ(notation(plan_steps(costs, {.invocations = 100, .nodes = 4})), "[0,4) [4,6)");
  EXPECT_EQ(notation(plan_steps(costs, {.invocations = 100, .read_bytes = 15})), "[0,1) [1,6)");
  EXPECT_EQ(notation(plan_steps(costs, {.invocations = 100, .write_bytes = 20})), "[0,2) [2,3)* [3,6)");
  EXPECT_EQ(notation(plan_steps(costs, {.invocations = 3, .nodes = 2, .write_bytes = 30})), "[0,2) [2,3) [3,5) [5,6)");
  EXPECT_EQ(plan_steps(costs, {.invocations = 100})[0].read_bytes, 20U);
  EXPECT_EQ(plan_steps(costs, {.invocations = 100})[0].write_bytes, 38U);
}

TEST(Steps, RejectsALimitOfZero) {
  EXPECT_EQ(code_of({}, {}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({}, {.invocations = 1, .nodes = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({}, {.invocations = 1, .read_bytes = 0}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({}, {.invocations = 1, .write_bytes = 0}), ErrorCode::invalid_argument);
}

TEST(Steps, SumsStayWithin64Bits) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  // The limit itself keeps limited sums in range.
  EXPECT_EQ(notation(plan_steps(invocations({most, most, 1}), {.invocations = 5})), "[0,1)* [1,2)* [2,3)");
  EXPECT_EQ(notation(plan_steps(invocations({1, most, 0}), {.invocations = most})), "[0,1) [1,2) [2,3)");
  // Without a limit the step ends where its sum would no longer be exact.
  const auto steps = plan_steps(std::vector<Workload>{{0, most, 0}, {0, 2, 0}}, {.invocations = 5});
  EXPECT_EQ(notation(steps), "[0,1) [1,2)");
}

// Each step is an encoding of its own behind an opening barrier; barriers between two steps may be left out.
TEST(Steps, AnyCutOfAScheduleIsRight) {
  for (std::uint64_t seed = 0; seed < 500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const test::RandomGraph graph = test::random_graph(seed);
    const Schedule schedule = make_schedule(graph.nodes, graph.resources);
    test::RandomBits bits(seed);
    std::vector<Workload> costs;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) costs.push_back({.invocations = bits.below(100)});
    const auto steps = plan_steps(costs, {.invocations = 1 + bits.below(300)});

    std::vector<RecordedCommand> commands;
    std::size_t step = 0;
    std::uint64_t position = 0;
    for (const RecordedCommand& command : test::record(schedule)) {
      if (command.kind == RecordedCommand::Kind::node) {
        if (step < steps.size() && steps[step].first_node == position) {
          if (!commands.empty() && commands.back().kind == RecordedCommand::Kind::barrier) commands.pop_back();
          commands.push_back(test::recorded_barrier(full_barrier));
          ++step;
        }
        ++position;
      }
      commands.push_back(command);
    }
    EXPECT_EQ(step, steps.size());
    EXPECT_THAT(test::check_recording({graph.nodes, graph.resources, schedule.placement}, commands),
                testing::IsEmpty());
  }
}

}  // namespace
}  // namespace tessera::detail
