// What scans compute: any partition, size and kernel against the plain loop.
#include "ops/scan_fixture.hpp"

namespace tessera::test {
namespace {

constexpr Scan::Mode modes[] = {Scan::Mode::exclusive, Scan::Mode::inclusive};

class ScanTest : public ScanFixture {
 protected:
  struct Case {
    Partition input;
    Partition flags;
    Partition output;
    Placement placement = Placement::aligned;
  };

  /// Scans with one partition per operand and compares every byte.
  static void check(const Words& values, const std::optional<Words>& flags, Scan::Mode mode, const Case& partitions,
                    const Kernels& kernels) {
    SCOPED_TRACE(std::to_string(values.size()) + " rows, input " + partitions.input.name + ", flags " +
                 partitions.flags.name + ", output " + partitions.output.name + ", " + kernels.name() +
                 (mode == Scan::Mode::inclusive ? ", inclusive" : ", exclusive") + (flags ? ", segmented" : ""));
    const GuardedRows<std::uint32_t> input(device(), partitions.input, values, partitions.placement);
    const GuardedRows<std::uint32_t> output(device(), partitions.output, {}, partitions.placement);
    std::optional<GuardedRows<std::uint32_t>> starts;
    Scan scan{.mode = mode, .input = input.vector(), .output = output.vector()};
    if (flags) {
      starts.emplace(device(), partitions.flags, std::span<const std::uint32_t>(*flags), partitions.placement);
      scan.segment_flags = starts->vector();
    }
    run_scan(scan, kernels);
    output.expect_rows(reference::scan(values, reference_mode(mode), flags ? *flags : Words{}));
    input.expect_rows(values);
  }

