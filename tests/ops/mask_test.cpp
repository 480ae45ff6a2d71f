#include <algorithm>
#include <array>
#include <string>

#include <tessera/graph/graph.hpp>
#include <tessera/ops/selection.hpp>

#include "reference/columns.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;

struct NamedOperation {
  Mask::Operation operation;
  reference::MaskOperation expected;
  const char* name;
};
constexpr std::array operations{
    NamedOperation{Mask::Operation::conjunction, reference::MaskOperation::conjunction, "conjunction"},
    NamedOperation{Mask::Operation::disjunction, reference::MaskOperation::disjunction, "disjunction"},
    NamedOperation{Mask::Operation::exclusive_disjunction, reference::MaskOperation::exclusive_disjunction,
                   "exclusive disjunction"},
    NamedOperation{Mask::Operation::difference, reference::MaskOperation::difference, "difference"},
    NamedOperation{Mask::Operation::negation, reference::MaskOperation::negation, "negation"},
};

class MaskTest : public DeviceFixture {
 protected:
  static Vector vector_of(const Words& values) { return tessera::upload<std::uint32_t>(device(), values); }
  static Vector rows_of(std::uint64_t rows) { return vector_of(Words(rows, 77)); }
  static Partition one_chunk(std::uint64_t rows) { return {"one chunk", {rows}}; }
  static void write_word(const Buffer& buffer, std::uint32_t word) {
    device().write(buffer, 0, std::as_bytes(std::span<const std::uint32_t>(&word, 1)));
  }
  static void execute(CompiledGraph& compiled, std::initializer_list<Rebinding> rebindings = {}) {
    Encoder encoder = device().encoder();
    compiled.encode(encoder, rebindings);
    device().submit(std::move(encoder)).wait();
  }
  static GraphStatistics run_mask(const Mask& mask) {
    Graph graph(device());
    graph.add(mask);
    CompiledGraph compiled = graph.compile();
    execute(compiled);
    return compiled.statistics();
  }
  static Words expected(reference::MaskOperation operation, const std::vector<Words>& masks, std::size_t rows) {
    std::vector<std::span<const std::uint32_t>> inputs;
    for (const Words& mask : masks) inputs.push_back(std::span(mask).first(rows));
    return reference::combine_masks(operation, inputs);
  }
  /// Masks that are true in enough rows for any of them to decide a row.
  static std::vector<Words> random_masks(std::size_t count, std::size_t rows, std::uint64_t seed, double share = 0.7) {
    std::vector<Words> masks;
    for (std::size_t k = 0; k < count; ++k) masks.push_back(random_mask(rows, seed * 100 + k, share));
    return masks;
  }

  static void check(const NamedOperation& operation, const std::vector<Words>& masks,
                    const std::vector<Partition>& partitions, std::size_t first_partition, Placement placement) {
    const auto partition = [&](std::size_t k) -> const Partition& {
      return partitions[(first_partition + k) % partitions.size()];
    };
    SCOPED_TRACE(std::string(operation.name) + " of " + std::to_string(masks.size()) + " masks of " +
                 std::to_string(masks[0].size()) + " rows, the output " + partition(0).name);
    std::vector<GuardedRows<std::uint32_t>> inputs;
    Mask mask{.operation = operation.operation, .inputs = {}, .output = Target(rows_of(1))};
    for (std::size_t k = 0; k < masks.size(); ++k) {
      inputs.emplace_back(device(), partition(k + 1), masks[k], placement);
      mask.inputs.emplace_back(inputs.back().vector());
    }
    const GuardedRows<std::uint32_t> output(device(), partition(0), {}, placement);
    mask.output = output.vector();
    run_mask(mask);
    output.expect_rows(expected(operation.expected, masks, masks[0].size()));
    for (std::size_t k = 0; k < masks.size(); ++k) inputs[k].expect_rows(masks[k]);
  }
};

