#include <tessera/graph/graph.hpp>

#include <array>
#include <stdexcept>
#include <vector>

#include <tessera/ops/arithmetic.hpp>

#include "graph_support.hpp"

namespace tessera::test {
namespace {

class GraphTest : public GraphFixture {};

TEST_F(GraphTest, TheSameChunksAreOneImport) {
  const Buffer buffer = words({1, 2, 3, 4});
  Graph graph(device());
  const Vector vector(Format::uint32,
                      {{.buffer = buffer, .length = 2}, {.buffer = buffer, .byte_offset = 8, .length = 2}});
  const Vector equal(Format::uint32,
                     {{.buffer = buffer, .length = 2}, {.buffer = buffer, .byte_offset = 8, .length = 2}});
  const Vector other(Format::uint32, {{.buffer = buffer, .length = 4}});
  const ImportedVector first = graph.import(vector);
  EXPECT_EQ(graph.import(vector).import_index(), first.import_index());
  EXPECT_EQ(graph.import(equal).import_index(), first.import_index());
  EXPECT_NE(graph.import(other).import_index(), first.import_index());
  EXPECT_EQ(graph.import(buffer).import_index(), graph.import(buffer).import_index());
  EXPECT_EQ(first.view().length(), 4U);
}

TEST_F(GraphTest, IdsAreOneNamespace) {
  Graph graph(device());
  graph.import(words({1}), "a");
  graph.transient(4, "b");
  expect_error(ErrorCode::duplicate_id, [&] { graph.transient(4, "a"); });
  expect_error(ErrorCode::duplicate_id, [&] { graph.import(words({1}), "b"); });
  expect_error(ErrorCode::duplicate_id, [&] { graph.declare({.id = "b", .chunk_lengths = {1}}); });
  EXPECT_NO_THROW(graph.transient(4));
}

TEST_F(GraphTest, RejectsForeignDevicesAndGraphs) {
  Device elsewhere = open_device();
  Graph graph(device());
  Graph other(device());
  const Buffer there = elsewhere.allocate(4);
  expect_error(ErrorCode::foreign_device, [&] { graph.import(there); });
  expect_error(ErrorCode::foreign_device,
               [&] { graph.import(Vector(Format::uint32, {{.buffer = there, .length = 1}})); });
  expect_error(ErrorCode::missing_operand, [&] { graph.import(Buffer{}); });
  const GraphBuffer foreign = other.transient(16);
  expect_error(ErrorCode::foreign_graph, [&] { graph.add(set_word(foreign.view<std::uint32_t>(1), 1)); });
  CompiledGraph compiled = graph.compile();
  Encoder encoder = elsewhere.encoder();
  expect_error(ErrorCode::foreign_device, [&] { compiled.encode(encoder); });
}

TEST_F(GraphTest, HandMadeViewsAreCheckedWhenUsed) {
  Graph graph(device());
  const GraphBuffer buffer = graph.transient(16);
  DataView view = buffer.view<std::uint32_t>(1);
  view.byte_offset = 16;
  expect_error(ErrorCode::range_out_of_bounds, [&] { graph.add(add_word(view, 1)); });
  view.byte_offset = 2;
  expect_error(ErrorCode::layout_mismatch, [&] { graph.add(add_word(view, 1)); });
  view.byte_offset = 0;
  view.buffer = GraphBuffer(graph.identity(), 99, 16);
  expect_error(ErrorCode::unknown_id, [&] { graph.add(add_word(view, 1)); });
}

TEST_F(GraphTest, CompilationFreezes) {
  Graph graph(device());
  const GraphBuffer buffer = graph.transient(16);
  const CompiledGraph compiled = graph.compile();
  expect_error(ErrorCode::graph_frozen, [&] { graph.compile(); });
  expect_error(ErrorCode::graph_frozen, [&] { graph.transient(4); });
  expect_error(ErrorCode::graph_frozen, [&] { graph.import(words({1})); });
  expect_error(ErrorCode::graph_frozen, [&] { graph.declare({.chunk_lengths = {1}}); });
  expect_error(ErrorCode::graph_frozen, [&] { graph.declare_buffer("x", 4); });
  expect_error(ErrorCode::graph_frozen, [&] { graph.add(set_word(buffer.view<std::uint32_t>(1), 1)); });
  EXPECT_NO_THROW(buffer.view<std::uint32_t>(4));
}

TEST_F(GraphTest, ExplicitIdsAreUniqueAndOthersAreMadeSo) {
  Graph graph(device());
  const DataView target = graph.transient(4).view<std::uint32_t>(1);
  graph.add(add_word(target, 1, "mine"));
  expect_error(ErrorCode::duplicate_id, [&] { graph.add(add_word(target, 1, "mine")); });
  graph.add(add_word(target, 1));
  graph.add(add_word(target, 1));
  const Operation twice = add_word(target, 1, "again");
  graph.add(Composite{.id = "group", .operations = {twice, twice}});
  graph.add(Composite{.operations = {add_word(target, 1, "bare")}});
  const CompiledGraph compiled = graph.compile();
  EXPECT_EQ(compiled.statistics().node_order,
            (std::vector<std::string>{"mine/add", "add word/add", "add word-2/add", "group/again/add",
                                      "group/again-2/add", "bare/add"}));
}

TEST_F(GraphTest, NestedGroupsKeepOrderAndAddNoNodes) {
  const auto order = [&](const Operation& operation) {
    Graph graph(device());
    graph.add(operation);
    return graph.compile().statistics().node_order.size();
  };
  EXPECT_EQ(order(Composite{.id = "empty"}), 0U);
  EXPECT_EQ(order(Composite{.operations = {Composite{.id = "inner", .operations = {Composite{}}}}}), 0U);
}

TEST_F(GraphTest, AFailingOperationLeavesNothingBehind) {
  const Buffer buffer = words({5});
  Graph graph(device());
  const DataView target = graph.import(buffer).view<std::uint32_t>(1);
  const Vector other = tessera::upload<std::uint32_t>(device(), std::vector<std::uint32_t>{1});
  const auto failing = [&](detail::NodeSink& sink) {
    sink.import(other);
    sink.transient(64, "scratch");
    sink.constant({std::byte{1}});
    sink.add(Operation(add_word(target, 1)), "first");
    throw std::runtime_error("the operation failed");
  };
  const Operation operation = TestOperation{.name = "failing", .lower = failing, .id = "failing"};
  EXPECT_THROW(graph.add(operation), std::runtime_error);
  EXPECT_THROW(graph.add(Composite{.id = "group", .operations = {add_word(target, 1), operation}}), std::runtime_error);
  // Names, imports and scratch of the failed operation are free again.
  graph.transient(4, "failing/scratch");
  graph.add(TestOperation{.name = "failing",
                          .lower = [&](detail::NodeSink& sink) { sink.add(Operation(add_word(target, 2)), "first"); },
                          .id = "failing"});
  CompiledGraph compiled = graph.compile();
  EXPECT_EQ(compiled.statistics().node_order, std::vector<std::string>{"failing/first/add"});
  EXPECT_EQ(compiled.statistics().import_count, 1U);
  execute(compiled);
  EXPECT_EQ(read_word(buffer), 7U);
}

TEST_F(GraphTest, TransientLikeMirrorsChunks) {
  Graph graph(device());
  const ImportedVector shape =
      graph.declare({.id = "shape", .format = Format::float32, .chunk_lengths = {0, 3, 0, 5, 0}});
  const VectorView scratch = graph.transient_like(shape, Format::uint32, "scratch");
  ASSERT_EQ(scratch.chunk_list()->chunks.size(), 5U);
  EXPECT_EQ(scratch.length(), 8U);
  EXPECT_EQ(scratch.format(), Format::uint32);
  const auto& chunks = scratch.chunk_list()->chunks;
  EXPECT_EQ(chunks[0].resource, chunks[2].resource);
  EXPECT_EQ(chunks[0].resource, chunks[4].resource);
  EXPECT_NE(chunks[1].resource, chunks[3].resource);
  const VectorView part = graph.transient_like(shape.view().slice(2, 3), Format::uint32, "part");
  std::vector<std::uint64_t> lengths;
  for (const auto& chunk : part.chunk_list()->chunks) lengths.push_back(chunk.length);
  EXPECT_EQ(lengths, (std::vector<std::uint64_t>{1, 0, 2}));
  EXPECT_EQ(graph.transient_like(shape.view().slice(0, 0), Format::uint32, "none").length(), 0U);
}

TEST_F(GraphTest, ReinterpretedRowsAreTheSameBits) {
  const std::vector<float> values{1.0F, -0.0F, 2.5F, -1.0F};
  const Buffer result = upload<std::uint32_t>(std::vector<std::uint32_t>(3));
  Graph graph(device());
  const Vector vector = tessera::upload<float>(device(), std::vector<float>{values[0]},
                                               std::vector<float>{values[1], values[2], values[3]});
  const VectorView bits = graph.import(vector).view().slice(1, 3).reinterpret(Format::uint32);
  EXPECT_EQ(bits.format(), Format::uint32);
  EXPECT_EQ(bits.length(), 3U);
  EXPECT_EQ(bits.first_row(), 1U);
  graph.add(Elementwise{.a = bits, .output = graph.import(result).view<std::uint32_t>(3)});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(download<std::uint32_t>(result), (std::vector<std::uint32_t>{0x80000000, 0x40200000, 0xbf800000}));
}

TEST_F(GraphTest, ReinterpretKeepsTheCountAndRejectsAnotherSize) {
  Graph graph(device());
  const VectorView rows = graph.transient(32).view<float>(8);
  const DataView count = graph.transient(4).view<std::uint32_t>(1);
  EXPECT_EQ(rows.with_count(count).reinterpret(Format::sint32).count(), count);
  EXPECT_EQ(rows.reinterpret(Format::float32).chunk_list(), rows.chunk_list());
  expect_error(ErrorCode::format_mismatch, [&] { (void)rows.reinterpret(Format::uint8); });
  expect_error(ErrorCode::format_mismatch, [&] { (void)rows.reinterpret(Format::float64); });
}

TEST_F(GraphTest, LimitsAreEnforcedBeforeAnythingIsBuilt) {
  Graph graph(device());
  expect_error(ErrorCode::limit_exceeded, [&] { graph.transient(device().limits().largest_buffer_bytes + 1); });
  expect_error(ErrorCode::limit_exceeded, [&] { graph.transient_view(Format::float64, std::uint64_t{1} << 62); });
  const DataView target = graph.transient(4).view<std::uint32_t>(1);
  expect_error(ErrorCode::limit_exceeded,
               [&] { graph.add(Loop{.maximum_iterations = 0xffffffff, .body = {add_word(target, 1)}}); });
  const std::uint64_t largest = device().limits().largest_workgroup_count;
  expect_error(ErrorCode::limit_exceeded,
               [&] { detail::fold_workgroups(largest * largest * largest + 1, device().limits(), "test"); });
}

TEST(FoldWorkgroups, FollowsTheFormula) {
  DeviceLimits limits;
  limits.largest_workgroup_count = 3;
  using Groups = std::array<std::uint32_t, 3>;
  EXPECT_EQ(detail::fold_workgroups(0, limits, "test"), (Groups{1, 1, 1}));
  EXPECT_EQ(detail::fold_workgroups(3, limits, "test"), (Groups{3, 1, 1}));
  EXPECT_EQ(detail::fold_workgroups(10, limits, "test"), (Groups{3, 3, 2}));
  EXPECT_EQ(detail::fold_workgroups(27, limits, "test"), (Groups{3, 3, 3}));
  expect_error(ErrorCode::limit_exceeded, [&] { detail::fold_workgroups(28, limits, "test"); });
}

}  // namespace
}  // namespace tessera::test
