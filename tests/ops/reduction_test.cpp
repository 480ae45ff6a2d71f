#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <tessera/graph/graph.hpp>
#include <tessera/operand/sum_state.hpp>
#include <tessera/ops/aggregation.hpp>

#include "reference/columns.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Operation = Reduction::Operation;

class ReductionTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector vector_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }
  template <class T, class Result = T>
  static std::vector<Result> reduce(const Source& input, Operation operation,
                                    const std::optional<Source>& mask = std::nullopt) {
    const std::uint64_t rows = operation == Operation::extent ? 2 : 1;
    const GuardedRows<Result> output(device(), {"one chunk", {rows}});
    tessera::run(device(), Reduction{.input = input, .mask = mask, .output = output.vector(), .operation = operation});
    return tessera::download<Result>(output.vector());
  }
  template <class T>
  static void expect_bits(const std::vector<T>& found, const std::vector<T>& wanted) {
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(wanted[i]))
          << i << ": " << found[i] << " instead of " << wanted[i];
  }

  template <class T>
  static void check(std::uint64_t rows, std::size_t first_partition, Spread spread) {
    const std::vector<Partition> partitions = standard_partitions(rows, 21);
    const Partition& of_values = partitions[first_partition % partitions.size()];
    const Partition& of_mask = partitions[(first_partition + 1) % partitions.size()];
    SCOPED_TRACE(std::to_string(rows) + " rows, " + of_values.name);
    const std::vector<T> values = random_values<T>(rows, first_partition, spread);
    const std::vector<std::uint32_t> mask = random_mask(rows, first_partition, 0.5);
    const Vector input = GuardedRows<T>(device(), of_values, values, Placement::shifted).vector();
    const Vector selected = GuardedRows<std::uint32_t>(device(), of_mask, mask).vector();
    for (const Operation operation : {Operation::sum, Operation::minimum, Operation::maximum, Operation::extent}) {
      SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)));
      const auto expected = static_cast<reference::ReductionOperation>(operation);
      expect_bits(reduce<T>(input, operation), reference::reduce<T>(expected, values));
      expect_bits(reduce<T>(input, operation, selected),
                  reference::reduce<T>(expected, values, {.mask = mask, .validity = {}}));
    }
  }
};

TEST_F(ReductionTest, agrees_with_the_reference_over_every_partition) {
  std::size_t turn = 0;
  for (const std::uint64_t rows : {1U, 255U, 257U, 4096U, 4097U, 20011U}) {
    check<std::uint32_t>(rows, turn, Spread::all_bits);
    check<std::int32_t>(rows, turn + 1, Spread::all_bits);
    check<float>(rows, turn + 2, Spread::moderate);
    check<float>(rows, turn + 3, Spread::finite);
    check<float>(rows, turn + 4, Spread::with_special);
    turn += 5;
  }
}

TEST_F(ReductionTest, gives_the_same_bits_for_every_partition_and_order) {
  // Values over the whole exponent range: a plain sum changes with every partition.
  std::vector<float> values = random_values<float>(70001, 9, Spread::finite);
  SumState exact;
  for (const float value : values) exact.add(value);
  for (const Partition& partition : standard_partitions(values.size(), 5)) {
    const Vector input = GuardedRows<float>(device(), partition, values).vector();
    expect_bits(reduce<float>(input, Operation::sum), {exact.to_float()});
  }
  std::ranges::reverse(values);
  expect_bits(reduce<float>(vector_of(values), Operation::sum), {exact.to_float()});
  EXPECT_EQ((reduce<float, double>(vector_of(values), Operation::sum)[0]), exact.to_double());
}

TEST_F(ReductionTest, writes_a_mergeable_state) {
  const std::vector<float> values = random_values<float>(5000, 3, Spread::moderate);
  const Buffer state = device().allocate(SumState::byte_size);
  const Vector output(Format::sum_state, {Chunk{.buffer = state, .length = 1}});
  tessera::run(device(), Reduction{.input = vector_of(values), .output = output, .operation = Operation::sum});
  std::vector<std::byte> bytes(SumState::byte_size);
  device().read(state, 0, bytes);
  SumState expected;
  for (const float value : values) expected.add(value);
  EXPECT_EQ(SumState::from_bytes(bytes), expected);
}

TEST_F(ReductionTest, follows_the_rules_for_what_is_not_finite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Vector values = vector_of<float>({nan, -0.5F, infinity, 3.0F});
  EXPECT_EQ((reduce<float>(values, Operation::extent)), (std::vector<float>{-0.5F, 3.0F}));
  EXPECT_TRUE(std::isnan(reduce<float>(values, Operation::sum)[0]));
  const Vector all = vector_of<std::uint32_t>({1, 1, 1, 1});
  EXPECT_EQ(reduce<float>(values, Operation::sum, all)[0], 2.5F);
  EXPECT_EQ(reduce<float>(vector_of<float>({infinity, 1.0F}), Operation::sum)[0], infinity);
  EXPECT_EQ((reduce<float>(vector_of<float>({nan, infinity}), Operation::extent)), (std::vector<float>{0.0F, 0.0F}));
}

