#include <cstdint>
#include <numeric>
#include <vector>

#include "graph_support.hpp"

namespace tessera::test {
namespace {

class GraphRebinding : public GraphFixture {
 protected:
  /// `count` chunks of one row; chunk k lies at word `order[k]` of one buffer.
  static Vector scattered(const Buffer& buffer, const std::vector<std::uint32_t>& order) {
    std::vector<Chunk> chunks;
    for (const std::uint32_t place : order) {
      chunks.push_back({.buffer = buffer, .byte_offset = std::uint64_t{4} * place, .length = 1});
    }
    return Vector(Format::uint32, std::move(chunks));
  }
  static std::vector<std::uint32_t> counted(std::uint32_t count, std::uint32_t first = 0) {
    std::vector<std::uint32_t> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
  }
};

TEST_F(GraphRebinding, ReplacesMemoryForOneEncoding) {
  const Buffer usual = words({1, 2});
  const Buffer other = words({10, 20, 30});  // may be larger
  const Buffer result = words({0});
  Graph graph(device());
  const ImportedBuffer source = graph.import(usual);
  graph.add(CopyNode{.source = source, .source_offset = 4, .target = graph.import(result), .bytes = 4});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(read_word(result), 2U);
  execute(compiled, {rebind(source, other)});
  EXPECT_EQ(read_word(result), 20U);
  execute(compiled);
  EXPECT_EQ(read_word(result), 2U);
}

TEST_F(GraphRebinding, HoldsForItsEncodingInAnyOrderOfSubmission) {
  const Buffer usual = words({1});
  const Buffer other = words({10});
  const Buffer result = words({0});
  Graph graph(device());
  const ImportedBuffer source = graph.import(usual);
  const ImportedBuffer target = graph.import(result);
  graph.add(add_word(word(source), 1));
  graph.add(CopyNode{.source = source, .target = target, .bytes = 4});
  CompiledGraph compiled = graph.compile();
  for (const bool rebound_first : {false, true}) {
    Encoder by_default = device().encoder();
    Encoder rebound = device().encoder();
    compiled.encode(by_default);
    compiled.encode(rebound, {rebind(source, other)});
    compiled.encode(rebound);  // and within one submission
    compiled.encode(rebound, {rebind(source, other)});
    device().submit(std::move(rebound_first ? rebound : by_default)).wait();
    device().submit(std::move(rebound_first ? by_default : rebound)).wait();
    EXPECT_EQ(read_word(result), rebound_first ? 5U : 12U);
  }
  EXPECT_EQ(read_word(usual), 5U);
  EXPECT_EQ(read_word(other), 14U);
}

TEST_F(GraphRebinding, VectorsKeepShapeAndTakeOtherPlaces) {
  const Vector usual = tessera::upload<std::uint32_t>(device(), counted(3), counted(0), counted(2, 50));
  const Buffer block = words(counted(20, 100));
  const Vector other(Format::uint32, {{.buffer = block, .byte_offset = 8, .length = 3},
                                      {.buffer = {}, .length = 0},
                                      {.buffer = block, .byte_offset = 60, .length = 2}});
  const Buffer result = words({0, 0, 0});
  Graph graph(device());
  const ImportedVector source = graph.import(usual);
  graph.add(first_words(source, graph.import(result).view<std::uint32_t>(3)));
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{0, 0, 50}));
  execute(compiled, {rebind(source, other)});
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{102, 0, 115}));
}

