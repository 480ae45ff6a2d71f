#include <tessera/device/device.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/device_selection.hpp"
#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

using DeviceTest = DeviceFixture;

DeviceInfo described(std::uint32_t index, std::string name, DeviceType type, std::vector<std::string> missing = {}) {
  DeviceInfo info;
  info.index = index;
  info.name = std::move(name);
  info.type = type;
  info.missing_features = std::move(missing);
  return info;
}

TEST(DeviceSelection, prefers_discrete_then_integrated_then_virtual_then_cpu) {
  std::vector<DeviceInfo> devices = {
      described(0, "software", DeviceType::cpu), described(1, "guest", DeviceType::virtual_gpu),
      described(2, "laptop", DeviceType::integrated), described(3, "card A", DeviceType::discrete),
      described(4, "card B", DeviceType::discrete)};
  EXPECT_EQ(detail::select_device(devices, {}), 3U);
  devices.resize(3);
  EXPECT_EQ(detail::select_device(devices, {}), 2U);
  devices.resize(2);
  EXPECT_EQ(detail::select_device(devices, {}), 1U);
}

TEST(DeviceSelection, matches_name_index_and_type_together) {
  const std::vector<DeviceInfo> devices = {described(0, "Alpha 100", DeviceType::discrete),
                                           described(1, "Alpha 200", DeviceType::discrete),
                                           described(2, "Beta", DeviceType::cpu)};
  EXPECT_EQ(detail::select_device(devices, {.index = 1}), 1U);
  EXPECT_EQ(detail::select_device(devices, {.name = "aLPHA 2"}), 1U);
  EXPECT_EQ(detail::select_device(devices, {.type = DeviceType::cpu}), 2U);
  const std::string message = expect_error(
      ErrorCode::no_device, [&] { detail::select_device(devices, {.name = "Alpha", .type = DeviceType::cpu}); });
  EXPECT_NE(message.find("Beta"), std::string::npos) << message;
  expect_error(ErrorCode::no_device, [] { detail::select_device({}, {}); });
}

TEST(DeviceSelection, passes_over_unusable_devices_and_names_what_they_lack) {
  const std::vector<DeviceInfo> devices = {
      described(0, "old card", DeviceType::discrete, {"scalarBlockLayout", "subgroup shuffle in compute"}),
      described(1, "software", DeviceType::cpu)};
  EXPECT_EQ(detail::select_device(devices, {}), 1U);
  const std::string message =
      expect_error(ErrorCode::missing_feature, [&] { detail::select_device(devices, {.index = 0}); });
  EXPECT_NE(message.find("scalarBlockLayout"), std::string::npos) << message;
  EXPECT_NE(message.find("subgroup shuffle in compute"), std::string::npos) << message;
}

TEST(DeviceSelection, parses_what_people_write) {
  EXPECT_EQ(DeviceSelector::parse("2").index, 2U);
  EXPECT_EQ(DeviceSelector::parse("Integrated").type, DeviceType::integrated);
  EXPECT_EQ(DeviceSelector::parse("virtual").type, DeviceType::virtual_gpu);
  EXPECT_EQ(DeviceSelector::parse("llvmpipe").name, "llvmpipe");
  EXPECT_EQ(DeviceSelector::parse("4090 Ti").name, "4090 Ti");
  const DeviceSelector any = DeviceSelector::parse("");
  EXPECT_TRUE(!any.index && !any.type && any.name.empty());
}

TEST_F(DeviceTest, enumeration_describes_the_open_device) {
  const std::vector<DeviceInfo> devices = enumerate_devices();
  ASSERT_FALSE(devices.empty());
  const DeviceInfo& info = device().info();
  ASSERT_LT(info.index, devices.size());
  EXPECT_EQ(devices[info.index].name, info.name);
  EXPECT_EQ(devices[info.index].uuid, info.uuid);
  EXPECT_TRUE(info.missing_features.empty());
  EXPECT_GE(info.subgroup_size, 4U);
  EXPECT_GT(info.memory_bytes, std::uint64_t{64} << 20);
  EXPECT_FALSE(info.driver_name.empty());
  EXPECT_TRUE(info.api_version.starts_with("1."));
}

TEST_F(DeviceTest, opening_an_absent_device_lists_those_present) {
  const std::string message = expect_error(ErrorCode::no_device, [] { Device::open({.name = "no such device 97"}); });
  EXPECT_NE(message.find(device().info().name), std::string::npos) << message;
}

