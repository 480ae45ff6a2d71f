#include <tessera/interop/vulkan.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <tessera/error.hpp>

#include "device/device_companions.hpp"
#include "device/encoder_state.hpp"
#include "device/feature_set.hpp"
#include "device/instance.hpp"
#include "device/memory.hpp"
#include "device/result.hpp"
#include "device/semaphore_state.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::interop {
namespace {

constexpr std::array instance_extensions = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};

[[noreturn]] void reject(ErrorCode code, std::string_view operation, std::string_view operand, std::string_view rule,
                         std::string values = {}) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = std::string(operand),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void require_usages(const ForeignBuffer& foreign) {
  constexpr std::array usages = {std::pair("storage buffer", VK_BUFFER_USAGE_STORAGE_BUFFER_BIT),
                                 std::pair("shader device address", VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT),
                                 std::pair("transfer source", VK_BUFFER_USAGE_TRANSFER_SRC_BIT),
                                 std::pair("transfer destination", VK_BUFFER_USAGE_TRANSFER_DST_BIT)};
  std::vector<std::string> missing;
  for (const auto& [name, bit] : usages) {
    if ((foreign.usage & bit) == 0) missing.emplace_back(name);
  }
  if (missing.empty()) return;
  reject(ErrorCode::missing_feature, "wrap", foreign.name, "the buffer was created without required usages",
         joined(missing));
}

}  // namespace

struct VulkanRequirements::Parts {
  std::unique_ptr<detail::FeatureChain> features;
  std::vector<const char*> extensions;
};

VulkanRequirements::VulkanRequirements(VkInstance instance, VkPhysicalDevice physical_device,
                                       PFN_vkGetInstanceProcAddr loader)
    : parts_(std::make_unique<Parts>()) {
  const vk::raii::Context context = loader != nullptr ? vk::raii::Context(loader) : detail::make_context();
  detail::translated("requirements", [&] {
    vk::raii::Instance borrowed(context, instance);
    try {
      const detail::DeviceOffer offer = detail::offer_of(vk::raii::PhysicalDevice(borrowed, physical_device));
      const std::vector<std::string> missing = detail::missing_features(offer);
      if (!missing.empty()) {
        reject(ErrorCode::missing_feature, "requirements", std::data(offer.properties.deviceName),
               "the device lacks required features", joined(missing));
      }
      parts_->features = detail::features_to_enable(offer);
      parts_->extensions = detail::extensions_to_enable(offer);
    } catch (...) {
      borrowed.release();
      throw;
    }
    borrowed.release();
  });
}

VulkanRequirements::VulkanRequirements(VulkanRequirements&&) noexcept = default;
VulkanRequirements& VulkanRequirements::operator=(VulkanRequirements&&) noexcept = default;
VulkanRequirements::~VulkanRequirements() = default;

std::span<const char* const> VulkanRequirements::optional_instance_extensions() noexcept { return instance_extensions; }

std::span<const char* const> VulkanRequirements::device_extensions() const noexcept { return parts_->extensions; }

const VkPhysicalDeviceFeatures2& VulkanRequirements::features() const noexcept { return parts_->features->core; }

Device adopt(const VulkanAdoption& adoption, DeviceOptions options) {
  const auto& instance = adoption.enabled_instance_extensions;
  detail::AdoptedDevice adopted;
  adopted.instance = adoption.instance;
  adopted.physical_device = adoption.physical_device;
  adopted.device = adoption.device;
  adopted.queue = adoption.queue;
  adopted.queue_family = adoption.queue_family;
  adopted.features = adoption.enabled_features;
  adopted.extensions = adoption.enabled_device_extensions;
  adopted.debug_utils = std::any_of(instance.begin(), instance.end(),
                                    [](std::string_view name) { return name == VK_EXT_DEBUG_UTILS_EXTENSION_NAME; });
  adopted.loader = adoption.loader;
  adopted.lock_queue = adoption.lock_queue;
  adopted.unlock_queue = adoption.unlock_queue;
  adopted.owner = adoption.owner;
  auto vulkan = detail::VulkanDevice::adopt(adopted, options);
  return detail::make_device(std::move(vulkan), std::move(options));
}

VulkanDeviceHandles handles(const Device& device) noexcept {
  const detail::DeviceHandles& all = device.state()->handles();
  return {all.instance, all.physical_device, all.device, all.queue, all.queue_family};
}

void lock_queue(const Device& device) { device.state()->vulkan().lock(); }

void unlock_queue(const Device& device) { device.state()->vulkan().unlock(); }

VulkanBufferRange handles(const Buffer& buffer) {
  if (!buffer) reject(ErrorCode::missing_operand, "handles", "buffer", "the buffer is empty");
  const detail::BufferState& state = *buffer.state();
  return {state.buffer, state.offset, state.size, state.address};
}

VkSemaphore handle(const Semaphore& semaphore) {
  if (!semaphore) reject(ErrorCode::missing_operand, "handle", "semaphore", "the semaphore is empty");
  return semaphore.state()->handle;
}

Buffer wrap(const Device& device, const ForeignBuffer& foreign) {
  device.state()->require_alive("wrap");
  if (foreign.buffer == VK_NULL_HANDLE || foreign.bytes == 0) {
    reject(ErrorCode::missing_operand, "wrap", foreign.name, "buffer and size must be given");
  }
  require_usages(foreign);
  VkDeviceAddress address = foreign.address;
  if (address == 0) {
    const vk::BufferDeviceAddressInfo info(foreign.buffer);
    address = device.state()->vulkan().device().getBufferAddress(info) + foreign.offset;
  }
  if (foreign.offset % 4 != 0 || address % 4 != 0) {
    reject(ErrorCode::layout_mismatch, "wrap", foreign.name, "offset and address must be multiples of 4",
           detail::quantity("offset", foreign.offset) + ", " + detail::quantity("address", address));
  }
  auto state = std::make_shared<detail::BufferState>();
  state->device = device.state();
  state->buffer = foreign.buffer;
  state->offset = foreign.offset;
  state->size = foreign.bytes;
  state->capacity = foreign.bytes;
  state->address = address;
  state->mapped = foreign.mapped;
  state->name = foreign.name;
  state->owner = foreign.owner;
  return Buffer(std::move(state));
}

Encoder record_into(const Device& device, VkCommandBuffer commands) {
  device.state()->require_alive("record_into");
  if (commands == VK_NULL_HANDLE) {
    reject(ErrorCode::missing_operand, "record_into", "commands", "the command buffer must be given");
  }
  return Encoder(std::make_unique<detail::EncoderState>(device.state(), commands));
}

std::shared_ptr<const void> finish(Encoder&& encoder) {
  detail::EncoderState& state = encoder.state();
  state.require_open("finish");
  if (!state.foreign()) {
    reject(ErrorCode::execution_order, "finish", "encoder", "an encoder of the library's own is submitted instead");
  }
  auto retained = std::make_shared<std::vector<std::shared_ptr<const void>>>(state.finish());
  retained->push_back(state.device());
  return retained;
}

VkCommandBuffer command_buffer(Encoder& encoder) {
  detail::EncoderState& state = encoder.state();
  state.require_open("command_buffer");
  state.begin_external_work();
  state.mark_external_work();
  return state.commands();
}

}  // namespace tessera::interop