TEST_F(GraphRebinding, RejectsWhatDoesNotFitAndStaysUsable) {
  const Buffer buffer = words(counted(64));
  const Buffer result = words({0, 0});
  Graph graph(device());
  const ImportedVector source = graph.import(
      Vector(Format::uint32, {{.buffer = buffer, .length = 2}, {.buffer = buffer, .byte_offset = 64, .length = 3}}));
  const ImportedBuffer target = graph.import(result);
  graph.add(first_words(source, target.view<std::uint32_t>(2)));
  CompiledGraph compiled = graph.compile();
  Device elsewhere = open_device();
  Graph other(device());
  const ImportedBuffer foreign = other.import(result);
  const auto encode = [&](tessera::Rebinding rebinding) {
    return [&, rebinding] {
      Encoder encoder = device().encoder();
      compiled.encode(encoder, {rebinding});
    };
  };
  const auto vector = [&](Format format, std::vector<std::uint64_t> lengths, std::uint64_t stride = 0) {
    std::vector<Chunk> chunks;
    for (std::size_t index = 0; index < lengths.size(); ++index) {
      chunks.push_back({.buffer = buffer, .byte_offset = 64 * index, .length = lengths[index], .byte_stride = stride});
    }
    return rebind(source, Vector(format, chunks));
  };
  expect_error(ErrorCode::partition_mismatch, encode(vector(Format::uint32, {3, 2})));
  expect_error(ErrorCode::partition_mismatch, encode(vector(Format::uint32, {5})));
  expect_error(ErrorCode::partition_mismatch, encode(vector(Format::uint32, {2, 3, 0})));
  expect_error(ErrorCode::layout_mismatch, encode(vector(Format::uint32, {2, 3}, 8)));
  expect_error(ErrorCode::format_mismatch, encode(vector(Format::float32, {2, 3})));
  expect_error(ErrorCode::capacity_too_small, encode(rebind(target, words({0}))));
  expect_error(ErrorCode::missing_operand, encode(rebind(target, Buffer{})));
  expect_error(ErrorCode::foreign_device, encode(rebind(target, elsewhere.allocate(8))));
  expect_error(ErrorCode::foreign_device,
               encode(rebind(source, tessera::upload<std::uint32_t>(elsewhere, counted(2), counted(3)))));
  expect_error(ErrorCode::foreign_graph, encode(rebind(foreign, words({0, 0}))));
  expect_error(ErrorCode::unknown_id, encode({.import_index = 9, .buffer = result}));
  expect_error(ErrorCode::format_mismatch,
               encode({.import_index = target.import_index(), .vector = Vector(Format::uint32, {})}));
  expect_error(ErrorCode::format_mismatch, encode({.import_index = source.import_index(), .buffer = result}));
  expect_error(ErrorCode::surplus_operand,
               encode(rebind(
                   source, Vector(Format::uint32,
                                  {{.buffer = buffer, .length = 2}, {.buffer = buffer, .byte_offset = 64, .length = 3}},
                                  CountWord{.buffer = buffer}))));
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::duplicate_id, [&] {
    compiled.encode(encoder, {rebind(target, words({0, 0})), rebind(target, words({0, 0}))});
  });
  execute(compiled);
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{0, 16}));
}

TEST_F(GraphRebinding, DeclaredImportsMustBeBound) {
  Graph graph(device());
  const ImportedVector source = graph.declare({.id = "source", .format = Format::uint32, .chunk_lengths = {1, 1}});
  const ImportedBuffer target = graph.declare_buffer("target", 8);
  graph.declare_buffer("unused", 4);
  graph.add(first_words(source, target.view<std::uint32_t>(2)));
  CompiledGraph compiled = graph.compile();
  const Vector vector = tessera::upload<std::uint32_t>(device(), counted(1, 5), counted(1, 6));
  const Buffer result = words({0, 0});
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::unbound_import, [&] { compiled.encode(encoder); });
  const std::string text = expect_error(ErrorCode::unbound_import, [&] {
    compiled.encode(encoder, {rebind(source, vector), rebind(target, result)});
  });
  EXPECT_NE(text.find("unused"), std::string::npos);
}

