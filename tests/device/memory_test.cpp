#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/host_memory.hpp"
#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

using MemoryTest = DeviceFixture;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

bool disjoint(std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges) {
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t index = 1; index < ranges.size(); ++index) {
    if (ranges[index].first < ranges[index - 1].second) return false;
  }
  return true;
}

TEST_F(MemoryTest, sizes_around_every_border_are_kept_and_aligned) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::upload, MemoryKind::download}) {
    for (const std::uint64_t bytes :
         {0ULL, 1ULL, 4ULL, 255ULL, 256ULL, 257ULL, 65535ULL, 65536ULL, 65537ULL, 1048579ULL}) {
      const Buffer buffer = device().allocate(bytes, {.memory = kind, .name = "sized"});
      EXPECT_EQ(buffer.size(), std::max<std::uint64_t>(bytes, 4));
      EXPECT_EQ(buffer.memory(), kind);
      EXPECT_EQ(buffer.name(), "sized");
      EXPECT_NE(buffer.address(), 0U);
      EXPECT_EQ(buffer.address() % 16, 0U);
      EXPECT_EQ(buffer.state()->offset % 256, 0U);
      EXPECT_TRUE(kind == MemoryKind::device || buffer.mapped().size() == buffer.size());
      EXPECT_EQ(buffer.device(), device());
    }
  }
}

TEST_F(MemoryTest, random_buffers_never_overlap) {
  std::mt19937 random(11);
  Device own = open_device();
  std::vector<Buffer> live;
  for (int round = 0; round < 3000; ++round) {
    if (live.size() > 200 || (!live.empty() && random() % 3 == 0)) {
      std::swap(live[random() % live.size()], live.back());
      live.pop_back();
      continue;
    }
    const std::uint64_t bytes = std::uint64_t{1} << (random() % 18);
    live.push_back(own.allocate(bytes + random() % bytes));
    if (round % 100 != 0) continue;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const Buffer& buffer : live)
      ranges.emplace_back(buffer.address(), buffer.address() + buffer.state()->capacity);
    ASSERT_TRUE(disjoint(ranges)) << "round " << round;
  }
  EXPECT_EQ(own.memory().buffer_count, live.size());
  live.clear();
  EXPECT_EQ(own.memory().buffer_count, 0U);
  EXPECT_EQ(own.memory().used_bytes, 0U);
}

TEST_F(MemoryTest, small_buffers_share_allocations_and_empty_slabs_go) {
  Device own = open_device();
  std::vector<Buffer> buffers;
  const std::uint64_t calls = detail::allocation_calls(*own.state());
  for (int index = 0; index < 20000; ++index) buffers.push_back(own.allocate(1024));
  EXPECT_LT(detail::allocation_calls(*own.state()) - calls, 20U);
  EXPECT_GE(own.memory().allocated_bytes, 20000U * 1024);
  EXPECT_EQ(own.memory().used_bytes, 20000U * 1024);
  buffers.clear();
  EXPECT_LE(own.memory().allocated_bytes, 4 * mebibyte);
  EXPECT_GE(own.memory().peak_allocated_bytes, 20000U * 1024);
}

