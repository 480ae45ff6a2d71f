#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

using namespace std::chrono_literals;
using SubmissionTest = DeviceFixture;

Encoder filling(Device& device, const Buffer& buffer, std::uint32_t word) {
  Encoder encoder = device.encoder("fill");
  encoder.fill(buffer, 0, buffer.size(), word);
  return encoder;
}

TEST_F(SubmissionTest, fences_rise_and_are_done_after_waiting) {
  const Buffer buffer = device().allocate(4096);
  EXPECT_TRUE(Fence().done());
  Fence().wait();
  const Fence first = device().submit(filling(device(), buffer, 1));
  const Fence second = device().submit(filling(device(), buffer, 2));
  EXPECT_LT(first.value(), second.value());
  second.wait();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done());
  EXPECT_TRUE(first.wait_for(0ns));
  EXPECT_EQ(download<std::uint32_t>(buffer, 0, 1).front(), 2U);
}

TEST_F(SubmissionTest, empty_encoders_follow_what_was_submitted) {
  const Buffer buffer = device().allocate(4096);
  const Fence work = device().submit(filling(device(), buffer, 1));
  const Fence empty = device().submit(device().encoder());
  EXPECT_GE(empty.value(), work.value());
  empty.wait();
  EXPECT_TRUE(work.done());
}

TEST_F(SubmissionTest, an_encoder_is_submitted_once) {
  const Buffer buffer = device().allocate(64);
  Encoder encoder = filling(device(), buffer, 1);
  device().submit(std::move(encoder));
  expect_error(ErrorCode::execution_order, [&] { device().submit(std::move(encoder)); });
  expect_error(ErrorCode::execution_order, [&] { encoder.fill(buffer, 0, 4, 1); });
  expect_error(ErrorCode::execution_order, [&] { encoder.retain(nullptr); });
  Encoder moved = device().encoder();
  Encoder target = std::move(moved);
  expect_error(ErrorCode::execution_order, [&] { moved.fill(buffer, 0, 4, 1); });
  expect_error(ErrorCode::execution_order, [&] { device().submit(std::move(moved)); });
}

TEST_F(SubmissionTest, foreign_encoders_and_semaphores_are_rejected) {
  Device other = open_device();
  const Buffer buffer = other.allocate(64);
  Encoder encoder = filling(other, buffer, 1);
  expect_error(ErrorCode::foreign_device, [&] { device().submit(std::move(encoder)); });
  const std::array foreign = {SemaphoreValue{device().create_semaphore(), 1}};
  expect_error(ErrorCode::foreign_device, [&] { other.submit(std::move(encoder), {.signal = foreign}); });
  expect_error(ErrorCode::foreign_device, [&] { other.submit(std::move(encoder), {.wait = foreign}); });
  const std::array empty = {SemaphoreValue{}};
  expect_error(ErrorCode::missing_operand, [&] { other.submit(std::move(encoder), {.wait = empty}); });
  other.submit(std::move(encoder)).wait();  // a rejected submission leaves the encoder as it was
}

TEST_F(SubmissionTest, semaphores_order_host_and_device) {
  const Buffer buffer = upload(std::vector<std::uint32_t>(16, 0));
  Semaphore gate = device().create_semaphore(3);
  Semaphore done = device().create_semaphore();
  EXPECT_EQ(gate.value(), 3U);
  const std::array wait = {SemaphoreValue{gate, 5}};
  const std::array signal = {SemaphoreValue{done, 8}};
  const Fence fence = device().submit(filling(device(), buffer, 4), {.wait = wait, .signal = signal});
  EXPECT_FALSE(fence.wait_for(20ms));
  EXPECT_FALSE(done.wait_from_host(8, 1ms));
  gate.signal_from_host(5);
  EXPECT_TRUE(done.wait_from_host(8, 10s));
  fence.wait();
  EXPECT_EQ(done.value(), 8U);
  EXPECT_EQ(download<std::uint32_t>(buffer, 0, 1).front(), 4U);
  expect_error(ErrorCode::invalid_argument, [&] { gate.signal_from_host(5); });
  expect_error(ErrorCode::invalid_argument, [&] { device().submit(filling(device(), buffer, 4), {.signal = signal}); });
  expect_error(ErrorCode::missing_operand, [] { Semaphore().value(); });
}

