#include <tessera/graph/graph.hpp>

#include <cstdint>
#include <thread>
#include <vector>

#include <tessera/ops/aggregation.hpp>
#include <tessera/ops/arithmetic.hpp>

#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

class RunTest : public DeviceFixture {
 protected:
  Vector words(const std::vector<std::uint32_t>& values) { return tessera::upload<std::uint32_t>(device(), values); }

  Vector add(const Vector& left, const Vector& right) {
    const Vector output = words(std::vector<std::uint32_t>(left.length()));
    run(device(), Elementwise{.operation = Elementwise::Operation::add, .a = left, .b = right, .output = output});
    return output;
  }
};

TEST_F(RunTest, KeepsTheGraphForOtherMemoryOfTheSameShape) {
  EXPECT_EQ(tessera::download<std::uint32_t>(add(words({1, 2, 3}), words({10, 20, 30}))),
            (std::vector<std::uint32_t>{11, 22, 33}));
  const std::uint64_t kept = device().memory().buffer_count;
  for (std::uint32_t round = 0; round < 20; ++round) {
    EXPECT_EQ(tessera::download<std::uint32_t>(add(words({round, 2, 3}), words({1, 0, round}))),
              (std::vector<std::uint32_t>{round + 1, 2, round + 3}));
  }
  EXPECT_EQ(device().memory().buffer_count, kept) << "the operation's own memory is not kept";
}

TEST_F(RunTest, TellsShapesApart) {
  const auto sum = [&](std::initializer_list<std::vector<std::uint32_t>> chunks) {
    std::vector<std::span<const std::uint32_t>> spans(chunks.begin(), chunks.end());
    const Vector input =
        tessera::upload<std::uint32_t>(device(), std::span<const std::span<const std::uint32_t>>(spans));
    const Vector output = words({0});
    run(device(), Reduction{.input = input, .output = output, .operation = Reduction::Operation::sum});
    return tessera::download<std::uint32_t>(output).front();
  };
  EXPECT_EQ(sum({{1, 2, 3, 4}}), 10U);
  EXPECT_EQ(sum({{1, 2}, {3, 5}}), 11U);
  EXPECT_EQ(sum({{1}, {2, 3, 6}}), 12U);
  EXPECT_EQ(sum({{7, 2}, {3, 5}}), 17U);
}

TEST_F(RunTest, TellsOptionsAndRepeatedOperandsApart) {
  const Vector twice = words({3, 4});
  EXPECT_EQ(tessera::download<std::uint32_t>(add(twice, twice)), (std::vector<std::uint32_t>{6, 8}));
  EXPECT_EQ(tessera::download<std::uint32_t>(add(words({3, 4}), words({1, 1}))), (std::vector<std::uint32_t>{4, 5}));
  const Vector output = words({0, 0});
  run(device(),
      Elementwise{.operation = Elementwise::Operation::subtract, .a = twice, .b = words({1, 1}), .output = output});
  EXPECT_EQ(tessera::download<std::uint32_t>(output), (std::vector<std::uint32_t>{2, 3}));
}

TEST_F(RunTest, TakesLongListsForOneVectorOnlyByIdentity) {
  // Long lists are compared by identity where the graph imports them, so equal ones are two imports.
  constexpr std::uint64_t rows = 2000;
  std::vector<std::uint32_t> values(rows);
  for (std::uint32_t row = 0; row < rows; ++row) values[row] = row;
  const Buffer memory = words(values).chunks()[0].buffer;
  std::vector<Chunk> chunks;
  for (std::uint64_t row = 0; row < rows; ++row)
    chunks.push_back({.buffer = memory, .byte_offset = 4 * row, .length = 1});
  std::vector<std::uint32_t> expected(values);
  for (std::uint32_t& value : expected) value *= 2;
  const Vector left(Format::uint32, chunks);
  const Vector right(Format::uint32, chunks);
  EXPECT_EQ(tessera::download<std::uint32_t>(add(left, right)), expected);
  EXPECT_EQ(tessera::download<std::uint32_t>(add(left, left)), expected);
}

TEST_F(RunTest, RejectsOverlapThatAnEarlierCallOfTheShapeDidNotHave) {
  const Vector left = words({1, 2, 3, 4});
  add(words({1, 2, 3}), words({1, 2, 3}));
  const Vector input(Format::uint32, {{.buffer = left.chunks()[0].buffer, .byte_offset = 0, .length = 3}});
  const Vector output(Format::uint32, {{.buffer = left.chunks()[0].buffer, .byte_offset = 4, .length = 3}});
  expect_error(ErrorCode::alias, [&] {
    run(device(),
        Elementwise{.operation = Elementwise::Operation::add, .a = input, .b = words({1, 2, 3}), .output = output});
  });
  EXPECT_EQ(tessera::download<std::uint32_t>(left), (std::vector<std::uint32_t>{1, 2, 3, 4}));
}

TEST_F(RunTest, RunsFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<std::vector<std::uint32_t>> results(4);
  for (std::uint32_t index = 0; index < results.size(); ++index) {
    threads.emplace_back([&, index] {
      for (std::uint32_t round = 0; round < 10; ++round) {
        const auto sums = tessera::download<std::uint32_t>(add(words({index, round}), words({100, 200})));
        results[index].insert(results[index].end(), sums.begin(), sums.end());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::uint32_t index = 0; index < results.size(); ++index) {
    for (std::uint32_t round = 0; round < 10; ++round) {
      EXPECT_EQ(results[index][2 * round], index + 100);
      EXPECT_EQ(results[index][2 * round + 1], round + 200);
    }
  }
}

TEST_F(RunTest, LetsGoOfTheDeviceWithItsLastHandle) {
  std::weak_ptr<detail::DeviceState> state;
  {
    Device own = Device::open(DeviceSelector::from_environment());
    state = own.state();
    const Vector input = tessera::upload<std::uint32_t>(own, std::vector<std::uint32_t>{1, 2, 3});
    const Vector output = tessera::upload<std::uint32_t>(own, std::vector<std::uint32_t>{0});
    run(own, Reduction{.input = input, .output = output, .operation = Reduction::Operation::sum});
    EXPECT_EQ(tessera::download<std::uint32_t>(output).front(), 6U);
  }
  EXPECT_TRUE(state.expired());
}

}  // namespace
}  // namespace tessera::test