  static Words run(const Words& values, Scan::Mode mode, const std::optional<Words>& flags = {},
                   const Kernels& kernels = {}) {
    const Vector output = vector_of(Words(values.size(), 77));
    Scan scan{.mode = mode, .input = vector_of(values), .output = output};
    if (flags) scan.segment_flags = vector_of(*flags);
    run_scan(scan, kernels);
    return tessera::download<std::uint32_t>(output);
  }
};

// The examples of docs/operations/prefix.md.
TEST_F(ScanTest, GivesTheDocumentedExamples) {
  for (const Kernels& kernels : every_kernel) {
    SCOPED_TRACE(kernels.name());
    const Words values{5, 0, 2, 9, 1};
    const Words flags{0, 0, 1, 0, 7};
    EXPECT_EQ(run(values, Scan::Mode::exclusive, {}, kernels), (Words{0, 5, 5, 7, 16}));
    EXPECT_EQ(run(values, Scan::Mode::inclusive, {}, kernels), (Words{5, 5, 7, 16, 17}));
    EXPECT_EQ(run(values, Scan::Mode::exclusive, flags, kernels), (Words{0, 5, 0, 2, 0}));
    EXPECT_EQ(run(values, Scan::Mode::inclusive, flags, kernels), (Words{5, 5, 2, 11, 1}));
    EXPECT_EQ(run({0xfffffffe, 3, 5}, Scan::Mode::inclusive, {}, kernels), (Words{4294967294, 1, 6}));
  }
}

TEST_F(ScanTest, CarriesOverChunkBordersUnlessASegmentStartsThere) {
  const Partition chunks{"chunks", {2, 0, 1, 2}};
  for (const Kernels& kernels : every_kernel) {
    const Words values{4, 1, 6, 2, 3};
    check(values, {}, Scan::Mode::exclusive, {chunks, chunks, chunks}, kernels);
    check(values, Words{0, 0, 0, 5, 0}, Scan::Mode::exclusive, {chunks, chunks, chunks}, kernels);
  }
}

// Every size with every partition, each operand with another one.
TEST_F(ScanTest, AgreesWithThePlainLoopForEveryPartition) {
  for (const std::uint64_t rows : {0, 1, 2, 63, 64, 65, 255, 256, 257, 4096, 4097, 17001, 65537}) {
    const Words values = random_words(rows, rows + 1);
    const Words flags = random_flags(rows, rows + 2, 700);
    const std::vector<Partition> partitions = standard_partitions(rows, rows + 3);
    for (std::size_t k = 0; k < partitions.size(); ++k) {
      const Case operands{partitions[k], partitions[(k + 1) % partitions.size()],
                          partitions[(k + 3) % partitions.size()],
                          k % 2 == 0 ? Placement::aligned : Placement::shifted};
      const Kernels& kernels = every_kernel[k % every_kernel.size()];
      check(values, {}, modes[k % 2], operands, kernels);
      check(values, flags, modes[(k + 1) % 2], operands, every_kernel[(k + 1) % every_kernel.size()]);
    }
  }
}

TEST_F(ScanTest, SizesAroundTilesHaveTheSameResultFromEveryKernel) {
  for (const std::uint64_t rows : {2047, 2048, 2049, 4095, 6143, 6144, 6145, 12288, 70001}) {
    const Words values = random_words(rows, rows);
    const Words flags = random_flags(rows, rows, 3000);
    const Partition chunks{"halves", {rows / 2, rows - rows / 2}};
    for (const Kernels& kernels : every_kernel)
      for (const Scan::Mode mode : modes)
        for (const auto& segments : {std::optional<Words>{}, std::optional<Words>{flags}})
          check(values, segments, mode, {chunks, one_chunk(rows), one_chunk(rows)}, kernels);
  }
}

TEST_F(ScanTest, SegmentsStartAnywhere) {
  constexpr std::uint32_t rows = 40000;
  const Words values = random_words(rows, 5);
  const std::vector<Words> starts = {{0},
                                     {1},
                                     {255, 256, 257},
                                     {2047, 2048, 2049},
                                     {4095, 4096, 4097},
                                     {6143, 6144, 6145},
                                     {39998},
                                     {39999},
                                     {300, 301, 302, 303, 304, 305, 306, 307},
                                     {12288, 24576},
                                     {20000, 20001, 39999}};
  for (const Words& rows_of_starts : starts) {
    Words flags(rows);
    for (const std::uint32_t row : rows_of_starts) flags[row] = row + 1;
    SCOPED_TRACE("first start " + std::to_string(rows_of_starts.front()));
    for (const Kernels& kernels : every_kernel)
      for (const Scan::Mode mode : modes)
        check(values, flags, mode, {one_chunk(rows), {"two", {12345, rows - 12345}}, one_chunk(rows)}, kernels);
  }
  for (const Kernels& kernels : every_kernel) {
    check(values, Words(rows, 0), Scan::Mode::inclusive, {one_chunk(rows), one_chunk(rows), one_chunk(rows)}, kernels);
    check(values, Words(rows, 9), Scan::Mode::inclusive, {one_chunk(rows), one_chunk(rows), one_chunk(rows)}, kernels);
  }
}

TEST_F(ScanTest, SumsOfSimpleSequences) {
  constexpr std::uint32_t rows = 10000;
  Words ramp(rows);
  for (std::uint32_t i = 0; i < rows; ++i) ramp[i] = i;
  const Case whole{one_chunk(rows), one_chunk(rows), one_chunk(rows)};
  for (const Kernels& kernels : every_kernel)
    for (const Words& values : {Words(rows, 0), Words(rows, 1), Words(rows, 0xffffffff), ramp})
      check(values, {}, Scan::Mode::inclusive, whole, kernels);
}

TEST_F(ScanTest, LeavesSpareRowsOfTheOutputAndIgnoresFlagsBehindTheInput) {
  const Words values = random_words(5000, 8);
  Words flags = random_flags(5600, 9, 100);
  std::fill(flags.begin() + 5000, flags.end(), 1);
  const Words used(flags.begin(), flags.begin() + 5000);
  for (const Kernels& kernels : every_kernel) {
    const GuardedRows<std::uint32_t> input(device(), {"input", {3000, 2000}}, values);
    const GuardedRows<std::uint32_t> starts(device(), {"flags", {10, 5590}}, flags);
    const GuardedRows<std::uint32_t> output(device(), {"output", {4000, 0, 900, 3000}});
    run_scan({.input = input.vector(), .segment_flags = starts.vector(), .output = output.vector()}, kernels);
    output.expect_rows(reference::scan(values, reference::ScanMode::exclusive, used));
  }
}

// More workgroups than one dimension of a dispatch takes, and three levels of totals: columns of uneven strides have a
// tile per span.
TEST_F(ScanTest, ScansMoreTilesThanOneDimensionHolds) {
  constexpr std::uint64_t chunks = 66000;
  constexpr std::uint64_t rows = 2 * chunks;
  const Words values = random_words(rows, 1);
  const Words validity = random_mask(rows, 2);
  const Words flags = random_flags(rows, 3, 50000);
  Words bytes(5 * chunks);
  std::vector<Chunk> places;
  const Buffer buffer = device().allocate(bytes.size() * 4);
  for (std::uint64_t k = 0; k < chunks; ++k) {
    const std::uint64_t stride = k % 2 + 1;
    places.push_back({.buffer = buffer, .byte_offset = 20 * k, .length = 2, .byte_stride = 4 * stride});
    for (std::uint64_t i = 0; i < 2; ++i) bytes[5 * k + i * stride] = validity[2 * k + i];
  }
  device().write(buffer, 0, std::as_bytes(std::span<const std::uint32_t>(bytes)));
  const Source source = Source(vector_of(values)).with_validity({.rows = Vector(Format::uint32, places)});
  for (const Kernels& kernels : every_kernel) {
    SCOPED_TRACE(kernels.name());
    const Vector output = vector_of(Words(rows, 77));
    run_scan({.input = source, .segment_flags = vector_of(flags), .output = output}, kernels);
    EXPECT_EQ(tessera::download<std::uint32_t>(output),
              reference::scan(values, reference::ScanMode::exclusive, flags, validity));
  }
}

template <class T>
Words widened(const std::vector<T>& values) {
  return Words(values.begin(), values.end());
}

TEST_F(ScanTest, ReadsNarrowValuesAndFlags) {
  const auto bytes = random_values<std::uint8_t>(30001, 1, Spread::all_bits);
  const auto shorts = random_values<std::uint16_t>(30001, 2, Spread::all_bits);
  std::vector<std::uint8_t> flags(bytes.size());
  for (std::size_t i = 0; i < flags.size(); i += 777) flags[i] = static_cast<std::uint8_t>(i | 1);
  for (const Kernels& kernels : every_kernel) {
    for (const Placement placement : {Placement::aligned, Placement::shifted}) {
      const GuardedRows<std::uint8_t> narrow(device(), {"bytes", {1000, 29001}}, bytes, placement);
      const GuardedRows<std::uint16_t> wide(device(), {"shorts", {20000, 10001}}, shorts, placement);
      const GuardedRows<std::uint8_t> starts(device(), one_chunk(bytes.size()), flags, placement);
      const GuardedRows<std::uint32_t> output(device(), one_chunk(bytes.size()));
      run_scan({.mode = Scan::Mode::inclusive,
                .input = narrow.vector(),
                .segment_flags = starts.vector(),
                .output = output.vector()},
               kernels);
      output.expect_rows(reference::scan(widened(bytes), reference::ScanMode::inclusive, widened(flags)));
      run_scan({.input = wide.vector(), .output = output.vector()}, kernels);
      output.expect_rows(reference::scan(widened(shorts), reference::ScanMode::exclusive));
    }
  }
}

TEST_F(ScanTest, CountsMissingRowsAsNothing) {
  const Words values = random_values<std::uint32_t>(20000, 3, Spread::moderate);
  const Words validity = random_mask(values.size(), 4);
  std::vector<std::uint8_t> validity_bytes;
  for (const std::uint32_t word : validity) validity_bytes.push_back(word != 0 ? 255 : 0);
  const Words flags = random_flags(values.size(), 5, 500);
  Words there = validity;
  for (std::size_t i = 0; i < there.size(); ++i)
    if (values[i] == 17) there[i] = 0;
  const Vector input = vector_of(values);
  const Validity words{.rows = vector_of(validity)};
  const Validity bytes{.rows = tessera::upload<std::uint8_t>(device(), validity_bytes), .kind = ValidityKind::byte};
  const Vector output = vector_of(values);
  for (const Kernels& kernels : every_kernel) {
    SCOPED_TRACE(kernels.name());
    for (const Validity& kind : {words, bytes}) {
      run_scan({.input = Source(input).with_validity(kind), .segment_flags = vector_of(flags), .output = output},
               kernels);
      EXPECT_EQ(tessera::download<std::uint32_t>(output),
                reference::scan(values, reference::ScanMode::exclusive, flags, validity));
    }
    run_scan({.mode = Scan::Mode::inclusive,
              .input = Source(input).with_validity(words).with_no_data({.bits = 17}),
              .output = output},
             kernels);
    EXPECT_EQ(tessera::download<std::uint32_t>(output),
              reference::scan(values, reference::ScanMode::inclusive, {}, there));
  }
}

TEST_F(ScanTest, WorksInPlace) {
  for (const std::uint64_t rows : {1, 1000, 50000}) {
    const Words values = random_words(rows, rows);
    const Words flags = random_flags(rows, rows, 1000);
    for (const Partition& partition : standard_partitions(rows)) {
      for (const Placement placement : {Placement::aligned, Placement::shifted}) {
        SCOPED_TRACE(partition.name);
        const GuardedRows<std::uint32_t> both(device(), partition, values, placement);
        run_scan({.mode = Scan::Mode::inclusive, .input = both.vector(), .output = both.vector()});
        const Words once = reference::scan(values, reference::ScanMode::inclusive);
        both.expect_rows(once);
        run_scan({.input = both.vector(), .segment_flags = vector_of(flags), .output = both.vector()});
        both.expect_rows(reference::scan(once, reference::ScanMode::exclusive, flags));
      }
    }
  }
}

// Random everything; the seed of a failure is in its trace.
TEST_F(ScanTest, AgreesWithThePlainLoopOnRandomCases) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomBits random(seed);
    const std::uint64_t rows = random.below(1 + (std::uint64_t{1} << random.below(17)));
    const auto partition = [&] {
      return reference::random_partition(rows, 1 + random.below(random.below(4) == 0 ? 200 : 8), random.next());
    };
    const Words values = random_words(rows, random.next());
    std::optional<Words> flags;
    if (random.below(2) == 0) flags = random_flags(rows, random.next(), 1 + random.below(5000));
    const Case operands{partition(), partition(), partition(),
                        random.below(2) == 0 ? Placement::aligned : Placement::shifted};
    check(values, flags, modes[random.below(2)], operands, every_kernel[random.below(every_kernel.size())]);
  }
}

