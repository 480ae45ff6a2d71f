// Bit masks as validity, through every operation that takes a source with missing rows.
#include <tessera/ops/aggregation.hpp>
#include <tessera/ops/arithmetic.hpp>
#include <tessera/ops/histogram.hpp>
#include <tessera/ops/prefix.hpp>

#include "reference/columns.hpp"
#include "reference/histogram.hpp"
#include "scan_fixture.hpp"
#include "support/guarded_bits.hpp"

namespace tessera::test {
namespace {

class BitValidityTest : public ScanFixture {
 protected:
  static Source source_of(const Words& values, const Partition& partition) {
    return GuardedRows<std::uint32_t>(device(), partition, values, Placement::shifted).vector();
  }
  static Words sum_of(const Source& source) {
    const Vector output = vector_of(Words(1, 7));
    tessera::run(device(), Reduction{.input = source, .output = output, .operation = Reduction::Operation::sum});
    return tessera::download<std::uint32_t>(output);
  }
  static Words expected_sum(const Words& values, const Words& validity) {
    return reference::reduce<std::uint32_t>(reference::ReductionOperation::sum, values,
                                            {.mask = {}, .validity = validity});
  }
};

TEST_F(BitValidityTest, LimitsReductionsOverPartitionsAndBorders) {
  for (const std::uint64_t rows : {0, 1, 7, 8, 9, 31, 33, 64, 65, 4097, 70001}) {
    const Words values = random_words(rows, rows);
    const Words validity = random_mask(rows, rows + 1, 0.5);
    const std::vector<Partition> partitions = standard_partitions(rows, 5);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      const Partition& of_bits = partitions[(i + 1) % partitions.size()];
      SCOPED_TRACE(std::to_string(rows) + " rows, " + partitions[i].name + ", bits in " + of_bits.name);
      const Source source =
          source_of(values, partitions[i]).with_validity(guarded_bits(device(), of_bits, validity, i % 2 == 0));
      EXPECT_EQ(sum_of(source), expected_sum(values, validity));
    }
  }
}

TEST_F(BitValidityTest, BeginsAtAnyBit) {
  const Words values = random_words(5000, 1);
  const Words validity = random_mask(5000, 2, 0.5);
  for (std::uint64_t offset = 0; offset <= 65; ++offset) {
    std::vector<std::byte> bytes((offset + 5000 + 7) / 8, std::byte{0xff});
    reference::write_bits(validity, bytes, offset);
    const Buffer buffer = device().allocate(bytes.size());
    device().write(buffer, 0, bytes);
    const Validity bits = bit_validity({{.buffer = buffer, .bit_offset = offset, .length = 5000}});
    EXPECT_EQ(sum_of(Source(vector_of(values)).with_validity(bits)), expected_sum(values, validity)) << offset;
  }
}

TEST_F(BitValidityTest, ScansWithEveryKernel) {
  for (const std::uint64_t rows : {255, 9001}) {
    const Words values = random_words(rows, 3);
    const Words validity = random_mask(rows, 4, 0.6);
    const Words flags = random_flags(rows, 5, 500);
    const std::vector<Partition> partitions = standard_partitions(rows, 6);
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      for (const Kernels& kernels : every_kernel) {
        SCOPED_TRACE(std::to_string(rows) + " rows, " + partitions[i].name + ", " + kernels.name());
        const Validity bits = guarded_bits(device(), partitions[i], validity, true);
        const GuardedRows<std::uint32_t> output(device(), one_chunk(rows));
        run_scan({.input = Source(vector_of(values)).with_validity(bits),
                  .segment_flags = vector_of(flags),
                  .output = output.vector()},
                 kernels);
        output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, flags, validity));
      }
    }
  }
}

TEST_F(BitValidityTest, LimitsHistogramsAndTheirAutomaticDomains) {
  for (const std::uint64_t rows : {1, 4097, 20000}) {
    const Words values = random_values<std::uint32_t>(rows, 8, Spread::moderate);
    const Words validity = random_mask(rows, 9, 0.3);
    const Words mask = random_mask(rows, 10);
    for (const Partition& partition : standard_partitions(rows, 11)) {
      SCOPED_TRACE(std::to_string(rows) + " rows, bits in " + partition.name);
      const Vector output = vector_of(Words(16, 7));
      const Source source = Source(vector_of(values)).with_validity(guarded_bits(device(), partition, validity, false));
      tessera::run(
          device(),
          Histogram{
              .input = source, .mask = vector_of(mask), .output = output, .binning = Histogram::AutomaticDomain{}});
      const reference::Rows selected{.mask = mask, .validity = validity};
      const auto domain = reference::automatic_domain<std::uint32_t>(values, selected);
      const std::vector<std::uint64_t> counts =
          reference::histogram<std::uint32_t>(values, domain[0], domain[1], 16, selected);
      EXPECT_EQ(tessera::download<std::uint32_t>(output), Words(counts.begin(), counts.end()));
    }
  }
}

