// Scans in graphs: repeated executions, lengths and conditions on the device, plans, and what is rejected.
#include "ops/scan_fixture.hpp"

namespace tessera::test {
namespace {

class ScanGraphTest : public ScanFixture {
 protected:
  static Vector rows_of(std::uint64_t rows) { return vector_of(Words(rows, 77)); }
  static void write_word(const Buffer& buffer, std::uint32_t word) {
    device().write(buffer, 0, std::as_bytes(std::span<const std::uint32_t>(&word, 1)));
  }
};

TEST_F(ScanGraphTest, RepeatsWithNewContentsAndOtherMemory) {
  const Partition chunks{"chunks", {3000, 0, 9000, 1}};
  for (const Kernels& kernels : every_kernel) {
    SCOPED_TRACE(kernels.name());
    Words values = random_words(12001, 1);
    Words flags = random_flags(12001, 2, 900);
    GuardedRows<std::uint32_t> input(device(), chunks, values);
    GuardedRows<std::uint32_t> starts(device(), one_chunk(12001), flags);
    const GuardedRows<std::uint32_t> output(device(), chunks);
    Graph graph(device());
    const ImportedVector values_import = graph.import(input.vector());
    const ImportedVector output_import = graph.import(output.vector());
    graph.add(with({.input = values_import, .segment_flags = starts.vector(), .output = output_import}, kernels));
    CompiledGraph compiled = graph.compile();
    execute(compiled);
    execute(compiled);
    output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, flags));

    values = random_words(12001, 3);
    flags = random_flags(12001, 4, 5000);
    input.write(values);
    starts.write(flags);
    execute(compiled);
    output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, flags));

    const Words others = random_words(12001, 5);
    const GuardedRows<std::uint32_t> other_input(device(), chunks, others, Placement::shifted);
    const GuardedRows<std::uint32_t> other_output(device(), chunks, {}, Placement::shifted);
    execute(compiled, {rebind(values_import, other_input.vector()), rebind(output_import, other_output.vector())});
    other_output.expect_rows(reference::scan(others, reference::ScanMode::exclusive, flags));
    output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, flags));
    execute(compiled);
    output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, flags));
  }
}

TEST_F(ScanGraphTest, StopsAtALengthOnTheDevice) {
  const Words values = random_words(20000, 6);
  const Words flags = random_flags(20000, 7, 2000);
  const Buffer count = device().allocate(4);
  for (const Kernels& kernels : every_kernel) {
    for (const std::uint64_t chunk_rows : {20000, 7001, 37}) {
      SCOPED_TRACE(kernels.name() + ", chunks of " + std::to_string(chunk_rows));
      Partition chunks{"chunks", {}};
      for (std::uint64_t first = 0; first < 20000; first += chunk_rows)
        chunks.lengths.push_back(std::min<std::uint64_t>(chunk_rows, 20000 - first));
      const GuardedRows<std::uint32_t> input(device(), chunks, values);
      GuardedRows<std::uint32_t> output(device(), one_chunk(20000));
      Graph graph(device());
      graph.add(with({.mode = Scan::Mode::inclusive,
                      .input = input.vector(CountWord{.buffer = count}),
                      .segment_flags = vector_of(flags),
                      .output = output.vector()},
                     kernels));
      CompiledGraph compiled = graph.compile();
      for (const std::uint32_t length : {20000U, 0U, 1U, 36U, 37U, 38U, 4096U, 7002U, 19999U, 0xffffffffU}) {
        SCOPED_TRACE(length);
        write_word(count, length);
        output.write({});
        execute(compiled);
        const std::size_t rows = std::min<std::size_t>(length, values.size());
        output.expect_rows(reference::scan(std::span(values).first(rows), reference::ScanMode::inclusive,
                                           std::span(flags).first(rows)));
      }
    }
  }
}

TEST_F(ScanGraphTest, TheShortestOfSeveralLengthsHolds) {
  const Words values = random_words(3000, 6);
  const Buffer first = device().allocate(4);
  const Buffer second = device().allocate(4);
  write_word(first, 2500);
  write_word(second, 1234);
  const GuardedRows<std::uint32_t> output(device(), one_chunk(3000));
  const GuardedRows<std::uint32_t> input(device(), one_chunk(3000), values);
  run_scan({.input = input.vector(CountWord{.buffer = first}), .output = output.vector(CountWord{.buffer = second})});
  output.expect_rows(reference::scan(std::span(values).first(1234), reference::ScanMode::exclusive));
}

TEST_F(ScanGraphTest, DoesNothingUnderAFalseCondition) {
  const Words values = random_words(30000, 8);
  const Buffer count = device().allocate(4);
  const Buffer predicate = device().allocate(4);
  write_word(count, 23456);
  for (const bool resident : {false, true}) {
    for (const Kernels& kernels : every_kernel) {
      SCOPED_TRACE(kernels.name());
      const GuardedRows<std::uint32_t> input(device(), {"two", {10000, 20000}}, values);
      const GuardedRows<std::uint32_t> output(device(), one_chunk(30000));
      Graph graph(device());
      const DataView word = graph.import(predicate).view<std::uint32_t>(1);
      const auto length = resident ? std::optional(CountWord{.buffer = count}) : std::nullopt;
      graph.add(Conditional{.predicate = word,
                            .body = {with({.input = input.vector(length), .output = output.vector()}, kernels)}});
      CompiledGraph compiled = graph.compile();
      write_word(predicate, 0);
      execute(compiled);
      output.expect_rows({});
      write_word(predicate, 3);
      execute(compiled);
      output.expect_rows(
          reference::scan(std::span(values).first(resident ? 23456 : 30000), reference::ScanMode::exclusive));
    }
  }
}