TEST_F(SubmissionTest, what_is_in_use_outlives_its_handles) {
  Semaphore gate = device().create_semaphore();
  const Buffer result = upload(std::vector<std::uint32_t>(20000, 0));
  const auto witness = std::make_shared<int>(1);
  const std::uint64_t live = device().memory().buffer_count;
  Fence fence;
  {
    const Buffer temporary = upload(std::vector<std::uint32_t>(20000, 6));
    const std::array wait = {SemaphoreValue{gate, 1}};
    Encoder encoder = device().encoder();
    encoder.copy(temporary, 0, result, 0, temporary.size());
    encoder.retain(witness);
    fence = device().submit(std::move(encoder), {.wait = wait});
  }
  EXPECT_EQ(device().memory().buffer_count, live + 1);
  EXPECT_EQ(witness.use_count(), 2);
  device().state()->defer(witness);
  EXPECT_EQ(witness.use_count(), 3);
  gate.signal_from_host(1);
  fence.wait();
  device().state()->collect();
  EXPECT_EQ(device().memory().buffer_count, live);
  EXPECT_EQ(witness.use_count(), 1);
  EXPECT_EQ(download<std::uint32_t>(result), std::vector<std::uint32_t>(20000, 6));
}

TEST_F(SubmissionTest, an_abandoned_device_goes_by_itself) {
  std::weak_ptr<detail::DeviceState> watched;
  {
    Device own = open_device();
    watched = own.state();
    const Buffer buffer = own.allocate(1 << 20);
    own.submit(filling(own, buffer, 1));
  }
  // The submission owns the buffer, and the buffer the device: nobody is left to wait for it.
  for (int round = 0; round < 200 && !watched.expired(); ++round) std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(watched.expired());
  std::this_thread::sleep_for(100ms);
}

TEST_F(SubmissionTest, dropped_encoders_leave_nothing) {
  const std::uint64_t live = device().memory().buffer_count;
  {
    Encoder encoder = filling(device(), device().allocate(1024), 3);
    encoder.begin_label("open");
  }
  EXPECT_EQ(device().memory().buffer_count, live);
}

TEST_F(SubmissionTest, labels_may_stay_open_or_be_closed_too_often) {
  const Buffer buffer = device().allocate(64);
  Encoder encoder = device().encoder("outer");
  encoder.end_label();
  encoder.begin_label("left open");
  encoder.fill(buffer, 0, 64, 1);
  encoder.begin_label("closed");
  encoder.end_label();
  device().submit(std::move(encoder)).wait();
}

