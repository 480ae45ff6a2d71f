// Builds that check accesses: what a kernel does outside the memory that its node declared is counted and has no
// effect.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing.hpp"
#include "graph_support.hpp"

namespace tessera::test {
namespace {

using detail::Access;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct StrayWordsRecord {
  std::uint64_t target = 0;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

struct Stray {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Access declared = Access::read_write;
};

TestOperation stray_words(const VectorView& target, const Stray& stray) {
  const auto lower = [target, stray](detail::NodeSink& sink) {
    detail::Dispatch dispatch{.name = "stray", .module = "stray_words", .constants = {32}};
    dispatch.arguments = detail::ArgumentRecord(StrayWordsRecord{.from = stray.from, .to = stray.to});
    dispatch.arguments.relocate(offsetof(StrayWordsRecord, target), sink.table(target));
    dispatch.view_uses = {{.view = target, .access = stray.declared}};
    sink.dispatch(std::move(dispatch));
  };
  return {.name = "stray words", .lower = lower};
}

/// A vector of rows 2 to 5 of a buffer with eight words.
class CheckedAccess : public GraphFixture {
 protected:
  void SetUp() override {
    if (!detail::access_is_checked) GTEST_SKIP() << "this build does not check accesses";
    GraphFixture::SetUp();
  }

  static Vector inner_rows(const Buffer& buffer) {
    return Vector(Format::uint32, {{.buffer = buffer, .byte_offset = 8, .length = 4}});
  }
  static detail::AccessFaults faults() { return detail::take_access_faults(*device().state()); }

  static detail::AccessFaults run(const Buffer& buffer, const Stray& stray) {
    Graph graph(device());
    const ImportedVector rows = graph.import(inner_rows(buffer));
    graph.add(stray_words(rows.view(), stray));
    CompiledGraph compiled = graph.compile();
    execute(compiled);
    return faults();
  }

  const std::vector<std::uint32_t> initial_{10, 11, 12, 13, 14, 15, 16, 17};
};

TEST_F(CheckedAccess, InsideNothingIsCounted) {
  const Buffer buffer = words(initial_);
  EXPECT_EQ(run(buffer, {.from = 3, .to = 0}).count, 0U);
  EXPECT_THAT(read(buffer), ElementsAre(10, 11, 15, 13, 14, 15, 16, 17));
}

TEST_F(CheckedAccess, LoadOutsideGivesZeroAndIsCounted) {
  const Buffer buffer = words(initial_);
  const detail::AccessFaults found = run(buffer, {.from = 4, .to = 1});
  EXPECT_EQ(found.count, 1U);
  EXPECT_THAT(found.first, HasSubstr("stray_words loads 4 bytes"));
  EXPECT_THAT(read(buffer), ElementsAre(10, 11, 12, 0, 14, 15, 16, 17));
}

TEST_F(CheckedAccess, StoreOutsideIsDroppedAndCounted) {
  const Buffer buffer = words(initial_);
  const detail::AccessFaults found = run(buffer, {.from = 0, .to = 5});
  EXPECT_EQ(found.count, 1U);
  EXPECT_THAT(found.first, HasSubstr("stray_words stores 4 bytes"));
  EXPECT_EQ(read(buffer), initial_);
  EXPECT_EQ(run(buffer, {.from = 0, .to = 0xffffffff}).count, 1U);
  EXPECT_EQ(read(buffer), initial_);
}

TEST_F(CheckedAccess, StoreIntoWhatWasDeclaredReadOnlyIsCounted) {
  const Buffer buffer = words(initial_);
  EXPECT_EQ(run(buffer, {.from = 0, .to = 1, .declared = Access::read}).count, 1U);
  EXPECT_EQ(read(buffer), initial_);
}

TEST_F(CheckedAccess, RangesFollowTheBinding) {
  const Buffer first = words(initial_);
  const Buffer second = words(initial_);
  Graph graph(device());
  const ImportedVector rows = graph.import(inner_rows(first));
  graph.add(stray_words(rows.view(), {.from = 3, .to = 0}));
  CompiledGraph compiled = graph.compile();
  execute(compiled, {rebind(rows, inner_rows(second))});
  execute(compiled);
  EXPECT_EQ(faults().count, 0U);
  EXPECT_THAT(read(first), ElementsAre(10, 11, 15, 13, 14, 15, 16, 17));
  EXPECT_THAT(read(second), ElementsAre(10, 11, 15, 13, 14, 15, 16, 17));
}

TEST_F(CheckedAccess, FaultsAreTakenOnce) {
  const Buffer buffer = words(initial_);
  EXPECT_EQ(run(buffer, {.from = 4, .to = 5}).count, 2U);
  EXPECT_EQ(faults().count, 0U);
}

TEST_F(CheckedAccess, DeviceReportsFaultsThatNobodyTookWhenItCloses) {
  MessageLog log;
  {
    Device own = open_device({.log = log.callback()});
    const Buffer buffer = own.allocate(32);
    Graph graph(own);
    const ImportedVector rows = graph.import(inner_rows(buffer));
    graph.add(stray_words(rows.view(), {.from = 0, .to = 4}));
    CompiledGraph compiled = graph.compile();
    Encoder encoder = own.encoder();
    compiled.encode(encoder);
    own.submit(std::move(encoder)).wait();
  }
  EXPECT_THAT(log.take_problems(), ElementsAre(HasSubstr("stray_words stores 4 bytes")));
}

}  // namespace
}  // namespace tessera::test
