#include <tessera/device/device.hpp>

#include <cstring>
#include <utility>

#include <tessera/error.hpp>

#include "device/device_companions.hpp"
#include "device/encoder_state.hpp"
#include "device/memory.hpp"
#include "device/pipeline_cache.hpp"
#include "device/result.hpp"
#include "device/transfers.hpp"
#include "device/vulkan_device.hpp"

namespace tessera {
namespace {

void check_range(const Device& device, std::string_view operation, const Buffer& buffer, std::uint64_t offset,
                 std::uint64_t bytes) {
  const auto reject = [&](ErrorCode code, std::string_view rule, std::string values) {
    throw Error(code, {.operation = std::string(operation),
                       .operand = buffer ? buffer.name() : std::string(),
                       .rule = std::string(rule),
                       .values = std::move(values)});
  };
  if (!buffer) reject(ErrorCode::missing_operand, "the buffer is empty", {});
  if (buffer.state()->device != device.state()) {
    reject(ErrorCode::foreign_device, "the buffer belongs to another device", {});
  }
  if (offset > buffer.size() || bytes > buffer.size() - offset) {
    reject(ErrorCode::range_out_of_bounds, "the range leaves the buffer",
           detail::quantity("offset", offset) + ", " + detail::quantity("bytes", bytes) + ", " +
               detail::quantity("buffer size", buffer.size()));
  }
}

}  // namespace

namespace detail {

Device make_device(std::unique_ptr<VulkanDevice> vulkan, DeviceOptions options) {
  auto state = std::make_shared<DeviceState>(std::move(vulkan), std::move(options));
  auto companions = std::make_shared<DeviceCompanions>();
  state->companions_ = companions;
  return Device(std::move(state), std::move(companions));
}

}  // namespace detail

Device Device::open(const DeviceSelector& selector, DeviceOptions options) {
  auto vulkan = detail::VulkanDevice::open(selector, options);
  return detail::make_device(std::move(vulkan), std::move(options));
}

const DeviceInfo& Device::info() const noexcept { return state_->info(); }

const DeviceLimits& Device::limits() const noexcept { return state_->limits(); }

Buffer Device::allocate(std::uint64_t bytes, const BufferOptions& options) {
  return Buffer(state_->allocate(bytes, options));
}

Encoder Device::encoder(std::string_view label) {
  state_->require_alive("encoder");
  return Encoder(std::make_unique<detail::EncoderState>(state_, label));
}

Fence Device::submit(Encoder&& encoder, const SubmitOptions& options) {
  return state_->submit(encoder.state(), options);
}

void Device::wait_idle() { state_->wait(state_->submitted(), std::chrono::nanoseconds::max()); }

void Device::write(const Buffer& target, std::uint64_t offset, std::span<const std::byte> bytes) {
  check_range(*this, "write", target, offset, bytes.size());
  detail::write(target.state(), offset, bytes);
}

void Device::read(const Buffer& source, std::uint64_t offset, std::span<std::byte> bytes) {
  check_range(*this, "read", source, offset, bytes.size());
  detail::read(source.state(), offset, bytes);
}

MemoryStatistics Device::memory() const { return state_->memory().statistics(); }

std::vector<std::byte> Device::pipeline_cache() const {
  return detail::translated("pipeline cache", [&] {
    const std::vector<std::uint8_t> data = state_->vulkan().pipeline_cache().getData();
    return detail::seal_pipeline_cache(std::as_bytes(std::span(data)));
  });
}

void Device::merge_pipeline_cache(std::span<const std::byte> cache) {
  detail::translated("pipeline cache", [&] { state_->vulkan().merge_pipeline_cache(cache); });
}

bool Device::lost() const noexcept { return state_->lost(); }

void Device::log(LogLevel level, std::string_view message) const { state_->log(level, message); }

std::uint64_t Buffer::size() const noexcept { return state_ ? state_->size : 0; }

std::uint64_t Buffer::address() const noexcept { return state_->address; }

std::span<std::byte> Buffer::mapped() const noexcept {
  if (state_->mapped == nullptr) return {};
  return {state_->mapped, static_cast<std::size_t>(state_->size)};
}

MemoryKind Buffer::memory() const noexcept { return state_->memory; }

const std::string& Buffer::name() const noexcept { return state_->name; }

Device Buffer::device() const { return Device(state_->device, state_->device->companions()); }

}  // namespace tessera