TEST_F(SubmissionTest, threads_submit_together) {
  std::vector<std::thread> threads;
  std::array<int, 4> faults{};
  for (std::size_t thread = 0; thread < faults.size(); ++thread) {
    threads.emplace_back([&faults, thread] {
      const Buffer buffer = device().allocate(4096);
      for (std::uint32_t round = 0; round < 50; ++round) {
        const auto word = static_cast<std::uint32_t>(thread) * 1000 + round;
        device().submit(filling(device(), buffer, word));
        faults[thread] += download<std::uint32_t>(buffer) != std::vector<std::uint32_t>(1024, word);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(faults, (std::array<int, 4>{}));
}

TEST_F(SubmissionTest, secondary_commands_run_many_times) {
  const Buffer source = upload(std::vector<std::uint32_t>(256, 8));
  const Buffer target = upload(std::vector<std::uint32_t>(256, 0));
  auto secondary = std::make_shared<detail::SecondaryCommands>(device().state(), "recorded once");
  const VkBufferCopy region{source.state()->offset, target.state()->offset, 1024};
  device().state()->functions().vkCmdCopyBuffer(secondary->begin(), source.state()->buffer, target.state()->buffer, 1,
                                                &region);
  secondary->end();
  for (std::uint32_t round = 0; round < 3; ++round) {
    Encoder encoder = device().encoder();
    encoder.fill(target, 0, 1024, round);
    encoder.state().begin_external_work();
    detail::execute(encoder.state(), secondary);
    encoder.state().mark_external_work();
    encoder.fill(target, 0, 4, 100 + round);
    device().submit(std::move(encoder));
  }
  secondary.reset();  // the submissions keep it
  auto expected = std::vector<std::uint32_t>(256, 8);
  expected[0] = 102;
  EXPECT_EQ(download<std::uint32_t>(target), expected);
}

TEST_F(SubmissionTest, timestamps_rise) {
  if (device().limits().timestamp_nanoseconds <= 0) GTEST_SKIP() << "the queue has no timestamps";
  const Buffer buffer = device().allocate(1 << 22);
  auto pool = std::make_shared<detail::TimestampPool>(device().state(), 2);
  Encoder encoder = device().encoder();
  encoder.retain(pool);
  pool->reset(encoder.state().commands(), 0, 2);
  pool->write(encoder.state().commands(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 0);
  encoder.fill(buffer, 0, buffer.size(), 1);
  pool->write(encoder.state().commands(), VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, 1);
  device().submit(std::move(encoder)).wait();
  const auto ticks = pool->ticks(0, 2);
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_GT(pool->nanoseconds(ticks[0], ticks[1]), 0);
  EXPECT_LT(pool->nanoseconds(ticks[0], ticks[1]), 60e9);
}

TEST_F(SubmissionTest, a_lost_device_says_so_everywhere) {
  Device own = open_device();
  const Buffer buffer = own.allocate(1 << 20);
  const Semaphore semaphore = own.create_semaphore();
  const Fence fence = own.submit(filling(own, buffer, 1));
  Encoder encoder = filling(own, buffer, 2);
  detail::simulate_device_loss(*own.state());
  EXPECT_TRUE(own.lost());
  std::array<std::byte, 4> bytes{};
  expect_error(ErrorCode::device_lost, [&] { own.submit(std::move(encoder)); });
  expect_error(ErrorCode::device_lost, [&] { own.encoder(); });
  expect_error(ErrorCode::device_lost, [&] { own.allocate(64); });
  expect_error(ErrorCode::device_lost, [&] { own.write(buffer, 0, bytes); });
  expect_error(ErrorCode::device_lost, [&] { own.read(buffer, 0, bytes); });
  expect_error(ErrorCode::device_lost, [&] { own.wait_idle(); });
  expect_error(ErrorCode::device_lost, [&] { own.create_semaphore(); });
  expect_error(ErrorCode::device_lost, [&] { fence.wait(); });
  expect_error(ErrorCode::device_lost, [&] { fence.done(); });
  expect_error(ErrorCode::device_lost, [&] { semaphore.value(); });
}

TEST(AddressHazards, order_all_but_reads) {
  detail::AddressHazards hazards;
  using detail::RangeAccess;
  hazards.add(100, 200, RangeAccess::read);
  EXPECT_FALSE(hazards.conflicts(100, 200, RangeAccess::read));
  EXPECT_TRUE(hazards.conflicts(199, 300, RangeAccess::write));
  EXPECT_FALSE(hazards.conflicts(200, 300, RangeAccess::write));
  hazards.add(400, 500, RangeAccess::write);
  EXPECT_TRUE(hazards.conflicts(499, 501, RangeAccess::read));
  EXPECT_FALSE(hazards.conflicts(500, 501, RangeAccess::read));
  for (std::uint64_t range = 0; !hazards.full(); ++range)
    hazards.add(range * 1000, range * 1000 + 1, RangeAccess::read);
  hazards.clear();
  EXPECT_TRUE(hazards.empty());
}

}  // namespace
}  // namespace tessera::test