TEST_F(ScanGraphTest, DispatchesDoNotDependOnThePartition) {
  const auto dispatches = [](const Partition& partition, const Kernels& kernels) {
    const std::uint64_t rows = partition.rows();
    const GuardedRows<std::uint32_t> input(device(), partition, Words(rows, 1));
    const GuardedRows<std::uint32_t> output(device(), partition);
    return run_scan({.input = input.vector(), .output = output.vector()}, kernels).dispatch_count;
  };
  for (const std::uint64_t rows : {100, 6144, 15000}) {
    for (const Partition& partition : standard_partitions(rows)) {
      SCOPED_TRACE(partition.name);
      EXPECT_EQ(dispatches(partition, {"single_pass"}), 2U);
      EXPECT_EQ(dispatches(partition, {"multi_pass"}), rows == 100 ? 1U : 3U);
    }
  }
  EXPECT_EQ(dispatches(one_chunk(100), {}), 1U);
}

TEST_F(ScanGraphTest, UsesScratchOfOneWordPerTile) {
  const Vector input = rows_of(60000);
  const Vector output = rows_of(60000);
  EXPECT_EQ(run_scan({.input = rows_of(100), .output = rows_of(100)}).logical_transient_count, 0U);
  EXPECT_EQ(run_scan({.input = input, .output = output}, {"single_pass"}).logical_transient_count, 1U);
  EXPECT_EQ(run_scan({.input = input, .output = output}, {"multi_pass"}).logical_transient_count, 1U);
  EXPECT_LE(run_scan({.input = input, .output = output}, {"multi_pass"}).logical_transient_bytes, 8U * 60000 / 1024);
  const GraphStatistics empty = run_scan({.input = rows_of(0), .output = output});
  EXPECT_EQ(empty.node_count, 0U);
}

TEST_F(ScanGraphTest, RejectsOperandsThatDoNotFit) {
  Graph graph(device());
  Graph other(device());
  const Vector rows = rows_of(10);
  const Vector output = rows_of(10);
  const auto reject = [&](ErrorCode code, const Scan& scan) { expect_error(code, [&] { graph.add(scan); }); };
  const Vector floats = tessera::upload<float>(device(), std::vector<float>(10));
  reject(ErrorCode::format_mismatch, {.input = floats, .output = output});
  reject(ErrorCode::format_mismatch, {.input = rows, .output = floats});
  reject(ErrorCode::format_mismatch, {.input = rows, .segment_flags = floats, .output = output});
  reject(ErrorCode::capacity_too_small, {.input = rows, .output = rows_of(9)});
  reject(ErrorCode::capacity_too_small, {.input = rows, .segment_flags = rows_of(9), .output = output});
  const Vector strided(Format::uint32, {Chunk{rows.chunks()[0].buffer, 0, 5, 8}});
  reject(ErrorCode::layout_mismatch, {.input = strided, .output = output});
  reject(ErrorCode::layout_mismatch, {.input = rows,
                                      .segment_flags = rows,
                                      .output = Vector(Format::uint32, {Chunk{output.chunks()[0].buffer, 0, 5, 8}})});
  reject(ErrorCode::foreign_graph, {.input = other.import(rows), .output = output});
  reject(ErrorCode::unsupported_operation, {.input = Source(rows).with_calibration({.scale = 2.0F}), .output = output});
  reject(ErrorCode::unsupported_operation,
         {.input = rows, .segment_flags = Source(rows).with_no_data({.bits = 1}), .output = output});
}

TEST_F(ScanGraphTest, RejectsOutputsThatOverlapOtherRows) {
  Graph graph(device());
  const Vector whole = rows_of(20);
  const ImportedVector rows = graph.import(whole);
  const Vector flags = rows_of(10);
  const auto reject = [&](const Scan& scan, const Kernels& kernels = {}) {
    expect_error(ErrorCode::alias, [&] { graph.add(with(scan, kernels)); });
  };
  const VectorView& view = rows;
  reject({.input = view.slice(0, 10), .output = view.slice(1, 10)});
  reject({.input = view.slice(1, 10), .output = view.slice(0, 20)});
  reject({.input = flags, .segment_flags = view.slice(0, 10), .output = view.slice(0, 10)});
  reject({.input = view.slice(0, 10), .segment_flags = view.slice(0, 10), .output = view.slice(0, 10)});
  reject({.input = Source(flags).with_validity({.rows = view.slice(0, 10)}), .output = view.slice(0, 10)});
  EXPECT_NO_THROW(graph.add(Scan{.id = "apart", .input = view.slice(0, 10), .output = view.slice(10, 10)}));
  EXPECT_NO_THROW(graph.add(Scan{.id = "in place", .input = view.slice(0, 10), .output = view.slice(0, 10)}));
}

TEST_F(ScanGraphTest, RejectsOptionsThatDoNotFit) {
  Graph graph(device());
  const Vector rows = rows_of(10);
  const Scan in_place{.input = rows, .output = rows};
  expect_error(ErrorCode::unsupported_operation, [&] { graph.add(with(in_place, {"single_pass"})); });
  expect_error(ErrorCode::invalid_option, [&] { graph.add(with(in_place, {"sideways"})); });
  expect_error(ErrorCode::invalid_option, [&] { graph.add(with(in_place, {"multi_pass", -2})); });
  Request request = to_request(in_place);
  request.option("modus", std::string("inclusive"));
  expect_error(ErrorCode::invalid_option, [&] { graph.add(Operation::from_request(request)); });
  EXPECT_EQ(graph.compile().statistics().node_count, 0U);
}

}  // namespace
}  // namespace tessera::test