// The examples of docs/operations/selection.md.
TEST_F(MaskTest, GivesTheDocumentedExamples) {
  const Vector a = vector_of({0, 3, 0, 1});
  const Vector b = vector_of({9, 0, 0, 1});
  const auto run = [&](Mask::Operation operation, const std::vector<Source>& inputs) {
    const Vector output = rows_of(4);
    run_mask({.operation = operation, .inputs = inputs, .output = output});
    return tessera::download<std::uint32_t>(output);
  };
  EXPECT_EQ(run(Mask::Operation::conjunction, {a, b}), (Words{0, 0, 0, 1}));
  EXPECT_EQ(run(Mask::Operation::disjunction, {a, b}), (Words{1, 1, 0, 1}));
  EXPECT_EQ(run(Mask::Operation::exclusive_disjunction, {a, b}), (Words{1, 1, 0, 0}));
  EXPECT_EQ(run(Mask::Operation::difference, {a, b}), (Words{0, 1, 0, 0}));
  EXPECT_EQ(run(Mask::Operation::negation, {a}), (Words{1, 0, 1, 0}));
  EXPECT_EQ(run(Mask::Operation::difference, {a}), (Words{0, 1, 0, 1}));
}

TEST_F(MaskTest, AgreesWithThePlainLoopForEveryPartition) {
  for (const std::uint64_t rows : {0, 1, 2, 63, 64, 65, 255, 256, 257, 4096, 4097, 17001, 65537}) {
    const std::vector<Words> masks = random_masks(3, rows, rows + 1);
    const std::vector<Partition> partitions = standard_partitions(rows, rows + 2);
    for (std::size_t k = 0; k < partitions.size(); ++k) {
      const NamedOperation& operation = operations[(k + rows) % operations.size()];
      const std::size_t count = operation.operation == Mask::Operation::negation ? 1 : k % 3 + 1;
      check(operation, {masks.begin(), masks.begin() + static_cast<std::ptrdiff_t>(count)}, partitions, k,
            k % 2 == 0 ? Placement::aligned : Placement::shifted);
    }
  }
}

// One kernel takes seven inputs.
TEST_F(MaskTest, JoinsAnyNumberOfInputs) {
  for (const NamedOperation& operation : operations) {
    for (const std::size_t count : {1, 7, 8, 15}) {  // few, since each number is a pipeline
      if (operation.operation == Mask::Operation::negation && count > 1) continue;
      const bool all = operation.operation == Mask::Operation::conjunction;
      std::vector<Words> masks = random_masks(count, 5000, count, all ? 0.95 : 0.05);
      masks[0] = random_mask(5000, count, 0.8);
      check(operation, masks, {one_chunk(5000), {"two", {1234, 3766}}}, 0, Placement::aligned);
    }
  }
}

TEST_F(MaskTest, TakesOneDispatchForSevenInputsWhateverThePartition) {
  for (const Partition& partition : standard_partitions(5000)) {
    SCOPED_TRACE(partition.name);
    const GuardedRows<std::uint32_t> input(device(), partition);
    const GuardedRows<std::uint32_t> output(device(), partition);
    Mask mask{.inputs = std::vector<Source>(7, input.vector()), .output = output.vector()};
    EXPECT_EQ(run_mask(mask).dispatch_count, 1U);
    mask.inputs.emplace_back(input.vector());
    const GraphStatistics statistics = run_mask(mask);
    EXPECT_EQ(statistics.dispatch_count, 2U);
    EXPECT_EQ(statistics.logical_transient_count, 0U);
  }
  EXPECT_EQ(run_mask({.inputs = {rows_of(0)}, .output = rows_of(0)}).node_count, 0U);
}

