// Histograms of sources with missing data, in graphs, and what is rejected.
#include <functional>
#include <limits>

#include "ops/histogram_fixture.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Words = std::vector<std::uint32_t>;

class HistogramGraphTest : public HistogramFixture {
 protected:
  static void execute(CompiledGraph& compiled, std::initializer_list<Rebinding> rebindings = {}) {
    Encoder encoder = device().encoder();
    compiled.encode(encoder, rebindings);
    device().submit(std::move(encoder)).wait();
  }
  static void write_rows(const Vector& vector, const Words& words) {
    device().write(vector.chunks()[0].buffer, 0, std::as_bytes(std::span<const std::uint32_t>(words)));
  }
  template <class T>
  static Vector rows_of(std::uint64_t length) {
    return vector_of(std::vector<T>(length));
  }
};

/// Narrow integers, with their widened type.
template <class Narrow, class Widened>
struct NarrowRow {
  using Stored = Narrow;
  using Wide = Widened;
};
template <class Row>
class HistogramOfNarrow : public HistogramFixture {};
using NarrowRows = ::testing::Types<NarrowRow<std::uint8_t, std::uint32_t>, NarrowRow<std::int8_t, std::int32_t>,
                                    NarrowRow<std::uint16_t, std::uint32_t>, NarrowRow<std::int16_t, std::int32_t>>;
TYPED_TEST_SUITE(HistogramOfNarrow, NarrowRows);

TYPED_TEST(HistogramOfNarrow, CountsObservedRows) {
  using T = typename TypeParam::Stored;
  using Wide = typename TypeParam::Wide;
  std::vector<T> values = random_values<T>(9001, 77, Spread::all_bits);
  for (std::size_t i = 0; i < values.size(); i += 50) values[i] = std::numeric_limits<T>::max();
  const T sentinel = std::numeric_limits<T>::max();
  const Words validity = random_mask(values.size(), 78, 0.8);
  const std::vector<Wide> wide(values.begin(), values.end());
  Words there(values.size());
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = validity[i] != 0 && values[i] != sentinel ? 1 : 0;
  const Source source = Source(this->vector_of(values))
                            .with_validity({.rows = this->vector_of(validity)})
                            .with_no_data({.bits = static_cast<std::make_unsigned_t<T>>(sentinel)});
  const reference::Rows rows{.mask = {}, .validity = there};
  const std::span<const Wide> all(wide);
  const auto low = static_cast<Wide>(std::numeric_limits<T>::min());
  const auto high = static_cast<Wide>(sentinel);
  const Histogram::Domain domain{static_cast<double>(low), static_cast<double>(high)};
  EXPECT_EQ(this->run_histogram(source, 256, domain), reference::histogram<Wide>(all, low, high, 256, rows));
  const auto extent = reference::automatic_domain<Wide>(all, rows);
  EXPECT_EQ(this->run_histogram(source, 100, Histogram::AutomaticDomain{}),
            reference::histogram<Wide>(all, extent[0], extent[1], 100, rows));
}

TEST_F(HistogramGraphTest, LeavesMissingRowsOutOfTheAutomaticDomain) {
  const Vector domain = rows_of<float>(2);
  const Source source = Source(vector_of(std::vector<float>{-9999, 1, 3})).with_no_data({.bits = 0xc61c3c00});
  const Counts counts = run_with(source, 2, Histogram::AutomaticDomain{},
                                 [&](Histogram& histogram) { histogram.domain_output = domain; });
  EXPECT_EQ(counts, (Counts{1, 1}));
  EXPECT_EQ(tessera::download<float>(domain), (std::vector<float>{1, 3}));
}

