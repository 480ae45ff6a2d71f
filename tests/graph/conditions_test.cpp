#include <algorithm>
#include <vector>

#include "graph/graph_sink.hpp"
#include "graph_support.hpp"

namespace tessera::test {
namespace {

constexpr std::uint32_t minus_one = 0xffffffff;

class GraphConditions : public GraphFixture {
 protected:
  /// A graph on one buffer of words, which it reads and writes.
  struct Built {
    Buffer buffer;
    CompiledGraph compiled;
  };
  template <class Fill>
  static Built build(std::size_t word_count, const Fill& fill) {
    const Buffer buffer = words(std::vector<std::uint32_t>(word_count));
    Graph graph(device());
    const ImportedBuffer import = graph.import(buffer);
    fill(graph, [import](std::uint64_t index) { return word(import, index); });
    return {buffer, graph.compile()};
  }
  static std::vector<std::uint32_t> run(Built& built, const std::vector<std::uint32_t>& values) {
    write(built.buffer, values);
    execute(built.compiled);
    return read(built.buffer);
  }
  using Words = std::vector<std::uint32_t>;
};

TEST_F(GraphConditions, BodyRunsOnlyWhenThePredicateIsNotZero) {
  Built built = build(3, [](Graph& graph, const auto& at) {
    // Initialisation stands inside the body: when it is skipped, old contents stay.
    graph.add(Conditional{
        .id = "if", .predicate = at(0), .body = {set_word(at(1), 100), add_word(at(1), 1), add_word(at(2), 1)}});
  });
  EXPECT_EQ(run(built, {1, 7, 5}), (Words{1, 101, 6}));
  EXPECT_EQ(run(built, {0, 7, 5}), (Words{0, 7, 5}));
  EXPECT_EQ(run(built, {0x80000000, 7, 5}), (Words{0x80000000, 101, 6}));
  EXPECT_EQ(run(built, {0, 9, 9}), (Words{0, 9, 9}));
}

TEST_F(GraphConditions, ABodyThatOverwritesItsPredicateRunsToItsEnd) {
  Built built = build(3, [](Graph& graph, const auto& at) {
    graph.add(Conditional{.predicate = at(0),
                          .body = {add_word(at(1), 1), set_word(at(0), 0), add_word(at(1), 1), add_word(at(2), 1)}});
    graph.add(Conditional{.predicate = at(0), .body = {add_word(at(2), 100)}});  // reads what the first body wrote
  });
  EXPECT_EQ(run(built, {1, 0, 0}), (Words{0, 2, 1}));
  EXPECT_EQ(run(built, {0, 0, 0}), (Words{0, 0, 0}));
}

TEST_F(GraphConditions, NestedConditionsAreJoined) {
  Built built = build(5, [](Graph& graph, const auto& at) {
    graph.add(Conditional{.predicate = at(0),
                          .body = {add_word(at(2), 1), Conditional{.predicate = at(1), .body = {add_word(at(3), 1)}},
                                   Composite{.id = "rest", .operations = {add_word(at(4), 1)}}}});
  });
  EXPECT_EQ(run(built, {0, 0, 0, 0, 0}), (Words{0, 0, 0, 0, 0}));
  EXPECT_EQ(run(built, {0, 1, 0, 0, 0}), (Words{0, 1, 0, 0, 0}));
  EXPECT_EQ(run(built, {1, 0, 0, 0, 0}), (Words{1, 0, 1, 0, 1}));
  EXPECT_EQ(run(built, {1, 1, 0, 0, 0}), (Words{1, 1, 1, 1, 1}));
}

TEST_F(GraphConditions, EmptyBodiesAreLegal) {
  Built built = build(2, [](Graph& graph, const auto& at) {
    graph.add(Conditional{.id = "empty", .predicate = at(0), .body = {Composite{.id = "nothing"}}});
    graph.add(Loop{.maximum_iterations = 4, .predicate = at(0), .iterations = at(1)});
    graph.add(Loop{.maximum_iterations = 4});
  });
  EXPECT_EQ(run(built, {1, 9}), (Words{1, 4}));
  EXPECT_EQ(run(built, {0, 9}), (Words{0, 0}));
}

TEST_F(GraphConditions, LargeBodiesFillSeveralGateWorkgroups) {
  Built built = build(2, [](Graph& graph, const auto& at) {
    OperationList body;
    for (int index = 0; index < 150; ++index) body.push_back(add_word(at(1), 1));
    graph.add(Conditional{.predicate = at(0), .body = body});
  });
  EXPECT_EQ(run(built, {1, 0}), (Words{1, 150}));
  EXPECT_EQ(run(built, {0, 3}), (Words{0, 3}));
}

TEST_F(GraphConditions, LoopsWithoutPredicateRunEveryRound) {
  Built built = build(2, [](Graph& graph, const auto& at) {
    graph.add(Loop{.id = "loop", .maximum_iterations = 5, .iterations = at(1), .body = {add_word(at(0), 2)}});
  });
  EXPECT_EQ(run(built, {0, 0}), (Words{10, 5}));
  const std::vector<std::string>& order = built.compiled.statistics().node_order;
  EXPECT_EQ(
      std::count_if(order.begin(), order.end(), [](const std::string& id) { return id.ends_with("add word/add"); }), 5);
  EXPECT_NE(std::find(order.begin(), order.end(), "loop#3/add word/add"), order.end());
}

TEST_F(GraphConditions, LoopsEndWhenThePredicateIsZero) {
  // Word 0 counts down and is the predicate; word 1 counts rounds; word 2 is the report.
  Built built = build(3, [](Graph& graph, const auto& at) {
    graph.add(Loop{.maximum_iterations = 8,
                   .predicate = at(0),
                   .iterations = at(2),
                   .body = {add_word(at(1), 1), add_word(at(0), minus_one)}});
  });
  EXPECT_EQ(run(built, {3, 0, 77}), (Words{0, 3, 3}));
  EXPECT_EQ(run(built, {0, 0, 77}), (Words{0, 0, 0}));
  EXPECT_EQ(run(built, {8, 0, 77}), (Words{0, 8, 8}));
  EXPECT_EQ(run(built, {100, 0, 77}), (Words{92, 8, 8}));
  EXPECT_EQ(run(built, {1, 0, 77}), (Words{0, 1, 1}));
}

TEST_F(GraphConditions, TheFirstRoundsRunWithoutAsking) {
  Built built = build(3, [](Graph& graph, const auto& at) {
    graph.add(Loop{.maximum_iterations = 4,
                   .minimum_iterations = 2,
                   .predicate = at(0),
                   .iterations = at(2),
                   .body = {add_word(at(1), 1)}});
  });
  EXPECT_EQ(run(built, {0, 0, 77}), (Words{0, 2, 2}));
  EXPECT_EQ(run(built, {1, 0, 77}), (Words{1, 4, 4}));
  Built all = build(3, [](Graph& graph, const auto& at) {
    graph.add(Loop{.maximum_iterations = 3,
                   .minimum_iterations = 3,
                   .predicate = at(0),
                   .iterations = at(2),
                   .body = {add_word(at(1), 1)}});
  });
  EXPECT_EQ(run(all, {0, 0, 77}), (Words{0, 3, 3}));
}

TEST_F(GraphConditions, AnInnerLoopStartsAnewInEveryRound) {
  // The inner loop ends after one round of its four; the next outer round sets its predicate again.
  Built built = build(4, [](Graph& graph, const auto& at) {
    const Loop inner{.maximum_iterations = 4,
                     .predicate = at(0),
                     .iterations = at(3),
                     .body = {add_word(at(1), 1), add_word(at(0), minus_one)}};
    graph.add(Loop{.maximum_iterations = 2, .body = {set_word(at(0), 1), inner, add_word(at(2), 1)}});
  });
  EXPECT_EQ(run(built, {0, 0, 0, 0}), (Words{0, 2, 2, 1}));
}

TEST_F(GraphConditions, NestedLoopsFollowTheTruthTable) {
  // Outer rounds: word 0 counts down. Inner rounds: word 1 is set to word 3's value at each outer round and counts
  // down.
  const auto build_nested = [] {
    return build(8, [](Graph& graph, const auto& at) {
      const Loop inner{.id = "inner",
                       .maximum_iterations = 3,
                       .predicate = at(1),
                       .iterations = at(5),
                       .body = {add_word(at(2), 1), add_word(at(1), minus_one)}};
      graph.add(Loop{
          .id = "outer",
          .maximum_iterations = 3,
          .predicate = at(0),
          .iterations = at(4),
          .body = {
              CopyNode{
                  .source = at(3).buffer, .source_offset = 12, .target = at(1).buffer, .target_offset = 4, .bytes = 4},
              inner, add_word(at(0), minus_one)}});
    });
  };
  Built built = build_nested();
  for (std::uint32_t outer = 0; outer <= 4; ++outer) {
    for (std::uint32_t inner = 0; inner <= 4; ++inner) {
      // The same in plain code.
      std::vector<std::uint32_t> expected{outer, 9, 0, inner, 70, 71, 0, 0};
      std::uint32_t outer_rounds = 0;
      while (outer_rounds < 3 && expected[0] != 0) {
        expected[1] = expected[3];
        std::uint32_t inner_rounds = 0;
        for (; inner_rounds < 3 && expected[1] != 0; ++inner_rounds) {
          ++expected[2];
          --expected[1];
        }
        expected[5] = inner_rounds;
        --expected[0];
        ++outer_rounds;
      }
      expected[4] = outer_rounds;
      EXPECT_EQ(run(built, {outer, 9, 0, inner, 70, 71, 0, 0}), expected) << outer << " outer, " << inner << " inner";
    }
  }
}

TEST_F(GraphConditions, ACounterInsideAFalseConditionIsNotWritten) {
  Built built = build(4, [](Graph& graph, const auto& at) {
    graph.add(Conditional{
        .predicate = at(0),
        .body = {Loop{.maximum_iterations = 3, .predicate = at(1), .iterations = at(2), .body = {add_word(at(3), 1)}},
                 Loop{.maximum_iterations = 2, .body = {add_word(at(3), 10)}}}});
  });
  EXPECT_EQ(run(built, {0, 1, 55, 0}), (Words{0, 1, 55, 0}));
  EXPECT_EQ(run(built, {1, 0, 55, 0}), (Words{1, 0, 0, 20}));
  EXPECT_EQ(run(built, {1, 1, 55, 0}), (Words{1, 1, 3, 23}));
}

TEST_F(GraphConditions, CopiesInsideABodyAreGated) {
  Built built = build(3, [](Graph& graph, const auto& at) {
    graph.add(Conditional{
        .predicate = at(0),
        .body = {CopyNode{
            .source = at(1).buffer, .source_offset = 4, .target = at(2).buffer, .target_offset = 8, .bytes = 4}}});
  });
  EXPECT_EQ(run(built, {0, 5, 6}), (Words{0, 5, 6}));
  EXPECT_EQ(run(built, {2, 5, 6}), (Words{2, 5, 5}));
}

TEST_F(GraphConditions, PredicatesFollowRebinding) {
  const Buffer result = words({0});
  Graph graph(device());
  const ImportedBuffer predicate = graph.declare_buffer("predicate", 4);
  graph.add(Conditional{.predicate = word(predicate), .body = {add_word(word(graph.import(result)), 1)}});
  CompiledGraph compiled = graph.compile();
  execute(compiled, {rebind(predicate, words({1}))});
  execute(compiled, {rebind(predicate, words({0}))});
  execute(compiled, {rebind(predicate, words({1}))});
  EXPECT_EQ(read_word(result), 2U);
}

TEST_F(GraphConditions, OperationsReadTheConditionThemselves) {
  Built built = build(3, [](Graph& graph, const auto& at) {
    EXPECT_FALSE(detail::GraphSink(graph.state()).condition());
    const auto lower = [target = at(1)](detail::NodeSink& sink) {
      ASSERT_TRUE(sink.condition());
      // Such a dispatch runs whatever the predicate is; here it writes down the word that says so.
      first_words(VectorView(*sink.condition()), target, {}, detail::Gating::by_operation).lower(sink);
    };
    graph.add(
        Conditional{.predicate = at(0), .body = {TestOperation{.name = "reader", .lower = lower}, add_word(at(2), 1)}});
  });
  EXPECT_EQ(run(built, {5, 9, 0}), (Words{5, 1, 1}));
  EXPECT_EQ(run(built, {0, 9, 0}), (Words{0, 0, 0}));
}

TEST_F(GraphConditions, RejectsBadConditionsAndLoops) {
  Graph graph(device());
  const GraphBuffer buffer = graph.transient(64);
  const DataView one = word(buffer);
  const OperationList body{add_word(word(buffer, 1), 1)};
  expect_error(ErrorCode::format_mismatch,
               [&] { graph.add(Conditional{.predicate = buffer.view<float>(1), .body = body}); });
  expect_error(ErrorCode::format_mismatch,
               [&] { graph.add(Conditional{.predicate = buffer.view<std::uint32_t>(2), .body = body}); });
  expect_error(ErrorCode::invalid_argument, [&] { graph.add(Loop{.maximum_iterations = 0, .body = body}); });
  expect_error(ErrorCode::invalid_argument, [&] {
    graph.add(Loop{.maximum_iterations = 2, .minimum_iterations = 3, .predicate = one, .body = body});
  });
  expect_error(ErrorCode::alias,
               [&] { graph.add(Loop{.maximum_iterations = 2, .predicate = one, .iterations = one, .body = body}); });
  const CustomNode custom{.id = "mine", .record = [](Encoder&, const NodeContext&) {}};
  expect_error(ErrorCode::unsupported_operation, [&] { graph.add(Conditional{.predicate = one, .body = {custom}}); });
  expect_error(ErrorCode::unsupported_operation, [&] {
    graph.add(Loop{.maximum_iterations = 2, .predicate = one, .body = {Composite{.operations = {custom}}}});
  });
  Graph other(device());
  expect_error(ErrorCode::foreign_graph, [&] { other.add(Conditional{.predicate = one, .body = {}}); });
}

}  // namespace
}  // namespace tessera::test
