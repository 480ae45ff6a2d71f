#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <tessera/export.hpp>

namespace tessera {

namespace detail {
struct DeviceState;
}

/// A point on a device's submission timeline: done when the submission that returned it, and all before it, are done.
/// It protects nothing submitted later. Thread-safe.
class TESSERA_EXPORT Fence {
 public:
  Fence() = default;  ///< already done

  /// Blocks until done. Throws `device_lost` when the device stopped working.
  void wait() const;
  /// Blocks until done or until the time is over; says whether it is done.
  bool wait_for(std::chrono::nanoseconds timeout) const;
  bool done() const;
  /// The timeline's value that this fence waits for.
  std::uint64_t value() const noexcept { return value_; }

  Fence(std::shared_ptr<detail::DeviceState> device, std::uint64_t value) noexcept
      : device_(std::move(device)), value_(value) {}

 private:
  std::shared_ptr<detail::DeviceState> device_;
  std::uint64_t value_ = 0;
};

/// A timeline semaphore shared between submissions, devices or, through `tessera::interop`, other libraries.
/// Thread-safe.
class TESSERA_EXPORT Semaphore {
 public:
  Semaphore() = default;
  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::uint64_t value() const;
  void signal_from_host(std::uint64_t value) const;
  bool wait_from_host(std::uint64_t value, std::chrono::nanoseconds timeout) const;

  struct State;
  explicit Semaphore(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<State> state_;
};

struct SemaphoreValue {
  Semaphore semaphore{};
  std::uint64_t value = 0;
};

}  // namespace tessera