TEST_F(HistogramGraphTest, ReadsValidityBytes) {
  const std::vector<float> values{1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::uint8_t> bytes{1, 0, 255, 0, 1, 1, 0};
  const Source source = Source(vector_of(values)).with_validity({.rows = vector_of(bytes), .kind = ValidityKind::byte});
  EXPECT_EQ(run_histogram(source, 2, Histogram::AutomaticDomain{}), (Counts{2, 2}));
  EXPECT_EQ(run_histogram(source, 7, Histogram::Domain{1, 8}), (Counts{1, 0, 1, 0, 1, 1, 0}));
}

TEST_F(HistogramGraphTest, CountsRawValuesUnlessAskedForCalibratedOnes) {
  const Source source = Source(vector_of(std::vector<std::uint16_t>{0, 10, 20, 30, 40}))
                            .with_calibration({.scale = 0.5F, .offset = -5.0F});
  EXPECT_EQ(run_histogram(source, 4, Histogram::Domain{0, 40}), (Counts{1, 1, 1, 2}));
  const Vector domain = rows_of<std::uint32_t>(2);
  run_with(source, 4, Histogram::AutomaticDomain{}, [&](Histogram& histogram) { histogram.domain_output = domain; });
  EXPECT_EQ(tessera::download<std::uint32_t>(domain), (Words{0, 40}));

  const Vector calibrated = rows_of<float>(2);
  const auto ask = [&](Histogram& histogram) { histogram.values = Histogram::Values::calibrated; };
  EXPECT_EQ(run_with(source, 2, Histogram::Domain{-5, 5}, ask), (Counts{1, 2}));
  const Counts counts = run_with(source, 4, Histogram::AutomaticDomain{}, [&](Histogram& histogram) {
    ask(histogram);
    histogram.domain_output = calibrated;
  });
  EXPECT_EQ(counts, (Counts{1, 1, 1, 2}));
  EXPECT_EQ(tessera::download<float>(calibrated), (std::vector<float>{-5, 15}));
}

TEST_F(HistogramGraphTest, ReadsFloat64RoundedToFloat32) {
  const std::vector<double> values{0.0, 0.3, 1.0 + 0x1p-30, 1.0 + 0x1p-20, 1e300};
  EXPECT_EQ(run_histogram(vector_of(values), 2, Histogram::Domain{0, 1}), (Counts{2, 1}));
}

// Later executions see new domains, values and masks, and clear what was there.
TEST_F(HistogramGraphTest, RepeatsWithNewContents) {
  const Vector values = vector_of(Words{0, 1, 2, 3, 4, 5, 6, 7});
  const Vector mask = vector_of(Words(8, 1));
  const Vector domain = vector_of(Words{0, 7});
  const Vector edges = vector_of(Words{0, 4, 8});
  const Vector counts = rows_of<std::uint32_t>(2);
  const Vector between = rows_of<std::uint32_t>(2);
  Graph graph(device());
  const auto input = graph.import(values);
  const auto selected = graph.import(mask);
  graph.add(Histogram{.id = "uniform",
                      .input = input,
                      .mask = selected,
                      .output = graph.import(counts),
                      .binning = Histogram::ResidentDomain{graph.import(domain)}});
  graph.add(Histogram{.id = "edges",
                      .input = input,
                      .mask = selected,
                      .output = graph.import(between),
                      .binning = Histogram::ResidentEdges{graph.import(edges)}});
  CompiledGraph compiled = graph.compile();
  for (int round = 0; round < 2; ++round) {
    execute(compiled);
    EXPECT_EQ(tessera::download<std::uint32_t>(counts), (Words{4, 4}));
    EXPECT_EQ(tessera::download<std::uint32_t>(between), (Words{4, 4}));
  }
  write_rows(domain, {2, 3});
  write_rows(edges, {5, 5, 9});
  write_rows(mask, {1, 1, 1, 0, 1, 1, 1, 1});
  execute(compiled);
  EXPECT_EQ(tessera::download<std::uint32_t>(counts), (Words{1, 0}));
  EXPECT_EQ(tessera::download<std::uint32_t>(between), (Words{0, 0}));
  write_rows(domain, {3, 2});
  write_rows(edges, {1, 3, 7});
  execute(compiled, {rebind(input, vector_of(Words{1, 1, 1, 1, 7, 8, 3, 2}))});
  EXPECT_EQ(tessera::download<std::uint32_t>(counts), (Words{0, 0}));
  EXPECT_EQ(tessera::download<std::uint32_t>(between), (Words{4, 2}));
}

TEST_F(HistogramGraphTest, HonoursLengthsOnTheDevice) {
  const std::vector<float> values = random_values<float>(10000, 12, Spread::moderate);
  const Vector storage = vector_of(values);
  const Vector word = vector_of(Words{0});
  const Vector rows(Format::float32, {storage.chunks().begin(), storage.chunks().end()},
                    CountWord{word.chunks()[0].buffer, 0});
  const Vector counts = rows_of<std::uint32_t>(50);
  const Vector domain = rows_of<float>(2);
  const Vector automatic = rows_of<std::uint32_t>(50);
  Graph graph(device());
  const auto input = graph.import(rows);
  graph.add(Histogram{
      .id = "literal", .input = input, .output = graph.import(counts), .binning = Histogram::Domain{-500, 500}});
  graph.add(Histogram{.id = "automatic",
                      .input = input,
                      .output = graph.import(automatic),
                      .binning = Histogram::AutomaticDomain{},
                      .domain_output = graph.import(domain)});
  CompiledGraph compiled = graph.compile();
  for (const std::uint32_t length : {10000U, 0U, 1U, 4097U, 20000U}) {
    SCOPED_TRACE(length);
    write_rows(word, {length});
    execute(compiled);
    const std::span<const float> head(values.data(), std::min<std::size_t>(length, values.size()));
    const auto as_counts = [](const Vector& vector) {
      const Words read = tessera::download<std::uint32_t>(vector);
      return Counts(read.begin(), read.end());
    };
    EXPECT_EQ(as_counts(counts), reference::histogram<float>(head, -500, 500, 50));
    const auto extent = reference::automatic_domain<float>(head);
    EXPECT_EQ(tessera::download<float>(domain), (std::vector<float>{extent[0], extent[1]}));
    EXPECT_EQ(as_counts(automatic), reference::histogram<float>(head, extent[0], extent[1], 50));
  }
}

// A false condition leaves even the clearing out.
TEST_F(HistogramGraphTest, RunsUnderConditions) {
  const Vector values = vector_of(Words{1, 2, 3});
  const Vector predicate = vector_of(Words{0});
  const Vector counts = vector_of(Words{guard_word, guard_word});
  Graph graph(device());
  const Histogram histogram{
      .input = graph.import(values), .output = graph.import(counts), .binning = Histogram::AutomaticDomain{}};
  const GraphBuffer condition = graph.import(predicate.chunks()[0].buffer);
  graph.add(Conditional{.id = "when", .predicate = condition.view<std::uint32_t>(1), .body = {histogram}});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(tessera::download<std::uint32_t>(counts), (Words{guard_word, guard_word}));
  write_rows(predicate, {1});
  execute(compiled);
  EXPECT_EQ(tessera::download<std::uint32_t>(counts), (Words{1, 2}));
}

TEST_F(HistogramGraphTest, TakesDisjointRangesOfOneBuffer) {
  const Buffer buffer = upload(std::vector<std::uint32_t>{1, 2, 3, 3, guard_word, guard_word, 1, 3});
  const Vector values(Format::uint32, {Chunk{buffer, 0, 4, 0}});
  const Vector counts(Format::uint32, {Chunk{buffer, 16, 2, 0}});
  const Vector domain(Format::uint32, {Chunk{buffer, 24, 2, 0}});
  run(device(), Histogram{.input = values, .output = counts, .binning = Histogram::ResidentDomain{domain}});
  EXPECT_EQ(download<std::uint32_t>(buffer), (Words{1, 2, 3, 3, 1, 3, 1, 3}));
}

// One dispatch counts, whatever the partition.
TEST_F(HistogramGraphTest, TakesTwoDispatchesForAnyPartition) {
  const std::vector<float> values(5000, 1.0F);
  for (const std::uint64_t chunks : {1, 50, 1000}) {
    Graph graph(device());
    const Vector rows = upload_rows(values, reference::random_partition(values.size(), chunks, 4));
    graph.add(Histogram{.input = graph.import(rows),
                        .output = graph.import(rows_of<std::uint32_t>(4)),
                        .binning = Histogram::Domain{0, 2}});
    EXPECT_EQ(graph.compile().statistics().dispatch_count, 2U) << chunks;
  }
}

class HistogramErrors : public HistogramGraphTest {
 protected:
  void expect(
      ErrorCode code, const Source& input, const Target& output, const Histogram::Binning& binning,
      const std::function<void(Histogram&)>& fill = [](Histogram&) {}) {
    Histogram histogram{.input = input, .output = output, .binning = binning};
    fill(histogram);
    const std::string text = expect_error(code, [&] { run(device(), histogram); });
    EXPECT_NE(text.find("histogram"), std::string::npos) << text;
  }
  const Vector floats = vector_of(std::vector<float>{1, 2, 3});
  const Vector words = vector_of(Words{1, 2, 3});
  const Vector integers = vector_of(std::vector<std::int32_t>{1, 2, 3});
  const Vector counts = rows_of<std::uint32_t>(2);
  const double infinity = std::numeric_limits<double>::infinity();
  const double not_a_number = std::numeric_limits<double>::quiet_NaN();
};

TEST_F(HistogramErrors, NameLiteralBounds) {
  for (const auto& [low, high] : {std::pair{1.0, 0.0}, {not_a_number, 1.0}, {0.0, infinity}, {0.0, 1e39}})
    expect(ErrorCode::invalid_argument, floats, counts, Histogram::Domain{low, high});
  for (const auto& [low, high] : {std::pair{-1.0, 1.0}, {0.5, 1.0}, {0.0, 4294967296.0}})
    expect(ErrorCode::invalid_argument, words, counts, Histogram::Domain{low, high});
  for (const auto& [low, high] : {std::pair{-2147483649.0, 1.0}, {0.0, 2147483648.0}})
    expect(ErrorCode::invalid_argument, integers, counts, Histogram::Domain{low, high});
  expect(ErrorCode::invalid_argument, floats, counts, Histogram::Edges{{0, 1, 1}});
  expect(ErrorCode::invalid_argument, floats, counts, Histogram::Edges{{0, 1, 1 + 0x1p-40}});
  expect(ErrorCode::invalid_argument, floats, counts, Histogram::Edges{{0, 2, 1}});
  expect(ErrorCode::invalid_argument, floats, counts, Histogram::Edges{{0, not_a_number, 1}});
  expect(ErrorCode::invalid_argument, words, counts, Histogram::Edges{{0, 1.5, 2}});
  expect(ErrorCode::length_mismatch, floats, counts, Histogram::Edges{{0, 1}});
}

TEST_F(HistogramErrors, NameShapesAndFormats) {
  expect(ErrorCode::length_mismatch, floats, Vector(Format::uint32, {Chunk{counts.chunks()[0].buffer, 0, 0, 0}}),
         Histogram::Domain{0, 1});
  expect(ErrorCode::format_mismatch, floats, rows_of<float>(2), Histogram::Domain{0, 1});
  expect(ErrorCode::format_mismatch, floats, counts, Histogram::ResidentDomain{rows_of<std::uint32_t>(2)});
  expect(ErrorCode::length_mismatch, floats, counts, Histogram::ResidentDomain{rows_of<float>(3)});
  expect(ErrorCode::format_mismatch, words, counts, Histogram::ResidentEdges{rows_of<std::int32_t>(3)});
  expect(ErrorCode::length_mismatch, words, counts, Histogram::ResidentEdges{rows_of<std::uint32_t>(4)});
  expect(ErrorCode::length_mismatch, floats, counts, Histogram::Domain{0, 1},
         [&](Histogram& histogram) { histogram.mask = rows_of<std::uint32_t>(4); });
  expect(ErrorCode::format_mismatch, floats, counts, Histogram::Domain{0, 1},
         [&](Histogram& histogram) { histogram.mask = floats; });
  const Vector halves(Format::uint32,
                      {Chunk{counts.chunks()[0].buffer, 0, 1, 0}, Chunk{counts.chunks()[0].buffer, 4, 1, 0}});
  expect(ErrorCode::layout_mismatch, floats, halves, Histogram::Domain{0, 1});
  expect(ErrorCode::surplus_operand, floats, counts, Histogram::Domain{0, 1},
         [&](Histogram& histogram) { histogram.domain_output = rows_of<float>(2); });
  expect(ErrorCode::format_mismatch, floats, counts, Histogram::AutomaticDomain{},
         [&](Histogram& histogram) { histogram.domain_output = rows_of<std::uint32_t>(2); });
  expect(ErrorCode::surplus_operand, floats, rows_of<std::uint64_t>(2), Histogram::Domain{0, 1},
         [&](Histogram& histogram) { histogram.overflow = rows_of<std::uint32_t>(1); });
}

TEST_F(HistogramErrors, NameAliases) {
  Graph graph(device());
  const GraphBuffer buffer = graph.import(rows_of<std::uint32_t>(8).chunks()[0].buffer);
  const auto at = [&](std::uint64_t first, std::uint64_t length) {
    return buffer.view<std::uint32_t>(length, {.byte_offset = 4 * first});
  };
  const auto expect_alias = [&](const Histogram& histogram) {
    EXPECT_NE(expect_error(ErrorCode::alias, [&] { graph.add(histogram); }).find("histogram"), std::string::npos);
  };
  const Histogram::Domain domain{0, 1};
  expect_alias({.input = at(0, 4), .output = at(3, 2), .binning = domain});
  expect_alias({.input = at(0, 4), .mask = Source(at(4, 4)), .output = at(7, 1), .binning = domain});
  expect_alias({.input = at(0, 2), .output = at(3, 2), .binning = Histogram::ResidentDomain{at(4, 2)}});
  expect_alias({.input = at(0, 2), .output = at(3, 2), .binning = Histogram::ResidentEdges{at(4, 3)}});
  expect_alias({.input = at(0, 2),
                .output = at(3, 2),
                .binning = Histogram::AutomaticDomain{},
                .domain_output = Target(at(4, 2))});
  expect_alias({.input = at(0, 2), .output = at(3, 2), .binning = domain, .overflow = Target(at(4, 1))});
  graph.add(Histogram{.input = at(0, 2), .output = at(3, 2), .binning = domain, .overflow = Target(at(5, 1))});
}

TEST_F(HistogramErrors, NameTheChoiceOfBinsInRequests) {
  Request plain;
  plain.operation = "histogram";
  plain.input("input", Source(floats)).output("output", Target(counts));
  const auto expect_request = [&](ErrorCode code, const Request& request) {
    expect_error(code, [&] { run(device(), Operation::from_request(request)); });
  };
  expect_request(ErrorCode::missing_operand, plain);
  expect_request(ErrorCode::missing_operand, Request(plain).option("binning", "domain"));
  expect_request(ErrorCode::missing_operand, Request(plain).option("binning", "resident_edges"));
  expect_request(ErrorCode::invalid_option, Request(plain).option("binning", "nearest"));
  const Request both = Request(plain).option("binning", "domain").option("bounds", std::vector<double>{0, 1});
  expect_request(ErrorCode::surplus_operand, Request(both).input("domain", Source(pair_of(0.0F, 1.0F))));
  expect_request(ErrorCode::length_mismatch,
                 Request(plain).option("binning", "domain").option("bounds", std::vector<double>{0, 1, 2}));
}

TEST_F(HistogramErrors, NameForeignGraphs) {
  Graph graph(device());
  Graph other(device());
  expect_error(ErrorCode::foreign_graph, [&] {
    graph.add(
        Histogram{.input = graph.import(floats), .output = other.import(counts), .binning = Histogram::Domain{0, 1}});
  });
}

}  // namespace
}  // namespace tessera::test
