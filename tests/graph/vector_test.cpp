#include <tessera/graph/vector.hpp>

#include <array>
#include <cstdint>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

class VectorTest : public DeviceFixture {};

TEST_F(VectorTest, UploadKeepsChunksAndDownloadJoinsThem) {
  const std::vector<float> first{1, 2, 3};
  const std::vector<float> none;
  const std::vector<float> last{4, 5};
  const Vector vector = tessera::upload<float>(device(), first, none, last);
  ASSERT_EQ(vector.chunks().size(), 3U);
  EXPECT_EQ(vector.length(), 5U);
  EXPECT_EQ(vector.chunks()[1].length, 0U);
  EXPECT_EQ(tessera::download<float>(vector), (std::vector<float>{1, 2, 3, 4, 5}));
  expect_error(ErrorCode::format_mismatch, [&] { tessera::download<std::uint32_t>(vector); });
}

TEST_F(VectorTest, DownloadsStridedAndNarrowRows) {
  const Buffer words = DeviceFixture::upload<std::uint32_t>(std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7});
  const Vector odd(Format::uint32, {{.buffer = words, .byte_offset = 0, .length = 4, .byte_stride = 8}});
  EXPECT_EQ(tessera::download<std::uint32_t>(odd), (std::vector<std::uint32_t>{1, 3, 5, 7}));
  const std::vector<std::uint8_t> bytes{9, 8, 7, 6, 5};
  EXPECT_EQ(tessera::download<std::uint8_t>(tessera::upload<std::uint8_t>(device(), bytes)), bytes);
  const std::vector<std::int16_t> shorts{-3, 2, 32767};
  EXPECT_EQ(tessera::download<std::int16_t>(tessera::upload<std::int16_t>(device(), shorts)), shorts);
}

TEST_F(VectorTest, RejectsWhatLeavesItsBuffer) {
  const Buffer buffer = device().allocate(16);
  const auto make = [&](Chunk chunk) { return [=] { const Vector vector(Format::uint32, {chunk}); }; };
  EXPECT_NO_THROW(make({.buffer = buffer, .byte_offset = 0, .length = 4})());
  EXPECT_NO_THROW(make({.buffer = buffer, .byte_offset = 4, .length = 2, .byte_stride = 8})());
  expect_error(ErrorCode::range_out_of_bounds, make({.buffer = buffer, .byte_offset = 4, .length = 4}));
  expect_error(ErrorCode::range_out_of_bounds, make({.buffer = buffer, .byte_offset = 20, .length = 0}));
  expect_error(ErrorCode::range_out_of_bounds, make({.buffer = {}, .byte_offset = 0, .length = 1}));
  expect_error(ErrorCode::range_out_of_bounds,
               make({.buffer = buffer, .byte_offset = 0, .length = 3, .byte_stride = std::uint64_t{1} << 63}));
  expect_error(ErrorCode::layout_mismatch, make({.buffer = buffer, .byte_offset = 2, .length = 1}));
  expect_error(ErrorCode::layout_mismatch, make({.buffer = buffer, .byte_offset = 0, .length = 2, .byte_stride = 6}));
  expect_error(ErrorCode::limit_exceeded, make({.buffer = buffer, .byte_offset = 0, .length = std::uint64_t{1} << 32}));
  expect_error(ErrorCode::range_out_of_bounds,
               [&] { const Vector vector(Format::uint32, {}, CountWord{.buffer = buffer, .byte_offset = 16}); });
  expect_error(ErrorCode::missing_operand, [&] { const Vector vector(Format::uint32, {}, CountWord{}); });
}

TEST_F(VectorTest, RejectsChunksOfSeveralDevices) {
  Device other = open_device();
  const Buffer here = device().allocate(16);
  const Buffer there = other.allocate(16);
  expect_error(ErrorCode::foreign_device, [&] {
    const Vector vector(Format::uint32, {{.buffer = here, .length = 1}, {.buffer = there, .length = 1}});
  });
  expect_error(ErrorCode::foreign_device, [&] {
    const Vector vector(Format::uint32, {{.buffer = here, .length = 1}}, CountWord{.buffer = there});
  });
}

