// Memory that two imports share is found when a graph compiles or is rebound; the error names operations and ports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tessera/graph/graph.hpp>
#include <tessera/ops/aggregation.hpp>
#include <tessera/ops/arithmetic.hpp>

#include "device/encoder_state.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class AliasTest : public DeviceFixture {
 protected:
  static Vector rows(const Buffer& buffer, std::uint64_t first, std::uint64_t count) {
    return Vector(Format::uint32, {{.buffer = buffer, .byte_offset = 4 * first, .length = count}});
  }
  template <class Call>
  static ErrorDetail alias_of(const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::alias) << error.what();
      return error.detail();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  const Buffer buffer_ = upload(std::vector<std::uint32_t>(16, 1));
  const Buffer other_ = upload(std::vector<std::uint32_t>(16, 1));
};

TEST_F(AliasTest, NamesTheOperationAndItsPortsWhenTheGraphCompiles) {
  Graph graph(device());
  const ImportedVector left = graph.import(rows(buffer_, 0, 4), "left");
  const ImportedVector right = graph.import(rows(other_, 0, 4), "right");
  const ImportedVector result = graph.import(rows(buffer_, 3, 4), "result");
  graph.add(Elementwise{.id = "twice",
                        .operation = Elementwise::Operation::copy,
                        .a = right,
                        .output = graph.import(rows(other_, 8, 4))});
  graph.add(
      Elementwise{.id = "add up", .operation = Elementwise::Operation::add, .a = right, .b = left, .output = result});
  const ErrorDetail detail = alias_of([&] { graph.compile(); });
  EXPECT_EQ(detail.operation, "add up");
  EXPECT_EQ(detail.operand, "output");
  EXPECT_THAT(detail.values, AllOf(HasSubstr("result"), HasSubstr("left"), HasSubstr("b of add up")));
}

TEST_F(AliasTest, NamesBothOperationsWhereTwoConflict) {
  Graph graph(device());
  const ImportedVector summed = graph.import(rows(buffer_, 0, 4), "summed");
  graph.add(Reduction{.id = "sum",
                      .input = summed,
                      .output = graph.import(rows(other_, 8, 1)),
                      .operation = Reduction::Operation::sum});
  graph.add(Elementwise{.id = "copy",
                        .operation = Elementwise::Operation::copy,
                        .a = graph.import(rows(other_, 0, 4)),
                        .output = graph.import(rows(buffer_, 2, 4), "copied")});
  const ErrorDetail detail = alias_of([&] { graph.compile(); });
  EXPECT_EQ(detail.operation, "copy");
  EXPECT_EQ(detail.operand, "output");
  EXPECT_THAT(detail.values, AllOf(HasSubstr("copied"), HasSubstr("summed"), HasSubstr("input of sum")));
}

TEST_F(AliasTest, NamesThemWhenARebindingConflicts) {
  Graph graph(device());
  const ImportedVector input = graph.import(rows(buffer_, 0, 4), "input");
  const ImportedVector there = graph.import(rows(buffer_, 4, 4), "there");
  const ImportedVector result = graph.import(rows(other_, 0, 4), "result");
  graph.add(Elementwise{.id = "fill in",
                        .operation = Elementwise::Operation::copy,
                        .a = Source(input).with_validity({.rows = there.view()}),
                        .output = result,
                        .output_validity = graph.import(rows(other_, 8, 4))});
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  const ErrorDetail detail = alias_of([&] { compiled.encode(encoder, {rebind(there, rows(other_, 3, 4))}); });
  EXPECT_EQ(detail.operation, "fill in");
  EXPECT_EQ(detail.operand, "output");
  EXPECT_THAT(detail.values, AllOf(HasSubstr("result"), HasSubstr("there"), HasSubstr("a.validity of fill in")));
  EXPECT_EQ(encoder.state().recorded(), VK_NULL_HANDLE) << "nothing was recorded";
}

TEST_F(AliasTest, NamesThePortWhoseOwnChunksOverlap) {
  Graph graph(device());
  const ImportedVector twice = graph.import(
      Vector(Format::uint32,
             {{.buffer = buffer_, .byte_offset = 0, .length = 2}, {.buffer = buffer_, .byte_offset = 4, .length = 2}}),
      "twice");
  graph.add(Elementwise{
      .id = "copy", .operation = Elementwise::Operation::copy, .a = graph.import(rows(other_, 0, 4)), .output = twice});
  const ErrorDetail detail = alias_of([&] { graph.compile(); });
  EXPECT_EQ(detail.operation, "copy");
  EXPECT_EQ(detail.operand, "output");
  EXPECT_THAT(detail.values, HasSubstr("twice"));
}

}  // namespace
}  // namespace tessera::test