TEST_F(BitValidityTest, CarriesThroughElementwise) {
  const Words a = random_words(9001, 12);
  const Words b = random_words(9001, 13);
  const Words of_a = random_mask(9001, 14);
  const Words of_b = random_mask(9001, 15);
  const Words sums = reference::elementwise<std::uint32_t>(reference::ElementwiseOperation::add, a, b);
  Words expected(9001);
  Words there(9001);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    there[i] = of_a[i] != 0 && of_b[i] != 0 ? 1 : 0;
    expected[i] = there[i] != 0 ? sums[i] : 0;
  }
  const std::vector<Partition> partitions = standard_partitions(9001, 16);
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    SCOPED_TRACE("bits in " + partitions[i].name);
    const Partition& other = partitions[(i + 3) % partitions.size()];
    const GuardedRows<std::uint32_t> output(device(), other);
    const GuardedRows<std::uint32_t> validity(device(), one_chunk(9001));
    tessera::run(device(),
                 Elementwise{.operation = Elementwise::Operation::add,
                             .a = Source(vector_of(a)).with_validity(guarded_bits(device(), partitions[i], of_a, true)),
                             .b = Source(vector_of(b)).with_validity(guarded_bits(device(), other, of_b, false)),
                             .output = output.vector(),
                             .output_validity = validity.vector()});
    output.expect_rows(expected);
    validity.expect_rows(there);
  }
}

TEST_F(BitValidityTest, IsReboundByItsBytes) {
  const Words values = random_words(100, 20);
  const Words first = random_mask(100, 21);
  const Words second = random_mask(100, 22);
  Graph graph(device());
  const Validity bits = guarded_bits(device(), one_chunk(100), first, true);
  const Validity others = guarded_bits(device(), one_chunk(100), second, false);
  const ImportedVector bytes = graph.import(std::get<Vector>(bits.rows));
  const Vector output = vector_of({7});
  graph.add(Reduction{.input = Source(vector_of(values)).with_validity({bytes.view(), ValidityKind::bit, bits.bits}),
                      .output = output,
                      .operation = Reduction::Operation::sum});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(tessera::download<std::uint32_t>(output), expected_sum(values, first));
  execute(compiled, {rebind(bytes, std::get<Vector>(others.rows))});
  EXPECT_EQ(tessera::download<std::uint32_t>(output), expected_sum(values, second));
}

TEST_F(BitValidityTest, RejectsMasksThatDoNotFit) {
  const Vector values = vector_of(Words(20, 1));
  const Vector bytes = tessera::upload<std::uint8_t>(device(), std::vector<std::uint8_t>(3));
  const auto add = [&](const Validity& validity) {
    Graph graph(device());
    graph.add(Reduction{.input = Source(values).with_validity(validity),
                        .output = vector_of({0}),
                        .operation = Reduction::Operation::sum});
  };
  EXPECT_NO_THROW(add({bytes, ValidityKind::bit, {{.first_bit = 4, .length = 20}}}));
  expect_error(ErrorCode::range_out_of_bounds, [&] { add({bytes, ValidityKind::bit, {{5, 20}}}); });
  expect_error(ErrorCode::length_mismatch, [&] { add({bytes, ValidityKind::bit, {{4, 19}}}); });
  expect_error(ErrorCode::length_mismatch, [&] { add({bytes, ValidityKind::bit, {}}); });
  expect_error(ErrorCode::format_mismatch, [&] { add({vector_of({1}), ValidityKind::bit, {{0, 20}}}); });
  expect_error(ErrorCode::range_out_of_bounds,
               [&] { bit_validity({{.buffer = device().allocate(4), .bit_offset = 30, .length = 3}}); });
  Graph graph(device());
  const ImportedVector import = graph.import(bytes);
  expect_error(ErrorCode::layout_mismatch, [&] {
    graph.add(
        Reduction{.input = Source(values).with_validity({import.view().slice(0, 2), ValidityKind::bit, {{0, 16}}}),
                  .output = vector_of({0}),
                  .operation = Reduction::Operation::sum});
  });
}

}  // namespace
}  // namespace tessera::test
