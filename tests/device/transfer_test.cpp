#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

std::vector<std::uint32_t> random_words(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

/// Copies and fills by the driver and by the kernels.
class TransferTest : public DeviceFixture, public ::testing::WithParamInterface<detail::CopyPath> {
 protected:
  void SetUp() override { detail::set_copy_path(*device().state(), GetParam()); }
  void TearDown() override {
    detail::set_copy_path(*device().state(), detail::CopyPath::automatic);
    DeviceFixture::TearDown();
  }

  static void check_copy(std::size_t source_word, std::size_t target_word, std::size_t words) {
    const auto source = random_words(source_word + words + 5, 1);
    auto expected = random_words(target_word + words + 9, 2);  // the words around the range are guards
    const Buffer from = upload(source);
    const Buffer to = upload(expected);
    Encoder encoder = device().encoder("copy");
    encoder.copy(from, source_word * 4, to, target_word * 4, words * 4);
    device().submit(std::move(encoder));
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(source_word), words,
                expected.begin() + static_cast<std::ptrdiff_t>(target_word));
    EXPECT_EQ(download<std::uint32_t>(to), expected) << source_word << " " << target_word << " " << words;
    EXPECT_EQ(download<std::uint32_t>(from), source);
  }

  static void check_fill(std::size_t first_word, std::size_t words) {
    auto expected = random_words(first_word + words + 9, 3);
    const Buffer buffer = upload(expected);
    Encoder encoder = device().encoder("fill");
    encoder.fill(buffer, first_word * 4, words * 4, 0xdeadbeefU);
    device().submit(std::move(encoder));
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first_word), words, 0xdeadbeefU);
    EXPECT_EQ(download<std::uint32_t>(buffer), expected) << first_word << " " << words;
  }
};

std::string path_name(const ::testing::TestParamInfo<detail::CopyPath>& path) {
  return path.param == detail::CopyPath::driver ? "driver" : "kernel";
}

INSTANTIATE_TEST_SUITE_P(paths, TransferTest, ::testing::Values(detail::CopyPath::driver, detail::CopyPath::kernel),
                         path_name);

TEST_P(TransferTest, copies_any_range_and_nothing_around_it) {
  for (const std::size_t words : {0U, 1U, 3U, 15U, 16U, 17U, 1023U, 4096U, 4097U, 70001U}) {
    for (const auto& [source, target] : {std::pair(0U, 0U), std::pair(1U, 1U), std::pair(3U, 7U), std::pair(2U, 1U)}) {
      check_copy(source, target, words);
    }
  }
}

TEST_P(TransferTest, fills_any_range_and_nothing_around_it) {
  for (const std::size_t words : {0U, 1U, 15U, 16U, 17U, 1023U, 4097U, 70001U}) {
    for (const std::size_t first : {0U, 1U, 3U}) check_fill(first, words);
  }
}

TEST_P(TransferTest, more_workgroups_than_one_dimension_holds) {
  if (GetParam() == detail::CopyPath::driver) GTEST_SKIP() << "the driver has no workgroups";
  // The copy kernel's groups move 256 words each: 65,535 of them are 64 MiB, and one word more needs a second row.
  const std::size_t words = std::size_t{65535} * 256 + 255;
  const Buffer from = device().allocate(words * 4);
  const Buffer to = device().allocate(words * 4 + 8);
  Encoder encoder = device().encoder();
  encoder.fill(from, 0, from.size(), 77);
  encoder.fill(to, 0, to.size(), 11);
  encoder.copy(from, 0, to, 4, from.size());  // addresses that differ by 4: the kernel moves single words
  device().submit(std::move(encoder));
  auto values = download<std::uint32_t>(to);
  EXPECT_EQ(values.front(), 11U);
  EXPECT_EQ(values.back(), 11U);
  values.front() = 77;
  values.back() = 77;
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](std::uint32_t value) { return value == 77; }));
}