TEST_F(MaskTest, ReadsNarrowMasks) {
  const auto bytes = random_values<std::uint8_t>(9001, 1, Spread::all_bits);
  const auto shorts = random_values<std::uint16_t>(9001, 2, Spread::all_bits);
  std::vector<std::uint8_t> sparse(bytes);
  for (std::size_t i = 0; i < sparse.size(); i += 3) sparse[i] = 0;
  for (const Placement placement : {Placement::aligned, Placement::shifted}) {
    const GuardedRows<std::uint8_t> first(device(), {"bytes", {5000, 4001}}, sparse, placement);
    const GuardedRows<std::uint16_t> second(device(), one_chunk(9001), shorts, placement);
    const GuardedRows<std::uint32_t> output(device(), one_chunk(9001));
    run_mask({.inputs = {first.vector(), second.vector()}, .output = output.vector()});
    output.expect_rows(expected(reference::MaskOperation::conjunction,
                                {Words(sparse.begin(), sparse.end()), Words(shorts.begin(), shorts.end())}, 9001));
  }
}

// Spans so short that a tile touches more of them than shared memory holds.
TEST_F(MaskTest, JoinsManyShortChunks) {
  const std::uint64_t rows = 300000;
  Partition chunks{"chunks of 4 and 5", {}};
  for (std::uint64_t first = 0; first < rows; first += chunks.lengths.back())
    chunks.lengths.push_back(std::min<std::uint64_t>(4 + chunks.lengths.size() % 2, rows - first));
  check(operations[2], random_masks(2, rows, 1, 0.5), {chunks, one_chunk(rows)}, 0, Placement::shifted);
}

TEST_F(MaskTest, RepeatsWithNewContentsAndOtherMemory) {
  const Partition chunks{"chunks", {3000, 0, 2001}};
  std::vector<Words> masks = random_masks(9, 5001, 1);
  std::vector<GuardedRows<std::uint32_t>> inputs;
  for (const Words& mask : masks) inputs.emplace_back(device(), chunks, mask);
  const GuardedRows<std::uint32_t> output(device(), one_chunk(5001));
  Graph graph(device());
  const ImportedVector last = graph.import(inputs.back().vector());
  Mask mask{.operation = Mask::Operation::exclusive_disjunction, .inputs = {}, .output = output.vector()};
  for (std::size_t k = 0; k < 8; ++k) mask.inputs.emplace_back(inputs[k].vector());
  mask.inputs.emplace_back(last);
  graph.add(mask);
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  execute(compiled);
  output.expect_rows(expected(reference::MaskOperation::exclusive_disjunction, masks, 5001));
  masks[0] = random_mask(5001, 50);
  inputs[0].write(masks[0]);
  masks[8] = random_mask(5001, 51);
  const GuardedRows<std::uint32_t> other(device(), chunks, masks[8], Placement::shifted);
  execute(compiled, {rebind(last, other.vector())});
  output.expect_rows(expected(reference::MaskOperation::exclusive_disjunction, masks, 5001));
}

// Every pass stops at the shortest operand, also where another pass reads it.
TEST_F(MaskTest, StopsAtTheShortestLengthOnTheDevice) {
  const std::vector<Words> masks = random_masks(9, 6000, 3, 0.95);
  const Buffer early = device().allocate(4);
  const Buffer late = device().allocate(4);
  Mask mask{.inputs = {}, .output = Target(rows_of(1))};
  for (std::size_t k = 0; k < masks.size(); ++k) {
    const Vector rows = vector_of(masks[k]);
    const Chunk chunk = rows.chunks()[0];
    if (k == 2)
      mask.inputs.emplace_back(Vector(Format::uint32, {chunk}, CountWord{.buffer = early}));
    else if (k == 8)
      mask.inputs.emplace_back(Vector(Format::uint32, {chunk}, CountWord{.buffer = late}));
    else
      mask.inputs.emplace_back(rows);
  }
  GuardedRows<std::uint32_t> output(device(), {"two", {2500, 3500}});
  mask.output = output.vector();
  Graph graph(device());
  graph.add(mask);
  CompiledGraph compiled = graph.compile();
  using Lengths = std::array<std::uint32_t, 2>;
  for (const auto& [first, second] :
       {Lengths{6000, 6000}, Lengths{3000, 2501}, Lengths{2499, 9000}, Lengths{5000, 0}, Lengths{1, 7}}) {
    SCOPED_TRACE(first);
    write_word(early, first);
    write_word(late, second);
    output.write({});
    execute(compiled);
    output.expect_rows(expected(reference::MaskOperation::conjunction, masks, std::min({first, second, 6000U})));
  }
}