TEST_F(GraphRebinding, CountWordsAreReplacedWithTheirVector) {
  const Buffer rows = words(counted(4));
  const Buffer first_count = words({3});
  const Buffer second_count = words({9, 2});
  const auto vector = [&](const Buffer& count, std::uint64_t offset) {
    return Vector(Format::uint32, {{.buffer = rows, .length = 4}}, CountWord{.buffer = count, .byte_offset = offset});
  };
  const Buffer result = words({0});
  Graph graph(device());
  const ImportedVector source = graph.import(vector(first_count, 0));
  ASSERT_TRUE(source.view().count());
  graph.add(CopyNode{.source = source.view().count()->buffer, .target = graph.import(result), .bytes = 4});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(read_word(result), 3U);
  execute(compiled, {rebind(source, vector(second_count, 4))});
  EXPECT_EQ(read_word(result), 2U);
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::missing_operand, [&] {
    compiled.encode(encoder, {rebind(source, Vector(Format::uint32, {{.buffer = rows, .length = 4}}))});
  });
}

TEST_F(GraphRebinding, OverlapIsRejectedOnlyWhereSomethingIsWritten) {
  const Buffer buffer = words(counted(16));
  const Buffer other = words(counted(16));
  const Buffer result = words({0, 0});
  const auto rows = [](const Buffer& where, std::uint64_t first, std::uint64_t count) {
    return Vector(Format::uint32, {{.buffer = where, .byte_offset = 4 * first, .length = count}});
  };
  const auto compile = [&](const Vector& read, const Vector& written) {
    Graph graph(device());
    const ImportedVector source = graph.import(read);
    const ImportedVector target = graph.import(written);
    const detail::GraphChunk& chunk = target.view().chunk_list()->chunks.front();
    const DataView first{.buffer = GraphBuffer(graph.identity(), chunk.resource, 4),
                         .format = Format::uint32,
                         .length = 1,
                         .byte_offset = 0,
                         .byte_stride = 4};
    graph.add(first_words(source, first));
    return std::tuple(graph.compile(), source, target);
  };
  expect_error(ErrorCode::alias, [&] { compile(rows(buffer, 0, 4), rows(buffer, 3, 4)); });
  auto [compiled, source, target] = compile(rows(buffer, 0, 4), rows(buffer, 4, 4));  // one buffer, disjoint ranges
  execute(compiled);
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::alias, [&] { compiled.encode(encoder, {rebind(source, rows(buffer, 1, 4))}); });
  expect_error(ErrorCode::alias, [&] { compiled.encode(encoder, {rebind(target, rows(buffer, 3, 4))}); });
  EXPECT_NO_THROW(compiled.encode(encoder, {rebind(source, rows(buffer, 1, 4)), rebind(target, rows(other, 0, 4))}));
  expect_error(ErrorCode::alias, [&] {
    compiled.encode(encoder, {rebind(source, rows(other, 2, 4)), rebind(target, rows(other, 0, 4))});
  });

  // Two imports that are only read may overlap; an import that no node uses doesn't count.
  Graph graph(device());
  const ImportedVector left = graph.import(rows(buffer, 0, 4));
  const ImportedVector right = graph.import(rows(buffer, 2, 4));
  graph.import(rows(result, 0, 1));
  const ImportedBuffer sink = graph.import(result);
  graph.add(first_words(left, sink.view<std::uint32_t>(1)));
  graph.add(first_words(right, sink.view<std::uint32_t>(1, {.byte_offset = 4})));
  CompiledGraph reading = graph.compile();
  execute(reading);
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{0, 2}));
}

TEST_F(GraphRebinding, InterleavedColumnsDoNotOverlap) {
  const Buffer pairs = words({1, 2, 3, 4, 5, 6});
  Graph graph(device());
  const ImportedVector x =
      graph.import(Vector(Format::uint32, {{.buffer = pairs, .byte_offset = 0, .length = 3, .byte_stride = 8}}));
  const ImportedVector y =
      graph.import(Vector(Format::uint32, {{.buffer = pairs, .byte_offset = 4, .length = 3, .byte_stride = 8}}));
  const DataView first{.buffer = GraphBuffer(graph.identity(), y.view().chunk_list()->chunks.front().resource, 4),
                       .format = Format::uint32,
                       .length = 1,
                       .byte_offset = 0,
                       .byte_stride = 4};
  graph.add(first_words(x, first));
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(read(pairs), (std::vector<std::uint32_t>{1, 1, 3, 4, 5, 6}));
}

