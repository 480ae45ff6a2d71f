#include "support/device_fixture.hpp"

#include <dlfcn.h>

#include <optional>
#include <utility>

#include "device/testing.hpp"

namespace tessera::test {
namespace {

MessageLog& process_log() {
  static MessageLog log;
  return log;
}

std::optional<Device>& shared_device() {
  static std::optional<Device> device;
  return device;
}

void fail_on_problems() {
  for (const std::string& problem : process_log().take_problems()) ADD_FAILURE() << problem;
}

/// Closes the shared device before static objects go, and reports what its closing brings to light.
class DeviceEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    // The loader unloads both with every instance. Staying, they load once, and a leak of theirs has a name that the
    // list of known leaks can match.
    for (const char* const library : {"libVkLayer_khronos_validation.so", "libvulkan_lvp.so"}) {
      dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    }
  }
  void TearDown() override {
    shared_device().reset();
    fail_on_problems();
  }
};

[[maybe_unused]] const ::testing::Environment* const environment =
    ::testing::AddGlobalTestEnvironment(new DeviceEnvironment);

}  // namespace

LogCallback MessageLog::callback() {
  return [this](LogLevel level, std::string_view message) {
    const std::lock_guard lock(mutex_);
    all_.emplace_back(message);
    // What neither validation nor the library says comes from the loader, and is about the machine's installation.
    if (message.starts_with("Vulkan: ")) return;
    if (level == LogLevel::warning || level == LogLevel::error) problems_.emplace_back(message);
  };
}

std::vector<std::string> MessageLog::take_problems() {
  const std::lock_guard lock(mutex_);
  return std::exchange(problems_, {});
}

std::vector<std::string> MessageLog::take_all() {
  const std::lock_guard lock(mutex_);
  return std::exchange(all_, {});
}

void DeviceFixture::TearDown() {
  if (shared_device()) {
    if (!shared_device()->lost()) shared_device()->wait_idle();
    const detail::AccessFaults faults = detail::take_access_faults(*shared_device()->state());
    EXPECT_EQ(faults.count, 0U) << faults.first;
  }
  fail_on_problems();
}

Device& DeviceFixture::device() {
  std::optional<Device>& device = shared_device();
  if (!device) device = open_device();
  return *device;
}

Device DeviceFixture::open_device(DeviceOptions options) {
  if (!options.log) options.log = process_log().callback();
  options.validation = validation();
  return Device::open(DeviceSelector::from_environment(), std::move(options));
}

Validation DeviceFixture::validation() {
  // Without the layer, asking for it would put a warning in the log, which fails tests.
  static const Validation available = [] {
    MessageLog log;
    Device::open(DeviceSelector::from_environment(),
                 {.log = log.callback(), .validation = Validation::core_and_synchronization});
    return log.take_problems().empty() ? Validation::core_and_synchronization : Validation::off;
  }();
  return available;
}

MessageLog& DeviceFixture::messages() { return process_log(); }

}  // namespace tessera::test