TEST_F(MemoryTest, threads_allocate_and_free_together) {
  Device own = open_device();
  std::vector<std::thread> threads;
  std::array<int, 4> faults{};
  for (std::size_t thread = 0; thread < faults.size(); ++thread) {
    threads.emplace_back([&own, &faults, thread] {
      std::mt19937 random(static_cast<unsigned>(thread));
      std::vector<std::pair<Buffer, std::byte>> live;
      for (int round = 0; round < 500; ++round) {
        const auto mark = static_cast<std::byte>(random() % 256);
        live.emplace_back(own.allocate(64 + random() % 2000, {.memory = MemoryKind::upload}), mark);
        std::fill(live.back().first.mapped().begin(), live.back().first.mapped().end(), mark);
        if (live.size() < 20) continue;
        const auto& [buffer, expected] = live[random() % live.size()];
        const auto bytes = buffer.mapped();
        faults[thread] += !std::all_of(bytes.begin(), bytes.end(), [&](std::byte byte) { return byte == expected; });
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(random() % live.size()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, (std::array<int, 4>{}));
  EXPECT_EQ(own.memory().buffer_count, 0U);
}

TEST_F(MemoryTest, larger_than_the_largest_is_rejected_before_the_driver) {
  const std::uint64_t calls = detail::allocation_calls(*device().state());
  const std::uint64_t largest = device().limits().largest_buffer_bytes;
  expect_error(ErrorCode::limit_exceeded, [&] { device().allocate(largest + 1); });
  expect_error(ErrorCode::limit_exceeded, [&] { device().allocate(~std::uint64_t{0}); });
  EXPECT_EQ(detail::allocation_calls(*device().state()), calls);
}

TEST_F(MemoryTest, a_cpu_device_gives_no_more_than_the_host_has) {
  if (device().info().type != DeviceType::cpu) GTEST_SKIP() << "not a CPU-type device";
  EXPECT_LE(device().info().memory_bytes, detail::available_host_memory() + (std::uint64_t{4} << 30));
  Device own = open_device();
  std::vector<Buffer> buffers;
  const std::uint64_t piece = own.limits().largest_buffer_bytes;
  const std::uint64_t most = own.info().memory_bytes / piece + 1;
  const std::string message = expect_error(ErrorCode::out_of_memory, [&] {
    for (std::uint64_t count = 0; count <= most; ++count) buffers.push_back(own.allocate(piece, {.name = "too much"}));
  });
  EXPECT_NE(message.find("too much"), std::string::npos) << message;
  EXPECT_LE(own.memory().allocated_bytes, own.info().memory_bytes);
}

TEST_F(MemoryTest, the_limit_fails_cleanly_and_frees_what_is_no_longer_used) {
  Device own = open_device({.memory_limit = 8 * mebibyte});
  EXPECT_EQ(own.memory().limit_bytes, 8 * mebibyte);
  Buffer first = own.allocate(5 * mebibyte, {.name = "first"});
  const std::string message =
      expect_error(ErrorCode::memory_limit, [&] { own.allocate(5 * mebibyte, {.name = "second"}); });
  EXPECT_NE(message.find("second"), std::string::npos) << message;
  EXPECT_NE(message.find("8388608"), std::string::npos) << message;
  EXPECT_EQ(own.memory().buffer_count, 1U);

  Encoder encoder = own.encoder();
  encoder.fill(first, 0, first.size(), 7);
  own.submit(std::move(encoder));
  first = {};  // in use until the fill is done, then its room is there
  const Buffer second = own.allocate(5 * mebibyte);
  EXPECT_EQ(own.memory().buffer_count, 1U);
}

TEST_F(MemoryTest, transfers_work_under_a_tight_limit) {
  Device own = open_device({.memory_limit = 4 * mebibyte});  // the rings alone would be 32 MiB
  std::vector<std::uint32_t> values(100000);
  for (std::size_t index = 0; index < values.size(); ++index) values[index] = static_cast<std::uint32_t>(index * 7);
  const Buffer buffer = own.allocate(values.size() * 4);
  const Semaphore gate = own.create_semaphore();
  const std::array wait = {SemaphoreValue{gate, 1}};
  Encoder encoder = own.encoder();
  encoder.fill(buffer, 0, buffer.size(), 1);
  own.submit(std::move(encoder), {.wait = wait});
  own.write(buffer, 0, std::as_bytes(std::span(values)));  // behind the fill, which waits
  gate.signal_from_host(1);
  EXPECT_EQ(download<std::uint32_t>(buffer), values);
}

TEST_F(MemoryTest, every_failed_driver_allocation_unwinds) {
  const auto work = [](Device& own) {
    std::vector<std::uint32_t> values(70000, 5);
    Buffer large = own.allocate(values.size() * 4, {.name = "large"});
    Buffer small = own.allocate(128, {.memory = MemoryKind::upload});
    Encoder encoder = own.encoder("work");
    encoder.fill(large, 0, large.size(), 3);
    Buffer staging = encoder.state().staging(512);
    encoder.copy(staging, 0, small, 0, 64);
    own.submit(std::move(encoder));
    own.write(large, 0, std::as_bytes(std::span(values)));
    own.state()->compute_pipeline("fill", std::array<std::uint32_t, 1>{16});
    own.create_semaphore();
    const auto secondary = std::make_shared<detail::SecondaryCommands>(own.state(), "secondary");
    const detail::TimestampPool timestamps(own.state(), 4);
    EXPECT_EQ(download<std::uint32_t>(large), values);
  };
  Device own = open_device({.staging_bytes = 65536});
  const std::uint64_t before = detail::allocation_calls(*own.state());
  work(own);
  const std::uint64_t calls = detail::allocation_calls(*own.state()) - before;
  ASSERT_GE(calls, 10U);
  std::size_t failures = 0;
  for (std::uint64_t failing = 1; failing <= calls; ++failing) {
    Device fresh = open_device({.staging_bytes = 65536});
    detail::fail_allocation_after(*fresh.state(), failing);
    try {
      work(fresh);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      ++failures;
    }
    detail::fail_allocation_after(*fresh.state(), 0);
    fresh.wait_idle();
    EXPECT_EQ(fresh.memory().buffer_count, 0U) << "failing call " << failing;
    work(fresh);  // the device still works
  }
  EXPECT_GE(failures, 6U);  // a failed ring is replaced by a buffer, which then succeeds
}

}  // namespace
}  // namespace tessera::test