TEST_F(GraphRebinding, ChunksOfAWrittenImportAreDisjoint) {
  const Buffer buffer = words(counted(64));
  const auto overlapping = scattered(buffer, {0, 1, 2, 3, 4, 5, 6, 7, 8, 3});
  const auto disjoint = scattered(buffer, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  const auto touch = [&](detail::Access access, const Vector& vector) {
    Graph graph(device());
    const ImportedVector import = graph.import(vector);
    graph.add(TestOperation{.name = "touch", .lower = [=](detail::NodeSink& sink) {
                              detail::Dispatch dispatch{.name = "touch", .module = "add_word", .constants = {32}};
                              dispatch.view_uses = {{.view = import, .access = access}};
                              sink.dispatch(std::move(dispatch));
                            }});
    return std::pair(graph.compile(), import);
  };
  EXPECT_NO_THROW(touch(detail::Access::read, overlapping));
  expect_error(ErrorCode::alias, [&] { touch(detail::Access::write, overlapping); });
  auto [compiled, import] = touch(detail::Access::write, disjoint);
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::alias, [&] { compiled.encode(encoder, {rebind(import, overlapping)}); });
  expect_error(ErrorCode::alias, [&] { compiled.encode(encoder, {rebind(import, overlapping)}); });  // not only once
}

TEST_F(GraphRebinding, LongTablesFollowTheirVectors) {
  for (const std::uint32_t count : {9U, 1000U, 70001U}) {
    const Buffer usual = words(counted(count));
    const Buffer other = words(counted(count, 500));
    const Buffer result = words(std::vector<std::uint32_t>(count));
    std::vector<std::uint32_t> order = counted(count);
    std::reverse(order.begin(), order.end());
    const Vector backwards = scattered(other, order);
    Graph graph(device());
    const ImportedVector source = graph.import(scattered(usual, counted(count)));
    graph.add(first_words(source, graph.import(result).view<std::uint32_t>(count)));
    CompiledGraph compiled = graph.compile();
    execute(compiled);
    EXPECT_EQ(read(result), counted(count));
    for (int round = 0; round < 3; ++round) {  // a vector that comes again keeps its table
      execute(compiled, {rebind(source, backwards)});
      std::vector<std::uint32_t> expected = counted(count, 500);
      std::reverse(expected.begin(), expected.end());
      EXPECT_EQ(read(result), expected);
    }
    Encoder early = device().encoder();
    compiled.encode(early, {rebind(source, scattered(other, counted(count)))});
    execute(compiled);  // submitted before the encoder above
    EXPECT_EQ(read(result), counted(count));
    device().submit(std::move(early)).wait();
    EXPECT_EQ(read(result), counted(count, 500));
  }
}

TEST_F(GraphRebinding, JoinedViewsReachSeveralImportsAndScratch) {
  const Buffer left = words({1});
  const Buffer right = words({2, 3});
  const Buffer result = words({0, 0, 0});
  Graph graph(device());
  const ImportedBuffer first = graph.import(left);
  const ImportedBuffer second = graph.import(right);
  const DataView scratch = graph.transient_view(Format::uint32, 1);
  graph.add(set_word(scratch, 99));
  const std::vector<DataView> pieces{word(second, 1), scratch, word(first)};
  graph.add(first_words(VectorView(std::span<const DataView>(pieces)), graph.import(result).view<std::uint32_t>(3)));
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{3, 99, 1}));
  execute(compiled, {rebind(second, words({4, 5}))});
  EXPECT_EQ(read(result), (std::vector<std::uint32_t>{5, 99, 1}));
}

}  // namespace
}  // namespace tessera::test
