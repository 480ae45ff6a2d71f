#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <tessera/graph/graph.hpp>
#include <tessera/ops/arithmetic.hpp>

#include "reference/columns.hpp"
#include "support/device_fixture.hpp"
#include "support/guarded_rows.hpp"
#include "support/partitions.hpp"
#include "support/random_data.hpp"

namespace tessera::test {
namespace {

using Operation = Elementwise::Operation;
constexpr std::array operations{Operation::copy,         Operation::add,     Operation::subtract, Operation::multiply,
                                Operation::multiply_add, Operation::minimum, Operation::maximum};

std::size_t input_count(Operation operation) {
  return operation == Operation::copy ? 1 : operation == Operation::multiply_add ? 3 : 2;
}

Elementwise elementwise_of(Operation operation, const std::vector<Vector>& inputs, const Vector& output) {
  Elementwise elementwise{.operation = operation, .a = inputs[0], .output = output};
  if (input_count(operation) > 1) elementwise.b = inputs[1];
  if (input_count(operation) > 2) elementwise.c = inputs[2];
  return elementwise;
}

class ElementwiseTest : public DeviceFixture {
 protected:
  template <class T>
  static Vector vector_of(const std::vector<T>& values) {
    return tessera::upload<T>(device(), values);
  }

  /// Every operand over a partition of its own.
  template <class T>
  static void check(Operation operation, std::uint64_t rows, std::size_t first_partition, Placement placement) {
    const std::vector<Partition> partitions = standard_partitions(rows, 11);
    const auto partition = [&](std::size_t k) { return partitions[(first_partition + k) % partitions.size()]; };
    SCOPED_TRACE("operation " + std::to_string(static_cast<int>(operation)) + ", " + std::to_string(rows) +
                 " rows, output " + partition(3).name);
    std::vector<std::vector<T>> values;
    std::vector<Vector> inputs;
    for (std::size_t k = 0; k < 3; ++k) {
      values.push_back(random_values<T>(rows, 100 * first_partition + k, Spread::moderate));
      inputs.push_back(GuardedRows<T>(device(), partition(k), values[k], placement).vector());
    }
    const GuardedRows<T> output(device(), partition(3), {}, placement);
    tessera::run(device(), elementwise_of(operation, inputs, output.vector()));
    output.expect_rows(reference::elementwise<T>(static_cast<reference::ElementwiseOperation>(operation), values[0],
                                                 values[1], values[2]));
  }
};

TEST_F(ElementwiseTest, agrees_with_the_reference_over_every_partition) {
  const std::vector<std::uint64_t> rows{1, 255, 256, 4095, 4097, 9001};
  std::size_t turn = 0;
  for (const Operation operation : operations) {
    for (const std::uint64_t count : rows) {
      const Placement placement = turn % 2 == 0 ? Placement::aligned : Placement::shifted;
      check<std::uint32_t>(operation, count, turn, placement);
      if (turn % 3 == 0) check<std::int32_t>(operation, count, turn + 1, placement);
      if (turn % 3 == 1) check<float>(operation, count, turn + 2, placement);
      ++turn;
    }
  }
}

TEST_F(ElementwiseTest, keeps_every_bit_of_a_copy_and_orders_zeros) {
  const std::vector<float> special = special_values<float>();
  const Vector output = vector_of(std::vector<float>(special.size()));
  tessera::run(device(), Elementwise{.operation = Operation::copy, .a = vector_of(special), .output = output});
  const std::vector<float> copied = tessera::download<float>(output);
  for (std::size_t i = 0; i < special.size(); ++i)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(copied[i]), std::bit_cast<std::uint32_t>(special[i])) << i;

  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Vector a = vector_of<float>({0.0F, -0.0F, nan, 3.0F});
  const Vector b = vector_of<float>({-0.0F, 0.0F, 2.0F, nan});
  const Vector result = vector_of<float>({9, 9, 9, 9});
  tessera::run(device(), Elementwise{.operation = Operation::minimum, .a = a, .b = b, .output = result});
  const std::vector<float> smallest = tessera::download<float>(result);
  EXPECT_TRUE(std::signbit(smallest[0]) && std::signbit(smallest[1]));
  EXPECT_EQ(smallest[2], 2.0F);
  EXPECT_EQ(smallest[3], 3.0F);
}

TEST_F(ElementwiseTest, wraps_integers_and_rounds_multiply_add_twice) {
  const Vector sum = vector_of<std::uint32_t>({0, 0});
  tessera::run(device(), Elementwise{.operation = Operation::add,
                                     .a = vector_of<std::uint32_t>({4294967295U, 7}),
                                     .b = vector_of<std::uint32_t>({1, 5}),
                                     .output = sum});
  EXPECT_EQ(tessera::download<std::uint32_t>(sum), (std::vector<std::uint32_t>{0, 12}));

  // A fused multiply-add would give 2^-46 here.
  const float a = 1.0F + 0x1p-23F;
  const Vector fused = vector_of<float>({9});
  tessera::run(device(), Elementwise{.operation = Operation::multiply_add,
                                     .a = vector_of<float>({a}),
                                     .b = vector_of<float>({a}),
                                     .c = vector_of<float>({-(1.0F + 0x1p-22F)}),
                                     .output = fused});
  EXPECT_EQ(tessera::download<float>(fused)[0], 0.0F);
}

TEST_F(ElementwiseTest, marks_rows_missing_where_any_operand_is) {
  const Source a = Source(vector_of<float>({1, -9999, 3, std::numeric_limits<float>::infinity()}))
                       .with_no_data({std::bit_cast<std::uint32_t>(-9999.0F)});
  const Source b =
      Source(vector_of<float>({10, 20, 30, 40})).with_validity({.rows = vector_of<std::uint32_t>({1, 1, 0, 5})});
  const Vector output = vector_of<float>({7, 7, 7, 7});
  const Vector validity = vector_of<std::uint32_t>({7, 7, 7, 7});
  tessera::run(device(),
               Elementwise{.operation = Operation::add, .a = a, .b = b, .output = output, .output_validity = validity});
  EXPECT_EQ(tessera::download<std::uint32_t>(validity), (std::vector<std::uint32_t>{1, 0, 0, 0}));
  const std::vector<float> values = tessera::download<float>(output);
  EXPECT_EQ(values[0], 11.0F);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(values[i]), 0x7fc00000U) << i;
}

