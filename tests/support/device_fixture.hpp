#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tessera/device/device.hpp>
#include <tessera/error.hpp>

namespace tessera::test {

/// Collects the warnings and errors of devices. Thread-safe.
class MessageLog {
 public:
  /// For `DeviceOptions::log`; the log must outlive the device.
  LogCallback callback();
  /// Warnings and errors since the last call.
  std::vector<std::string> take_problems();
  /// All messages since the last call, of any level.
  std::vector<std::string> take_all();

 private:
  std::mutex mutex_;
  std::vector<std::string> problems_;
  std::vector<std::string> all_;
};

/// Tests on the device that TESSERA_DEVICE names, or on the default one. The device is opened once per process, with
/// core and synchronization validation where the layer is installed. Any warning or error it reports fails the test,
/// and so does an access of a kernel outside declared memory, in builds that check accesses.
class DeviceFixture : public ::testing::Test {
 protected:
  void TearDown() override;

  /// The device that all tests of the process share.
  static Device& device();
  /// A device of the test's own, of the same kind and with the same validation; messages fail the test as well.
  static Device open_device(DeviceOptions options = {});
  static MessageLog& messages();
  /// What `open_device` turns on: everything where the layer is installed, nothing elsewhere.
  static Validation validation();

  template <typename Element>
  static Buffer upload(std::span<const Element> elements, MemoryKind memory = MemoryKind::device) {
    Buffer buffer = device().allocate(elements.size_bytes(), {.memory = memory, .name = "test data"});
    device().write(buffer, 0, std::as_bytes(elements));
    return buffer;
  }
  template <typename Element>
  static Buffer upload(const std::vector<Element>& elements, MemoryKind memory = MemoryKind::device) {
    return upload(std::span<const Element>(elements), memory);
  }
  template <typename Element>
  static std::vector<Element> download(const Buffer& buffer, std::uint64_t offset, std::size_t count) {
    std::vector<Element> elements(count);
    buffer.device().read(buffer, offset, std::as_writable_bytes(std::span<Element>(elements)));
    return elements;
  }
  template <typename Element>
  static std::vector<Element> download(const Buffer& buffer) {
    return download<Element>(buffer, 0, buffer.size() / sizeof(Element));
  }
};

/// Checks that `call` throws an `Error` with that code, whose detail names the operation. Returns the error's text.
template <typename Call>
std::string expect_error(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << "thrown: " << name_of(error.code()) << ": " << error.what();
    EXPECT_FALSE(error.detail().operation.empty());
    EXPECT_FALSE(error.detail().rule.empty());
    return error.what();
  }
  ADD_FAILURE() << "expected " << name_of(code) << ", nothing was thrown";
  return {};
}

}  // namespace tessera::test
