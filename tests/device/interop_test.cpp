#include <tessera/interop/vulkan.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/internal.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

/// An application's own Vulkan, written with the plain C interface.
class Application {
 public:
  explicit Application(bool with_features = true) {
    const VkApplicationInfo info{VK_STRUCTURE_TYPE_APPLICATION_INFO,        nullptr, "application", 1, nullptr, 0,
                                 interop::VulkanRequirements::api_version()};
    VkInstanceCreateInfo instance_info{};
    instance_info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    instance_info.pApplicationInfo = &info;
    EXPECT_EQ(vkCreateInstance(&instance_info, nullptr, &instance), VK_SUCCESS);
    std::uint32_t count = 0;
    vkEnumeratePhysicalDevices(instance, &count, nullptr);
    std::vector<VkPhysicalDevice> devices(count);
    vkEnumeratePhysicalDevices(instance, &count, devices.data());
    const std::vector<DeviceInfo> described = enumerate_devices();
    const Device chosen = Device::open(DeviceSelector::from_environment());
    physical_device = devices.at(chosen.info().index);
    requirements = std::make_unique<interop::VulkanRequirements>(instance, physical_device);

    const float priority = 1;
    VkDeviceQueueCreateInfo queue_info{};
    queue_info.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queue_info.queueCount = 1;
    queue_info.pQueuePriorities = &priority;
    const auto extensions = requirements->device_extensions();
    VkDeviceCreateInfo device_info{};
    device_info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    device_info.pNext = with_features ? &requirements->features() : nullptr;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue_info;
    device_info.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
    device_info.ppEnabledExtensionNames = extensions.data();
    EXPECT_EQ(vkCreateDevice(physical_device, &device_info, nullptr, &device), VK_SUCCESS);
    vkGetDeviceQueue(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pool_info{};
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    EXPECT_EQ(vkCreateCommandPool(device, &pool_info, nullptr, &pool), VK_SUCCESS);
  }
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;
  ~Application() {
    vkDestroyCommandPool(device, pool, nullptr);
    vkDestroyDevice(device, nullptr);
    vkDestroyInstance(instance, nullptr);
  }

  interop::VulkanAdoption adoption() const {
    interop::VulkanAdoption adoption;
    adoption.instance = instance;
    adoption.physical_device = physical_device;
    adoption.device = device;
    adoption.queue = queue;
    adoption.enabled_features = &requirements->features();
    adoption.enabled_device_extensions = requirements->device_extensions();
    return adoption;
  }

  VkCommandBuffer begin() const {
    VkCommandBufferAllocateInfo info{};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    EXPECT_EQ(vkAllocateCommandBuffers(device, &info, &commands), VK_SUCCESS);
    VkCommandBufferBeginInfo begin_info{};
    begin_info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    EXPECT_EQ(vkBeginCommandBuffer(commands, &begin_info), VK_SUCCESS);
    return commands;
  }

  void run(VkCommandBuffer commands) const {
    EXPECT_EQ(vkEndCommandBuffer(commands), VK_SUCCESS);
    VkSubmitInfo submit{};
    submit.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    EXPECT_EQ(vkQueueSubmit(queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    EXPECT_EQ(vkQueueWaitIdle(queue), VK_SUCCESS);
  }

  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkCommandPool pool = VK_NULL_HANDLE;
  std::unique_ptr<interop::VulkanRequirements> requirements;
};

std::vector<std::uint32_t> words_of(const Buffer& buffer) {
  std::vector<std::uint32_t> words(buffer.size() / 4);
  buffer.device().read(buffer, 0, std::as_writable_bytes(std::span(words)));
  return words;
}

TEST(Adoption, an_adopted_device_does_the_work_of_one_of_our_own) {
  const Application application;
  std::atomic<int> locks{0};
  std::atomic<int> held{0};
  auto owner = std::make_shared<int>(0);
  {
    interop::VulkanAdoption adoption = application.adoption();
    adoption.owner = owner;
    adoption.lock_queue = [&] {
      ++locks;
      ++held;
    };
    adoption.unlock_queue = [&] { --held; };
    Device device = interop::adopt(adoption);
    EXPECT_EQ(interop::handles(device).queue, application.queue);
    EXPECT_EQ(device.info().name, Device::open(DeviceSelector::from_environment()).info().name);
    const Buffer buffer = device.allocate(100000);
    Encoder encoder = device.encoder();
    encoder.fill(buffer, 0, buffer.size(), 12);
    device.submit(std::move(encoder)).wait();
    EXPECT_EQ(words_of(buffer), std::vector<std::uint32_t>(25000, 12));
    EXPECT_GE(locks.load(), 1);
    EXPECT_EQ(held.load(), 0);
    interop::lock_queue(device);
    EXPECT_EQ(held.load(), 1);
    interop::unlock_queue(device);
    EXPECT_NE(device.state()->compute_pipeline("fill", std::array<std::uint32_t, 1>{4}), VK_NULL_HANDLE);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(Adoption, missing_features_and_handles_are_named) {
  const Application application;
  VkPhysicalDeviceVulkan12Features vulkan12{};
  vulkan12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  vulkan12.bufferDeviceAddress = VK_TRUE;
  VkPhysicalDeviceSynchronization2Features synchronization2{};  // single structures count as well
  synchronization2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SYNCHRONIZATION_2_FEATURES;
  synchronization2.synchronization2 = VK_TRUE;
  synchronization2.pNext = &vulkan12;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &synchronization2;
  interop::VulkanAdoption adoption = application.adoption();
  adoption.enabled_features = &features;
  const std::string message = expect_error(ErrorCode::missing_feature, [&] { interop::adopt(adoption); });
  for (const char* const name : {"scalarBlockLayout", "shaderInt64", "timelineSemaphore", "maintenance4"}) {
    EXPECT_NE(message.find(name), std::string::npos) << message;
  }
  for (const char* const name : {"bufferDeviceAddress", "synchronization2"}) {
    EXPECT_EQ(message.find(name), std::string::npos) << message;
  }
  expect_error(ErrorCode::invalid_argument, [] { interop::adopt({}); });
  adoption = application.adoption();
  adoption.queue_family = 99;
  expect_error(ErrorCode::invalid_argument, [&] { interop::adopt(adoption); });
  adoption = application.adoption();
  adoption.lock_queue = [] {};
  expect_error(ErrorCode::invalid_argument, [&] { interop::adopt(adoption); });
}

TEST(Adoption, records_into_a_foreign_command_buffer) {
  const Application application;
  Device device = interop::adopt(application.adoption());
  const Buffer result = device.allocate(4096);
  const auto witness = std::make_shared<int>(0);
  const VkCommandBuffer commands = application.begin();
  std::shared_ptr<const void> ownership;
  {
    const Buffer temporary = device.allocate(4096);
    Encoder encoder = interop::record_into(device, commands);
    encoder.fill(temporary, 0, 4096, 5);
    encoder.copy(temporary, 0, result, 0, 4096);
    encoder.fill(result, 0, 4, 6);
    encoder.retain(witness);
    expect_error(ErrorCode::execution_order, [&] { device.submit(std::move(encoder)); });
    ownership = interop::finish(std::move(encoder));
    expect_error(ErrorCode::execution_order, [&] { (void)interop::finish(std::move(encoder)); });
    expect_error(ErrorCode::execution_order, [&] { encoder.fill(result, 0, 4, 6); });
  }
  EXPECT_EQ(device.memory().buffer_count, 2U);
  application.run(commands);
  ownership.reset();
  EXPECT_EQ(device.memory().buffer_count, 1U);
  EXPECT_EQ(witness.use_count(), 1);
  auto expected = std::vector<std::uint32_t>(1024, 5);
  expected[0] = 6;
  EXPECT_EQ(words_of(result), expected);

  Encoder own = device.encoder();
  expect_error(ErrorCode::execution_order, [&] { (void)interop::finish(std::move(own)); });
  expect_error(ErrorCode::missing_operand, [&] { interop::record_into(device, VK_NULL_HANDLE); });
}

TEST(Adoption, raw_commands_keep_their_order_inside_an_encoder) {
  const Application application;
  Device device = interop::adopt(application.adoption());
  const Buffer a = device.allocate(4096);
  const Buffer b = device.allocate(4096);
  Encoder encoder = device.encoder();
  encoder.fill(a, 0, 4096, 3);
  const auto from = interop::handles(a);
  const auto to = interop::handles(b);
  const VkBufferCopy region{from.offset, to.offset, 4096};
  vkCmdCopyBuffer(interop::command_buffer(encoder), from.buffer, to.buffer, 1, &region);
  encoder.fill(b, 0, 4, 4);
  device.submit(std::move(encoder));
  auto expected = std::vector<std::uint32_t>(1024, 3);
  expected[0] = 4;
  EXPECT_EQ(words_of(b), expected);
}

using InteropTest = DeviceFixture;

TEST_F(InteropTest, foreign_buffers_are_wrapped_and_released) {
  const Buffer whole = device().allocate(1 << 20);
  const auto range = interop::handles(whole);
  const auto owner = std::make_shared<Buffer>(whole);
  interop::ForeignBuffer foreign;
  foreign.buffer = range.buffer;
  foreign.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
                  VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  foreign.offset = 4096;
  foreign.bytes = 8192;
  foreign.owner = owner;
  {
    const Buffer wrapped = interop::wrap(device(), foreign);
    EXPECT_EQ(wrapped.address(), whole.address() + 4096);
    Encoder encoder = device().encoder();
    encoder.fill(whole, 0, whole.size(), 1);
    encoder.fill(wrapped, 0, wrapped.size(), 2);
    device().submit(std::move(encoder)).wait();
    const auto words = words_of(whole);
    EXPECT_EQ(words[1023], 1U);
    EXPECT_EQ(words[1024], 2U);
    EXPECT_EQ(words[3071], 2U);
    EXPECT_EQ(words[3072], 1U);
    EXPECT_EQ(words_of(wrapped), std::vector<std::uint32_t>(2048, 2));
  }
  device().wait_idle();
  foreign.owner.reset();
  EXPECT_EQ(owner.use_count(), 1);

  foreign.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  const std::string message = expect_error(ErrorCode::missing_feature, [&] { interop::wrap(device(), foreign); });
  EXPECT_NE(message.find("shader device address"), std::string::npos) << message;
  foreign.usage = ~VkBufferUsageFlags{0};
  foreign.offset = 2;
  expect_error(ErrorCode::layout_mismatch, [&] { interop::wrap(device(), foreign); });
  foreign.buffer = VK_NULL_HANDLE;
  expect_error(ErrorCode::missing_operand, [&] { interop::wrap(device(), foreign); });
}

TEST_F(InteropTest, memory_goes_to_another_device_and_back) {
  if (!device().limits().external_memory_descriptor) GTEST_SKIP() << "no memory by descriptor";
  Device other = open_device();
  const Buffer exported = interop::allocate_exportable(device(), 100004, {.name = "shared"});
  const interop::MemoryDescriptor memory = interop::export_memory(exported);
  EXPECT_GE(memory.descriptor, 0);
  EXPECT_EQ(memory.bytes, 100004U);
  const Buffer imported = interop::import_memory(other, memory, {.name = "theirs"});
  EXPECT_EQ(imported.size(), exported.size());

  Encoder encoder = device().encoder();
  encoder.fill(exported, 0, exported.size(), 21);
  device().submit(std::move(encoder)).wait();
  EXPECT_EQ(words_of(imported), std::vector<std::uint32_t>(25001, 21));
  Encoder back = other.encoder();
  back.fill(imported, 4, 8, 22);
  other.submit(std::move(back)).wait();
  EXPECT_EQ(download<std::uint32_t>(exported, 0, 4), (std::vector<std::uint32_t>{21, 22, 22, 21}));
}

TEST_F(InteropTest, bad_descriptors_are_rejected) {
  if (!device().limits().external_memory_descriptor) GTEST_SKIP() << "no memory by descriptor";
  const Buffer plain = device().allocate(4096);
  expect_error(ErrorCode::invalid_argument, [&] { interop::export_memory(plain); });
  expect_error(ErrorCode::missing_operand, [] { interop::export_memory(Buffer()); });
  expect_error(ErrorCode::invalid_argument, [] { interop::import_memory(device(), {}); });
  const std::uint64_t live = device().memory().allocated_bytes;
  for (std::uint64_t failing = 1; failing <= 2; ++failing) {
    detail::fail_allocation_after(*device().state(), failing);
    expect_error(ErrorCode::out_of_memory, [] { interop::allocate_exportable(device(), 1 << 20); });
  }
  detail::fail_allocation_after(*device().state(), 0);
  EXPECT_EQ(device().memory().allocated_bytes, live);
}

TEST_F(InteropTest, semaphores_go_to_another_device) {
  if (!device().limits().external_semaphore_descriptor) {
    expect_error(ErrorCode::missing_feature, [] { interop::create_exportable_semaphore(device()); });
    GTEST_SKIP() << "no semaphores by descriptor";
  }
  Device other = open_device();
  const Semaphore ours = interop::create_exportable_semaphore(device(), 2);
  const Semaphore theirs = interop::import_semaphore(other, interop::export_semaphore(ours));
  EXPECT_EQ(theirs.value(), 2U);
  const Buffer buffer = device().allocate(4096);
  Encoder encoder = device().encoder();
  encoder.fill(buffer, 0, 4096, 1);
  const std::array signal = {SemaphoreValue{ours, 7}};
  device().submit(std::move(encoder), {.signal = signal});
  EXPECT_TRUE(theirs.wait_from_host(7, std::chrono::seconds(10)));
  expect_error(ErrorCode::invalid_argument, [] { interop::export_semaphore(device().create_semaphore()); });
  expect_error(ErrorCode::invalid_argument, [] { interop::import_semaphore(device(), -1); });
}

}  // namespace
}  // namespace tessera::test