TEST_F(ElementwiseTest, works_in_place_and_again_with_other_data) {
  const std::vector<std::uint32_t> values = random_values<std::uint32_t>(9001, 5, Spread::all_bits);
  const Vector column = vector_of(values);
  Graph graph(device());
  const ImportedVector import = graph.import(column);
  graph.add(Elementwise{.operation = Operation::add, .a = import, .b = import, .output = import});
  CompiledGraph compiled = graph.compile();
  EXPECT_EQ(compiled.statistics().dispatch_count, 1U);
  const Vector other = vector_of(values);
  for (const Vector& target : {column, column, other}) {
    Encoder encoder = device().encoder();
    compiled.encode(encoder, {rebind(import, target)});
    device().submit(std::move(encoder)).wait();
  }
  const std::vector<std::uint32_t> twice = tessera::download<std::uint32_t>(column);
  const std::vector<std::uint32_t> once = tessera::download<std::uint32_t>(other);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(twice[i], 4 * values[i]) << i;
    ASSERT_EQ(once[i], 2 * values[i]) << i;
  }
}

TEST_F(ElementwiseTest, stops_at_a_length_on_the_device) {
  for (const std::uint32_t count : {0U, 1U, 4096U, 6000U, 9001U, 20000U}) {
    const std::vector<std::uint32_t> values = random_values<std::uint32_t>(9001, 6, Spread::all_bits);
    const Partition partition = standard_partitions(9001, 3)[2];
    const GuardedRows<std::uint32_t> input(device(), partition, values);
    const GuardedRows<std::uint32_t> output(device(), {"one chunk", {9001}});
    const Buffer word = upload(std::vector<std::uint32_t>{count});
    tessera::run(device(), Elementwise{.operation = Operation::copy,
                                       .a = input.vector(CountWord{.buffer = word, .byte_offset = 0}),
                                       .output = output.vector()});
    output.expect_rows(std::span(values).first(std::min<std::size_t>(count, values.size())));
  }
}

TEST_F(ElementwiseTest, dispatches_once_whatever_the_partition) {
  for (const Partition& partition : standard_partitions(9001, 4)) {
    Graph graph(device());
    graph.add(Elementwise{.operation = Operation::copy,
                          .a = GuardedRows<std::uint32_t>(device(), partition).vector(),
                          .output = vector_of(std::vector<std::uint32_t>(9001))});
    EXPECT_EQ(graph.compile().statistics().dispatch_count, 1U) << partition.name;
  }
}

TEST_F(ElementwiseTest, rejects_what_does_not_fit) {
  const Vector words = vector_of<std::uint32_t>({1, 2, 3});
  const Vector floats = vector_of<float>({1, 2, 3});
  const Vector shorter = vector_of<std::uint32_t>({1, 2});
  const Vector output = vector_of<std::uint32_t>({0, 0, 0});
  const auto rejects = [&](ErrorCode code, const Elementwise& elementwise) {
    Graph graph(device());
    try {
      graph.add(elementwise);
      ADD_FAILURE() << "accepted; expected " << name_of(code);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_NE(std::string(error.what()).find("elementwise"), std::string::npos) << error.what();
    }
  };
  rejects(ErrorCode::missing_operand, {.operation = Operation::add, .a = words, .output = output});
  rejects(ErrorCode::surplus_operand, {.operation = Operation::copy, .a = words, .b = words, .output = output});
  rejects(ErrorCode::format_mismatch, {.operation = Operation::add, .a = words, .b = floats, .output = output});
  rejects(ErrorCode::length_mismatch, {.operation = Operation::add, .a = words, .b = shorter, .output = output});
  rejects(ErrorCode::format_mismatch, {.operation = Operation::copy, .a = words, .output = floats});
  rejects(ErrorCode::missing_operand,
          {.operation = Operation::copy, .a = Source(words).with_no_data({1}), .output = output});

  Graph graph(device());
  const ImportedVector import = graph.import(vector_of<std::uint32_t>({1, 2, 3, 4}));
  const auto shifted = [&] {
    graph.add(
        Elementwise{.operation = Operation::copy, .a = import.view().slice(0, 3), .output = import.view().slice(1, 3)});
  };
  EXPECT_THROW(shifted(), Error);
}

}  // namespace
}  // namespace tessera::test
