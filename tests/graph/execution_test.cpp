#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "device/internal.hpp"
#include "graph/compiled_state.hpp"
#include "graph/encoding_state.hpp"
#include "graph_support.hpp"
#include "support/barrier_oracle.hpp"

namespace tessera::test {
namespace {

class GraphExecution : public GraphFixture {
 protected:
  static std::vector<detail::ScheduleResource> resources_of(const detail::Program& program) {
    std::vector<detail::ScheduleResource> resources;
    for (const detail::GraphResource& resource : program.parts.resources) {
      resources.push_back(
          {.id = resource.id, .transient = resource.kind == detail::ResourceKind::transient, .bytes = resource.bytes});
    }
    return resources;
  }
};

TEST_F(GraphExecution, CopiesAndFillsEveryAlignment) {
  std::vector<std::uint32_t> values(20011);
  std::iota(values.begin(), values.end(), 1U);
  const Buffer source = words(values);
  const Buffer target = words(std::vector<std::uint32_t>(values.size() + 16, 0xaaaaaaaa));
  Graph graph(device());
  const ImportedBuffer from = graph.import(source);
  const ImportedBuffer to = graph.import(target);
  // One import is 16-byte aligned, the other not; then both are; then a fill in the middle.
  graph.add(CopyNode{.source = from, .source_offset = 4, .target = to, .target_offset = 8, .bytes = 4 * 9001});
  graph.add(CopyNode{
      .source = from, .source_offset = 4 * 10000, .target = to, .target_offset = 4 * 10000, .bytes = 4 * 10011});
  graph.add(FillNode{.target = to, .offset = 4 * 15001, .bytes = 4 * 4099, .word = 7});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  std::vector<std::uint32_t> expected(values.size() + 16, 0xaaaaaaaa);
  std::copy_n(values.begin() + 1, 9001, expected.begin() + 2);
  std::copy_n(values.begin() + 10000, 10011, expected.begin() + 10000);
  std::fill_n(expected.begin() + 15001, 4099, 7U);
  EXPECT_EQ(read(target), expected);
  EXPECT_EQ(read(source), values);
}

TEST_F(GraphExecution, RejectsBadCopiesAndFills) {
  Graph graph(device());
  const GraphBuffer buffer = graph.transient(64);
  const auto copy = [&](std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    return [=, &graph] {
      graph.add(
          CopyNode{.source = buffer, .source_offset = from, .target = buffer, .target_offset = to, .bytes = bytes});
    };
  };
  EXPECT_NO_THROW(copy(0, 32, 32)());
  EXPECT_NO_THROW(copy(0, 0, 0)());
  expect_error(ErrorCode::alias, copy(0, 16, 32));
  expect_error(ErrorCode::layout_mismatch, copy(2, 32, 4));
  expect_error(ErrorCode::layout_mismatch, copy(0, 32, 3));
  expect_error(ErrorCode::range_out_of_bounds, copy(0, 36, 32));
  expect_error(ErrorCode::range_out_of_bounds,
               [&] { graph.add(FillNode{.target = buffer, .offset = 64, .bytes = 4}); });
  expect_error(ErrorCode::layout_mismatch, [&] { graph.add(FillNode{.target = buffer, .offset = 2, .bytes = 4}); });
}

TEST_F(GraphExecution, TransientsShareMemoryAndKeepTheirContentsWhileAlive) {
  // A chain of scratch words, each the former plus one: with reuse, two slots are enough.
  const Buffer result = words({0});
  Graph graph(device());
  const DataView output = word(graph.import(result));
  std::vector<GraphBuffer> chain;
  for (int index = 0; index < 20; ++index) chain.push_back(graph.transient(4096));
  graph.add(set_word(word(chain[0]), 100));
  for (std::size_t index = 1; index < chain.size(); ++index) {
    graph.add(CopyNode{.source = chain[index - 1], .target = chain[index], .bytes = 4});
    graph.add(add_word(word(chain[index]), 1));
  }
  graph.add(CopyNode{.source = chain.back(), .target = output.buffer, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  const GraphStatistics& statistics = compiled.statistics();
  EXPECT_EQ(statistics.logical_transient_count, 20U);
  EXPECT_EQ(statistics.logical_transient_bytes, 20U * 4096);
  EXPECT_LE(statistics.physical_transient_bytes, 3U * 4096);
  EXPECT_EQ(statistics.node_count, 40U);
  EXPECT_EQ(statistics.dispatch_count, 40U);
  EXPECT_GT(statistics.invocations, 0U);
  for (int round = 0; round < 3; ++round) {
    write(result, {0});
    const Encoding encoding = execute(compiled);
    EXPECT_EQ(read_word(result), 119U);
    EXPECT_EQ(encoding.executed_nodes(), 40U);
    EXPECT_EQ(encoding.skipped_nodes(), 0U);
    EXPECT_EQ(encoding.barriers(), statistics.barrier_count);
  }
}

TEST_F(GraphExecution, SeveralEncodingsInOneEncoderRunInOrder) {
  const Buffer counter = words({0});
  Graph graph(device());
  graph.add(add_word(word(graph.import(counter)), 3));
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  for (int round = 0; round < 50; ++round) compiled.encode(encoder);
  device().submit(std::move(encoder)).wait();
  EXPECT_EQ(read_word(counter), 150U);
}

TEST_F(GraphExecution, EncodersMayBeSubmittedInAnotherOrderThanEncoded) {
  const Buffer first_buffer = words({10});
  const Buffer second_buffer = words({20});
  Graph graph(device());
  const ImportedBuffer import = graph.declare_buffer("counter", 4);
  graph.add(add_word(word(import), 1));
  CompiledGraph compiled = graph.compile();
  Encoder first = device().encoder();
  Encoder second = device().encoder();
  compiled.encode(first, {rebind(import, first_buffer)});
  compiled.encode(second, {rebind(import, second_buffer)});
  compiled.encode(second, {rebind(import, second_buffer)});
  device().submit(std::move(second));
  device().submit(std::move(first)).wait();
  EXPECT_EQ(read_word(first_buffer), 11U);
  EXPECT_EQ(read_word(second_buffer), 22U);
}

TEST_F(GraphExecution, EverythingUsedLivesUntilTheSubmissionIsDone) {
  const Buffer result = words({0});
  Fence fence;
  {
    Graph graph(device());
    const ImportedBuffer import = graph.declare_buffer("source", 4 * 5000);
    const ImportedBuffer target = graph.import(result);
    const GraphBuffer scratch = graph.transient(4 * 5000);
    graph.add(CopyNode{.source = import, .target = scratch, .bytes = 4 * 5000});
    graph.add(CopyNode{.source = scratch, .source_offset = 4 * 4999, .target = target, .bytes = 4});
    CompiledGraph compiled = graph.compile();
    Encoder encoder = device().encoder();
    compiled.encode(encoder, {rebind(import, words(std::vector<std::uint32_t>(5000, 77)))});
    fence = device().submit(std::move(encoder));
  }
  fence.wait();
  EXPECT_EQ(read_word(result), 77U);
}

TEST_F(GraphExecution, ClonesRunAtTheSameTime) {
  Graph graph(device());
  const ImportedBuffer import = graph.declare_buffer("counter", 8);
  const GraphBuffer scratch = graph.transient(8);
  graph.add(CopyNode{.source = import, .target = scratch, .bytes = 4});
  graph.add(add_word(word(scratch), 5));
  graph.add(CopyNode{.source = scratch, .target = import, .target_offset = 4, .bytes = 4});
  const CompiledGraph original = graph.compile();
  constexpr std::uint32_t thread_count = 4;
  std::vector<Buffer> buffers;
  for (std::uint32_t index = 0; index < thread_count; ++index) buffers.push_back(words({index * 10, 0}));
  std::vector<std::thread> threads;
  for (std::uint32_t index = 0; index < thread_count; ++index) {
    threads.emplace_back([&, index] {
      Device mine = device();
      CompiledGraph clone = original.clone();
      for (int round = 0; round < 10; ++round) {
        Encoder encoder = mine.encoder();
        clone.encode(encoder, {rebind(import, buffers[index])});
        mine.submit(std::move(encoder));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  device().wait_idle();
  for (std::uint32_t index = 0; index < thread_count; ++index) EXPECT_EQ(read_word(buffers[index], 4), index * 10 + 5);
}

TEST_F(GraphExecution, RecordedBarriersSatisfyTheOracle) {
  const Buffer buffer = words({1, 2, 3, 4});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  const DataView predicate = word(import, 3);
  const GraphBuffer scratch = graph.transient(16);
  graph.add(set_word(word(scratch), 4));
  graph.add(Loop{.maximum_iterations = 3,
                 .predicate = predicate,
                 .iterations = word(import, 2),
                 .body = {add_word(word(scratch), 1), add_word(predicate, 0xffffffff)}});
  graph.add(HostConditional{.id = "asked",
                            .evaluate = [](const std::any& parameters) { return std::any_cast<bool>(parameters); },
                            .body = {add_word(word(scratch), 100)}});
  graph.add(CopyNode{.source = scratch, .target = import, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  const detail::Program& program = *compiled.state().program;
  const std::vector<detail::ScheduleResource> resources = resources_of(program);
  std::vector<detail::RecordedCommand> recorded;
  for (const bool answer : {true, false, true}) {
    const Encoding encoding = execute(compiled, {}, {.parameters = answer});
    const auto commands = detail::recorded_commands(encoding.state());
    recorded.insert(recorded.end(), commands.begin(), commands.end());
  }
  const DeclaredGraph declared{program.schedule_nodes, resources, program.schedule.placement};
  for (const Violation& violation : check_recording(declared, recorded)) ADD_FAILURE() << violation;
  // Without any of its barriers the recording must not pass, else the check says nothing.
  std::erase_if(recorded, [](const auto& command) { return command.kind == detail::RecordedCommand::Kind::barrier; });
  EXPECT_FALSE(check_recording(declared, recorded).empty());
}

TEST_F(GraphExecution, TimesEveryNode) {
  if (device().limits().timestamp_nanoseconds == 0) GTEST_SKIP() << "the queue has no timestamps";
  const Buffer buffer = words({1, 0});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  graph.add(add_word(word(import), 1, "first"));
  graph.add(HostConditional{
      .id = "never", .evaluate = [](const std::any&) { return false; }, .body = {add_word(word(import), 50)}});
  graph.add(add_word(word(import), 1, "last"));
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  const Encoding encoding = compiled.encode(encoder, {}, {.timing = Timing::per_node});
  expect_error(ErrorCode::execution_order, [&] { encoding.node_nanoseconds(); });
  device().submit(std::move(encoder)).wait();
  EXPECT_EQ(read_word(buffer), 3U);
  const std::vector<double> times = encoding.node_nanoseconds();
  ASSERT_EQ(times.size(), 3U);
  ASSERT_EQ(encoding.nodes().size(), 3U);
  EXPECT_EQ(encoding.nodes()[1].outcome, NodeOutcome::skipped);
  EXPECT_GE(times[0], 0);
  EXPECT_EQ(times[1], 0);
  EXPECT_NE(compiled.chrome_trace(encoding).find("first/add"), std::string::npos);
  EXPECT_TRUE(execute(compiled).node_nanoseconds().empty());
}

TEST_F(GraphExecution, RunsOneOperationAtOnce) {
  const Buffer buffer = words({41});
  const Vector vector(Format::uint32, {{.buffer = buffer, .length = 1}});
  const auto lower = [&](detail::NodeSink& sink) {
    const VectorView view = sink.import(vector);
    const detail::GraphChunk& chunk = view.chunk_list()->chunks.front();
    sink.add(Operation(add_word({.buffer = GraphBuffer(sink.graph(), chunk.resource, 4),
                                 .format = Format::uint32,
                                 .length = 1,
                                 .byte_offset = 0,
                                 .byte_stride = 4},
                                1)),
             "add");
  };
  tessera::run(device(), TestOperation{.name = "once", .lower = lower});
  EXPECT_EQ(read_word(buffer), 42U);
}

TEST_F(GraphExecution, AnEmptyGraphEncodes) {
  Graph graph(device());
  CompiledGraph compiled = graph.compile();
  EXPECT_EQ(execute(compiled).executed_nodes(), 0U);
  EXPECT_TRUE(compiled.execute_in_steps({.invocations = 1}).done());
}

TEST_F(GraphExecution, ALostDeviceIsReported) {
  Device own = open_device();
  Graph graph(own);
  graph.add(set_word(word(graph.transient(4)), 1));
  CompiledGraph compiled = graph.compile();
  Graph late(own);
  Encoder encoder = own.encoder();
  detail::simulate_device_loss(*own.state());
  expect_error(ErrorCode::device_lost, [&] { compiled.encode(encoder); });
  expect_error(ErrorCode::device_lost, [&] { late.compile(); });
}

TEST_F(GraphExecution, ReportsMemoryThatRunsOutAndStaysUsable) {
  Device own = open_device();
  for (std::uint64_t failing = 1;; ++failing) {
    Graph graph(own);
    const GraphBuffer scratch = graph.transient(std::uint64_t{64} << 20);
    graph.add(FillNode{.target = scratch, .bytes = 4096, .word = 1});
    const std::uint64_t before = own.memory().used_bytes;
    detail::fail_allocation_after(*own.state(), failing);
    bool failed = false;
    try {
      CompiledGraph compiled = graph.compile();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      failed = true;
    }
    detail::fail_allocation_after(*own.state(), 0);
    own.wait_idle();
    EXPECT_EQ(own.memory().used_bytes, before);
    if (!failed) break;
    EXPECT_NO_THROW(graph.compile());  // the graph is as before
    ASSERT_LT(failing, 50U);
  }
}

}  // namespace
}  // namespace tessera::test