TEST_F(MaskTest, DoesNothingUnderAFalseCondition) {
  const std::vector<Words> masks = random_masks(9, 3000, 4, 0.95);
  const Buffer predicate = device().allocate(4);
  const GuardedRows<std::uint32_t> output(device(), one_chunk(3000));
  Mask mask{.inputs = {}, .output = output.vector()};
  for (const Words& words : masks) mask.inputs.emplace_back(vector_of(words));
  Graph graph(device());
  graph.add(Conditional{.predicate = graph.import(predicate).view<std::uint32_t>(1), .body = {mask}});
  CompiledGraph compiled = graph.compile();
  write_word(predicate, 0);
  execute(compiled);
  output.expect_rows({});
  write_word(predicate, 1);
  execute(compiled);
  output.expect_rows(expected(reference::MaskOperation::conjunction, masks, 3000));
}

TEST_F(MaskTest, AgreesWithThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBits random(seed);
    const std::uint64_t rows = 1 + random.below(std::uint64_t{1} << random.below(16));
    const NamedOperation& operation = operations[random.below(operations.size())];
    const std::size_t count = operation.operation == Mask::Operation::negation ? 1 : 1 + random.below(4);
    std::vector<Partition> partitions;
    for (std::size_t k = 0; k <= count; ++k)
      partitions.push_back(
          reference::random_partition(rows, 1 + random.below(random.below(4) == 0 ? 300 : 6), random.next()));
    check(operation, random_masks(count, rows, seed), partitions, 0,
          random.below(2) == 0 ? Placement::aligned : Placement::shifted);
  }
}

TEST_F(MaskTest, RejectsOperandsThatDoNotFit) {
  Graph graph(device());
  Graph other(device());
  const Vector rows = rows_of(10);
  const Vector output = rows_of(10);
  const auto reject = [&](ErrorCode code, const Mask& mask) { expect_error(code, [&] { graph.add(mask); }); };
  const Vector floats = tessera::upload<float>(device(), std::vector<float>(10));
  reject(ErrorCode::missing_operand, {.inputs = {}, .output = output});
  reject(ErrorCode::surplus_operand,
         {.operation = Mask::Operation::negation, .inputs = {rows, rows}, .output = output});
  reject(ErrorCode::format_mismatch, {.inputs = {rows, floats}, .output = output});
  reject(ErrorCode::format_mismatch, {.inputs = {rows}, .output = floats});
  reject(ErrorCode::length_mismatch, {.inputs = {rows, rows_of(9)}, .output = output});
  reject(ErrorCode::length_mismatch, {.inputs = {rows}, .output = rows_of(11)});
  reject(ErrorCode::layout_mismatch,
         {.inputs = {Vector(Format::uint32, {Chunk{rows.chunks()[0].buffer, 0, 5, 8}})}, .output = rows_of(5)});
  reject(ErrorCode::alias, {.inputs = {rows}, .output = rows});
  reject(ErrorCode::foreign_graph, {.inputs = {other.import(rows)}, .output = output});
  reject(ErrorCode::unsupported_operation, {.inputs = {Source(rows).as_observations()}, .output = output});
  Mask counted{.inputs = {}, .output = output};
  for (int k = 0; k < 9; ++k)
    counted.inputs.emplace_back(Vector(Format::uint32, {rows.chunks()[0]}, CountWord{.buffer = device().allocate(4)}));
  reject(ErrorCode::limit_exceeded, counted);
  EXPECT_EQ(graph.compile().statistics().node_count, 0U);
}

}  // namespace
}  // namespace tessera::test
