#include <any>
#include <stdexcept>
#include <vector>

#include "graph_support.hpp"

namespace tessera::test {
namespace {

class GraphHostNodes : public GraphFixture {};

TEST_F(GraphHostNodes, HostConditionsDecideAtEncoding) {
  const Buffer buffer = words({0, 0, 0});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  int asked = 0;
  const auto bit = [&asked](int mask) {
    return [&asked, mask](const std::any& parameters) {
      ++asked;
      return (std::any_cast<int>(parameters) & mask) != 0;
    };
  };
  graph.add(set_word(word(import), 1));
  graph.add(HostConditional{
      .id = "outer",
      .evaluate = bit(1),
      .body = {add_word(word(import), 10),
               HostConditional{.id = "inner", .evaluate = bit(2), .body = {add_word(word(import), 100)}}}});
  graph.add(CopyNode{.source = import, .target = import, .target_offset = 4, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  const std::uint32_t expected[] = {1, 11, 1, 111};
  for (int parameters = 0; parameters < 4; ++parameters) {
    const Encoding encoding = execute(compiled, {}, {.parameters = parameters});
    EXPECT_EQ(read_word(buffer, 4), expected[parameters]);
    EXPECT_EQ(encoding.executed_nodes() + encoding.skipped_nodes(), 4U);
    ASSERT_EQ(encoding.nodes().size(), 4U);
    EXPECT_EQ(encoding.nodes()[0].outcome, NodeOutcome::executed);
    EXPECT_EQ(encoding.nodes()[1].outcome, (parameters & 1) != 0 ? NodeOutcome::executed : NodeOutcome::skipped);
  }
  EXPECT_EQ(asked, 2 + 4);  // what stands inside a body that is left out is not asked
}

TEST_F(GraphHostNodes, HostConditionsAndDeviceConditionsMix) {
  const Buffer buffer = words({1, 0});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  const auto asked = [](const std::any& parameters) { return std::any_cast<bool>(parameters); };
  graph.add(HostConditional{.id = "host",
                            .evaluate = asked,
                            .body = {Conditional{.predicate = word(import), .body = {add_word(word(import, 1), 1)}}}});
  graph.add(
      Conditional{.predicate = word(import),
                  .body = {HostConditional{.id = "host", .evaluate = asked, .body = {add_word(word(import, 1), 10)}}}});
  CompiledGraph compiled = graph.compile();
  execute(compiled, {}, {.parameters = false});
  EXPECT_EQ(read_word(buffer, 4), 0U);
  const Encoding encoding = execute(compiled, {}, {.parameters = true});
  EXPECT_EQ(read_word(buffer, 4), 11U);
  EXPECT_EQ(encoding.nodes().back().outcome, NodeOutcome::resolved_on_device);
  write(buffer, {0});
  execute(compiled, {}, {.parameters = true});
  EXPECT_EQ(read_word(buffer, 4), 11U);
}

TEST_F(GraphHostNodes, AThrowingConditionAbandonsTheEncodingOnly) {
  const Buffer buffer = words({0});
  Graph graph(device());
  bool fail = true;
  graph.add(HostConditional{.id = "host",
                            .evaluate =
                                [&](const std::any&) {
                                  if (fail) throw std::runtime_error("not now");
                                  return true;
                                },
                            .body = {add_word(word(graph.import(buffer)), 1)}});
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  EXPECT_THROW(compiled.encode(encoder), std::runtime_error);
  fail = false;
  compiled.encode(encoder);
  device().submit(std::move(encoder)).wait();
  EXPECT_EQ(read_word(buffer), 1U);
  Graph empty(device());
  expect_error(ErrorCode::missing_operand, [&] { empty.add(HostConditional{.id = "none"}); });
}

TEST_F(GraphHostNodes, CustomNodesRecordBetweenOthers) {
  const Buffer buffer = words({5, 0, 0});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  const DataView scratch = graph.transient_view(Format::uint32, 1);
  graph.add(add_word(word(import), 1, "before"));
  graph.add(CustomNode{
      .id = "mine",
      .uses = {{.view = word(import), .access = NodeAccess::read}, {.view = scratch, .access = NodeAccess::write}},
      .record = [=](Encoder& encoder, const NodeContext& context) {
        const Chunk from = context.chunks(VectorView(word(import))).front();
        const Chunk to = context.chunks(VectorView(scratch)).front();
        encoder.copy(from.buffer, from.byte_offset, to.buffer, to.byte_offset, 4);
        EXPECT_EQ(std::any_cast<int>(context.parameters()), 3);
      }});
  graph.add(add_word(scratch, 100, "after"));
  graph.add(CopyNode{.source = scratch.buffer, .target = import, .target_offset = 4, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  const Encoding encoding = execute(compiled, {}, {.parameters = 3});
  EXPECT_EQ(encoding.executed_nodes(), 4U);
  EXPECT_EQ(read(buffer), (std::vector<std::uint32_t>{6, 106, 0}));
  const Buffer other = words({50, 0, 0});
  execute(compiled, {rebind(import, other)}, {.parameters = 3});
  EXPECT_EQ(read(other), (std::vector<std::uint32_t>{51, 151, 0}));
}

TEST_F(GraphHostNodes, CustomNodesNameWhatTheyWaitFor) {
  const auto nothing = [](Encoder&, const NodeContext&) {};
  const auto order = [&](std::vector<CustomNode> nodes) {
    Graph graph(device());
    for (const CustomNode& node : nodes) graph.add(node);
    return graph.compile().statistics().node_order;
  };
  EXPECT_EQ(order({{.id = "a", .depends_on = {"c"}, .record = nothing},
                   {.id = "b", .record = nothing},
                   {.id = "c", .record = nothing}}),
            (std::vector<std::string>{"b", "c", "a"}));
  expect_error(ErrorCode::unknown_id, [&] { order({{.id = "a", .depends_on = {"z"}, .record = nothing}}); });
  expect_error(ErrorCode::dependency_cycle, [&] {
    order({{.id = "a", .depends_on = {"b"}, .record = nothing}, {.id = "b", .depends_on = {"a"}, .record = nothing}});
  });
  expect_error(ErrorCode::missing_operand, [&] { order({{.id = "a"}}); });
}

TEST_F(GraphHostNodes, StepsCoverTheGraphInOrder) {
  const Buffer buffer = words({0, 1});
  Graph graph(device());
  const ImportedBuffer import = graph.import(buffer);
  const DataView scratch = graph.transient_view(Format::uint32, 1);
  graph.add(set_word(scratch, 1));
  for (int index = 0; index < 5; ++index) graph.add(add_word(scratch, 10));
  int asked = 0;
  graph.add(HostConditional{
      .id = "host", .evaluate = [&](const std::any&) { return ++asked == 1; }, .body = {add_word(scratch, 100)}});
  graph.add(CopyNode{.source = scratch.buffer, .target = import, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  Execution execution = compiled.execute_in_steps({.invocations = 64});
  ASSERT_GT(execution.steps().size(), 2U);
  EXPECT_EQ(execution.steps().front().first_node, 0U);
  EXPECT_EQ(execution.steps().back().next_node, 8U);
  std::uint64_t nodes = 0;
  while (!execution.done()) {
    Encoder encoder = device().encoder();
    nodes += execution.encode_next(encoder).executed_nodes();
    device().submit(std::move(encoder));
  }
  EXPECT_EQ(nodes, 8U);
  EXPECT_EQ(asked, 1);  // once for all steps
  EXPECT_EQ(read_word(buffer), 151U);
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::execution_order, [&] { execution.encode_next(encoder); });
  expect_error(ErrorCode::invalid_argument, [&] { compiled.execute_in_steps({}); });
}

TEST_F(GraphHostNodes, InspectionNamesWhatWasCompiled) {
  Graph graph(device());
  const ImportedVector declared = graph.declare({.id = "column", .format = Format::float32, .chunk_lengths = {3, 4}});
  const DataView scratch = graph.transient_view(Format::uint32, 2, "scratch");
  graph.add(first_words(declared, scratch, "collect words"));
  graph.add(HostConditional{
      .id = "sometimes", .evaluate = [](const std::any&) { return true; }, .body = {add_word(scratch, 1)}});
  const CompiledGraph compiled = graph.compile();
  const std::string json = compiled.inspect_json();
  for (const char* text : {"\"column\"", "\"scratch\"", "collect words/collect", "sometimes", "\"schema\""}) {
    EXPECT_NE(json.find(text), std::string::npos) << text;
  }
  EXPECT_NE(compiled.inspect_dot().find("digraph"), std::string::npos);
}

}  // namespace
}  // namespace tessera::test