TEST_F(VectorTest, SameChunksByIdentityOrValue) {
  const Buffer buffer = device().allocate(64);
  const Vector vector(Format::uint32,
                      {{.buffer = buffer, .length = 3}, {.buffer = buffer, .byte_offset = 16, .length = 2}});
  const Vector copy = vector;
  const Vector equal(Format::uint32,
                     {{.buffer = buffer, .length = 3}, {.buffer = buffer, .byte_offset = 16, .length = 2}});
  const Vector shifted(Format::uint32,
                       {{.buffer = buffer, .length = 3}, {.buffer = buffer, .byte_offset = 20, .length = 2}});
  const Vector other_format(Format::float32,
                            {{.buffer = buffer, .length = 3}, {.buffer = buffer, .byte_offset = 16, .length = 2}});
  EXPECT_TRUE(vector.same_chunks(copy));
  EXPECT_TRUE(vector.same_chunks(equal));
  EXPECT_FALSE(vector.same_chunks(shifted));
  EXPECT_FALSE(vector.same_chunks(other_format));
}

TEST_F(VectorTest, ViewsStayInsideTheirBufferAndGraph) {
  Graph graph(device());
  Graph other(device());
  const GraphBuffer buffer = graph.transient(64);
  EXPECT_EQ(buffer.view<std::uint32_t>(16).byte_stride, 4U);
  EXPECT_NO_THROW(buffer.view<std::uint32_t>(8, {.byte_offset = 4, .byte_stride = 8}));
  expect_error(ErrorCode::range_out_of_bounds, [&] { buffer.view<std::uint32_t>(17); });
  expect_error(ErrorCode::range_out_of_bounds, [&] { buffer.view<std::uint32_t>(1, {.byte_offset = 64}); });
  expect_error(ErrorCode::layout_mismatch, [&] { buffer.view<std::uint32_t>(1, {.byte_offset = 2}); });
  expect_error(ErrorCode::layout_mismatch, [&] { buffer.view<double>(1, {.byte_offset = 4}); });
  expect_error(ErrorCode::layout_mismatch, [&] { buffer.view<double>(2, {.byte_stride = 4}); });

  const std::array pieces{buffer.view<std::uint32_t>(4), buffer.view<std::uint32_t>(4, {.byte_offset = 32})};
  const VectorView joined{std::span<const DataView>(pieces)};
  EXPECT_EQ(joined.length(), 8U);
  EXPECT_EQ(joined.slice(3, 2).first_row(), 3U);
  EXPECT_EQ(joined.slice(3, 4).slice(1, 2).first_row(), 4U);
  expect_error(ErrorCode::range_out_of_bounds, [&] { joined.slice(7, 2); });
  expect_error(ErrorCode::missing_operand, [&] { const VectorView nothing{std::span<const DataView>{}}; });

  const std::array foreign{buffer.view<std::uint32_t>(1), other.transient(4).view<std::uint32_t>(1)};
  expect_error(ErrorCode::foreign_graph, [&] { const VectorView view{std::span<const DataView>(foreign)}; });
  const std::array mixed{buffer.view<std::uint32_t>(1), buffer.view<float>(1)};
  expect_error(ErrorCode::format_mismatch, [&] { const VectorView view{std::span<const DataView>(mixed)}; });

  const VectorView counted = joined.with_count(buffer.view<std::uint32_t>(1));
  ASSERT_TRUE(counted.count());
  expect_error(ErrorCode::unsupported_operation, [&] { counted.slice(0, 1); });
  expect_error(ErrorCode::format_mismatch, [&] { joined.with_count(buffer.view<float>(1)); });
  expect_error(ErrorCode::format_mismatch, [&] { joined.with_count(buffer.view<std::uint32_t>(2)); });
  expect_error(ErrorCode::foreign_graph, [&] { joined.with_count(other.transient(4).view<std::uint32_t>(1)); });
}

}  // namespace
}  // namespace tessera::test