TEST_P(TransferTest, fills_more_workgroups_than_one_dimension_holds) {
  if (GetParam() == detail::CopyPath::driver) GTEST_SKIP() << "the driver has no workgroups";
  const std::size_t words = std::size_t{65535} * 1024 + 4096;  // groups fill 1,024 words each
  const Buffer buffer = device().allocate(words * 4 + 8);
  Encoder encoder = device().encoder();
  encoder.fill(buffer, 0, buffer.size(), 5);
  encoder.fill(buffer, 4, words * 4, 6);
  device().submit(std::move(encoder));
  auto values = download<std::uint32_t>(buffer);
  EXPECT_EQ(values.front(), 5U);
  EXPECT_EQ(values.back(), 5U);
  values.front() = 6;
  values.back() = 6;
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](std::uint32_t value) { return value == 6; }));
}

TEST_P(TransferTest, commands_of_an_encoder_run_in_order) {
  // Each step depends on the one before, through reads as well as writes.
  const std::size_t words = 30000;
  const Buffer a = upload(std::vector<std::uint32_t>(words, 1));
  const Buffer b = upload(std::vector<std::uint32_t>(words, 2));
  const Buffer c = upload(std::vector<std::uint32_t>(words, 3));
  Encoder encoder = device().encoder();
  for (int round = 0; round < 50; ++round) {
    encoder.copy(a, 0, b, 0, words * 4);
    encoder.fill(a, 0, words * 4, 100);
    encoder.copy(b, 0, c, 0, words * 4);
    encoder.copy(a, 0, b, 0, words * 4);
    encoder.copy(c, 0, a, 0, words * 4);
  }
  device().submit(std::move(encoder));
  EXPECT_EQ(download<std::uint32_t>(a), std::vector<std::uint32_t>(words, 1));
  EXPECT_EQ(download<std::uint32_t>(b), std::vector<std::uint32_t>(words, 100));
  EXPECT_EQ(download<std::uint32_t>(c), std::vector<std::uint32_t>(words, 1));
}

using TransferErrorTest = DeviceFixture;

TEST_F(TransferErrorTest, bad_ranges_are_rejected_and_the_encoder_goes_on) {
  const Buffer a = upload(std::vector<std::uint32_t>(64, 1));
  const Buffer b = upload(std::vector<std::uint32_t>(64, 2));
  Device other = open_device();
  const Buffer foreign = other.allocate(256);
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::range_out_of_bounds, [&] { encoder.copy(a, 0, b, 0, 260); });
  expect_error(ErrorCode::range_out_of_bounds, [&] { encoder.copy(a, ~std::uint64_t{3}, b, 0, 8); });
  expect_error(ErrorCode::range_out_of_bounds, [&] { encoder.fill(a, 252, 8, 0); });
  expect_error(ErrorCode::layout_mismatch, [&] { encoder.copy(a, 2, b, 0, 8); });
  expect_error(ErrorCode::layout_mismatch, [&] { encoder.fill(a, 0, 7, 0); });
  expect_error(ErrorCode::alias, [&] { encoder.copy(a, 0, a, 4, 8); });
  expect_error(ErrorCode::foreign_device, [&] { encoder.copy(a, 0, foreign, 0, 8); });
  expect_error(ErrorCode::foreign_device, [&] { encoder.fill(foreign, 0, 8, 0); });
  expect_error(ErrorCode::missing_operand, [&] { encoder.copy(Buffer(), 0, b, 0, 8); });
  encoder.copy(a, 0, a, 8, 8);
  encoder.copy(a, 0, b, 0, 8);
  device().submit(std::move(encoder));
  EXPECT_EQ(download<std::uint32_t>(b, 0, 3), (std::vector<std::uint32_t>{1, 1, 2}));

  std::array<std::byte, 16> bytes{};
  expect_error(ErrorCode::range_out_of_bounds, [&] { device().write(a, 248, bytes); });
  expect_error(ErrorCode::range_out_of_bounds, [&] { device().read(a, 248, bytes); });
  expect_error(ErrorCode::foreign_device, [&] { device().write(foreign, 0, bytes); });
  expect_error(ErrorCode::missing_operand, [&] { device().read(Buffer(), 0, bytes); });
}