TEST_F(ReductionTest, wraps_integers_and_keeps_them_in_wider_outputs) {
  const Vector words = vector_of<std::uint32_t>({4294967290U, 10U});
  EXPECT_EQ(reduce<std::uint32_t>(words, Operation::sum)[0], 4U);
  EXPECT_EQ((reduce<std::uint32_t, std::uint64_t>(words, Operation::sum)[0]), 4294967300U);
  const Vector integers = vector_of<std::int32_t>({2147483647, 1});
  EXPECT_EQ(reduce<std::int32_t>(integers, Operation::sum)[0], std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((reduce<std::int32_t, std::int64_t>(integers, Operation::sum)[0]), 2147483648);
}

TEST_F(ReductionTest, counts_only_rows_that_are_there) {
  const std::vector<std::uint16_t> samples{5, 65535, 7, 9};
  const Source band = Source(vector_of(samples))
                          .with_no_data({65535})
                          .with_validity({.rows = vector_of<std::uint8_t>({1, 1, 1, 0}), .kind = ValidityKind::byte});
  EXPECT_EQ(reduce<std::uint32_t>(band, Operation::sum)[0], 12U);
  EXPECT_EQ((reduce<std::uint32_t>(band, Operation::extent)), (std::vector<std::uint32_t>{5, 7}));
}

TEST_F(ReductionTest, gives_zero_for_no_rows_and_follows_a_length_on_the_device) {
  const Vector empty = vector_of(std::vector<float>());
  EXPECT_EQ(reduce<float>(empty, Operation::sum)[0], 0.0F);
  EXPECT_EQ((reduce<float>(empty, Operation::extent)), (std::vector<float>{0.0F, 0.0F}));

  const std::vector<std::uint32_t> values = random_values<std::uint32_t>(9001, 8, Spread::all_bits);
  for (const std::uint32_t count : {0U, 1U, 5000U, 9001U, 100000U}) {
    const Buffer word = upload(std::vector<std::uint32_t>{count});
    const GuardedRows<std::uint32_t> rows(device(), standard_partitions(9001, 2)[2], values);
    std::uint32_t expected = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(count, values.size()); ++i) expected += values[i];
    EXPECT_EQ(reduce<std::uint32_t>(rows.vector(CountWord{.buffer = word, .byte_offset = 0}), Operation::sum)[0],
              expected)
        << count;
  }
}

TEST_F(ReductionTest, reads_columns_of_records) {
  const std::vector<float> records{1, 100, 2, 200, 3, 300};
  const Buffer buffer = upload(records);
  const Vector second(Format::float32, {Chunk{.buffer = buffer, .byte_offset = 4, .length = 3, .byte_stride = 8}});
  EXPECT_EQ(reduce<float>(second, Operation::sum)[0], 600.0F);
}

TEST_F(ReductionTest, takes_two_dispatches_whatever_the_partition) {
  for (const Partition& partition : standard_partitions(9001, 4)) {
    Graph graph(device());
    graph.add(Reduction{.input = GuardedRows<float>(device(), partition).vector(),
                        .output = vector_of<float>({0}),
                        .operation = Operation::sum});
    EXPECT_EQ(graph.compile().statistics().dispatch_count, 2U) << partition.name;
  }
}

TEST_F(ReductionTest, rejects_what_does_not_fit) {
  const Vector values = vector_of<float>({1, 2, 3});
  const auto rejects = [&](ErrorCode code, const Reduction& reduction) {
    Graph graph(device());
    try {
      graph.add(reduction);
      ADD_FAILURE() << "accepted; expected " << name_of(code);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find("reduction"), std::string::npos) << error.what();
    }
  };
  const Vector one = vector_of<float>({0});
  rejects(ErrorCode::length_mismatch, {.input = values, .output = one, .operation = Operation::extent});
  rejects(ErrorCode::format_mismatch,
          {.input = values, .output = vector_of<std::uint32_t>({0}), .operation = Operation::sum});
  rejects(ErrorCode::length_mismatch,
          {.input = values, .mask = vector_of<std::uint32_t>({1}), .output = one, .operation = Operation::sum});
  rejects(ErrorCode::format_mismatch, {.input = values, .mask = values, .output = one, .operation = Operation::sum});
}

}  // namespace
}  // namespace tessera::test