// Beyond 2^32 rows: one chunk of input read again and again.
TEST_F(ScanTest, ScansMoreThanTwoToThe32Rows) {
  if (device().info().type == DeviceType::cpu || device().info().memory_bytes < std::uint64_t{48} << 30)
    GTEST_SKIP() << "needs a GPU with 48 GiB of memory";
  constexpr std::uint64_t chunk_rows = std::uint64_t{1} << 28;
  constexpr std::uint64_t chunks = 18;
  const Words ones(chunk_rows, 1);
  const Buffer values = upload(ones);
  std::vector<Chunk> input;
  std::vector<Chunk> output;
  for (std::uint64_t k = 0; k < chunks; ++k) {
    input.push_back({.buffer = values, .length = chunk_rows});
    output.push_back({.buffer = device().allocate(4 * chunk_rows), .length = chunk_rows});
  }
  for (const Kernels& kernels : {every_kernel.front(), every_kernel.back()}) {
    SCOPED_TRACE(kernels.name());
    run_scan({.input = Vector(Format::uint32, input), .output = Vector(Format::uint32, output)}, kernels);
    for (const std::uint64_t k : {std::uint64_t{0}, std::uint64_t{15}, std::uint64_t{16}, chunks - 1}) {
      const Words found = download<std::uint32_t>(output[k].buffer, 0, 1000);
      for (std::uint64_t i = 0; i < found.size(); ++i)
        ASSERT_EQ(found[i], static_cast<std::uint32_t>(k * chunk_rows + i));
    }
  }
}

}  // namespace
}  // namespace tessera::test