TEST_F(DeviceTest, log_reaches_the_callback_only) {
  MessageLog log;
  Device other = open_device({.log = log.callback()});
  other.log(LogLevel::warning, "told");
  EXPECT_EQ(log.take_problems(), std::vector<std::string>{"told"});
  other.log(LogLevel::debug, "whispered");
  EXPECT_TRUE(log.take_problems().empty());
  EXPECT_EQ(log.take_all().back(), "whispered");
}

TEST_F(DeviceTest, validation_messages_reach_the_callback) {
  if (validation() == Validation::off) GTEST_SKIP() << "the validation layer is not installed";
  MessageLog log;
  Device other = open_device({.log = log.callback()});
  Buffer buffer = other.allocate(64);
  Encoder encoder = other.encoder();
  const VkBufferCopy nothing{};  // a copy of 0 bytes is not allowed
  other.state()->functions().vkCmdCopyBuffer(encoder.state().commands(), buffer.state()->buffer, buffer.state()->buffer,
                                             1, &nothing);
  EXPECT_FALSE(log.take_problems().empty());
}

TEST_F(DeviceTest, pipeline_cache_survives_and_rejects_foreign_bytes) {
  const std::array<std::uint32_t, 1> constants = {16};
  std::vector<std::byte> cache;
  {
    Device first = open_device();
    first.state()->compute_pipeline("copy", constants);
    cache = first.pipeline_cache();
  }
  ASSERT_FALSE(cache.empty());
  Device second = open_device({.pipeline_cache = cache});
  second.state()->compute_pipeline("copy", constants);
  Device merged = open_device();
  merged.merge_pipeline_cache(cache);
  merged.state()->compute_pipeline("copy", constants);
  EXPECT_GE(merged.pipeline_cache().size(), cache.size());
  merged.merge_pipeline_cache(std::vector<std::byte>(64, std::byte{7}));

  MessageLog log;
  for (std::size_t damage = 0; damage < 4; ++damage) {
    std::vector<std::byte> bad = cache;
    if (damage == 0) bad.resize(bad.size() / 2);
    if (damage == 1) bad.back() ^= std::byte{1};
    if (damage == 2) bad.assign(100, std::byte{0x5a});
    if (damage == 3) bad.resize(3);
    Device third = open_device({.log = log.callback(), .pipeline_cache = bad});
    third.state()->compute_pipeline("copy", constants);
    EXPECT_TRUE(log.take_problems().empty());
    EXPECT_FALSE(log.take_all().empty()) << "damage " << damage << " was not noticed";
  }
}

TEST_F(DeviceTest, kernels_are_made_once_and_unknown_ones_rejected) {
  auto& state = *device().state();
  const std::array<std::uint32_t, 1> words = {4};
  const VkPipeline first = state.compute_pipeline("fill", words);
  EXPECT_EQ(first, state.compute_pipeline("fill", words));
  EXPECT_NE(first, state.compute_pipeline("fill", std::array<std::uint32_t, 1>{16}));
  const std::string message =
      expect_error(ErrorCode::unknown_id, [&] { state.compute_pipeline("no_such_kernel", {}); });
  EXPECT_NE(message.find("no_such_kernel"), std::string::npos);
}

TEST(DispatchSize, folds_what_exceeds_a_dimension) {
  EXPECT_EQ(detail::fold_dispatch(0, 65535), (detail::DispatchSize{0, 0, 0}));
  EXPECT_EQ(detail::fold_dispatch(65535, 65535), (detail::DispatchSize{65535, 1, 1}));
  EXPECT_EQ(detail::fold_dispatch(65536, 65535), (detail::DispatchSize{65535, 2, 1}));
  for (const std::uint64_t groups : {std::uint64_t{1}, std::uint64_t{65535} * 65535, (std::uint64_t{1} << 40) + 7}) {
    const detail::DispatchSize size = detail::fold_dispatch(groups, 65535);
    EXPECT_GE(size.groups(), groups);
    EXPECT_LT(size.groups(), groups + std::uint64_t{size.x} * (size.y + 1));
    EXPECT_LE(std::max({size.x, size.y, size.z}), 65535U);
  }
  expect_error(ErrorCode::limit_exceeded, [] { detail::fold_dispatch(28, 3); });
}

}  // namespace
}  // namespace tessera::test