using RingTest = DeviceFixture;

TEST_F(RingTest, writes_keep_their_place_among_submissions) {
  Device own = open_device({.staging_bytes = 65536});
  const auto values = random_words(500000, 4);  // 30 times the ring
  const Buffer target = own.allocate(values.size() * 4 + 4);
  const Buffer copy = own.allocate(values.size() * 4);
  Encoder before = own.encoder();
  before.fill(target, 0, target.size(), 9);
  before.fill(copy, 0, copy.size(), 9);
  own.submit(std::move(before));
  own.write(target, 0, std::as_bytes(std::span(values)));
  Encoder after = own.encoder();
  after.copy(target, 0, copy, 0, copy.size());
  after.fill(target, 0, 8, 5);
  own.submit(std::move(after));
  EXPECT_EQ(download<std::uint32_t>(copy), values);
  EXPECT_EQ(download<std::uint32_t>(target, 0, 3), (std::vector<std::uint32_t>{5, 5, values[2]}));
  EXPECT_EQ(download<std::uint32_t>(target, values.size() * 4, 1), std::vector<std::uint32_t>{9});
}

TEST_F(RingTest, odd_bytes_are_written_and_read) {
  Device own = open_device({.staging_bytes = 16384});
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::upload, MemoryKind::download}) {
    const Buffer target = own.allocate(100003, {.memory = kind});
    std::vector<std::byte> bytes(50001);
    for (std::size_t index = 0; index < bytes.size(); ++index) bytes[index] = static_cast<std::byte>(index * 31 % 251);
    for (const bool busy : {false, true}) {
      if (busy) {
        Encoder encoder = own.encoder();
        encoder.fill(target, 0, 100000, 0);
        own.submit(std::move(encoder));
      }
      own.write(target, 7, bytes);
      std::vector<std::byte> back(bytes.size());
      own.read(target, 7, back);
      EXPECT_EQ(back, bytes);
    }
  }
}

TEST_F(RingTest, staging_outlives_the_ring) {
  Device own = open_device({.staging_bytes = 8192});
  // More staged bytes in one encoder than the ring holds, and none of them reused before the submission is done.
  const std::size_t pieces = 64;
  const Buffer target = own.allocate(pieces * 1024);
  std::vector<std::uint32_t> expected;
  Encoder encoder = own.encoder();
  for (std::uint32_t piece = 0; piece < pieces; ++piece) {
    const Buffer staging = encoder.state().staging(1024);
    const auto words = random_words(256, piece);
    std::memcpy(staging.mapped().data(), words.data(), 1024);
    expected.insert(expected.end(), words.begin(), words.end());
    encoder.copy(staging, 0, target, std::uint64_t{piece} * 1024, 1024);
  }
  own.submit(std::move(encoder));
  EXPECT_EQ(download<std::uint32_t>(target), expected);

  {  // pieces of an encoder that is never submitted come back as well
    Encoder dropped = own.encoder();
    for (int piece = 0; piece < 8; ++piece) dropped.state().staging(1024);
  }
  EXPECT_LE(own.memory().buffer_count, 1U);
}

TEST_F(RingTest, threads_write_and_read_together) {
  Device own = open_device({.staging_bytes = 65536});
  std::vector<std::thread> threads;
  std::array<int, 4> faults{};
  for (std::size_t thread = 0; thread < faults.size(); ++thread) {
    threads.emplace_back([&own, &faults, thread] {
      const Buffer buffer = own.allocate(200000);
      for (unsigned round = 0; round < 10; ++round) {
        const auto values = random_words(50000, static_cast<unsigned>(thread) * 100 + round);
        own.write(buffer, 0, std::as_bytes(std::span(values)));
        faults[thread] += download<std::uint32_t>(buffer) != values;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, (std::array<int, 4>{}));
}

}  // namespace
}  // namespace tessera::test
