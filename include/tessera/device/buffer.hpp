#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <tessera/export.hpp>

namespace tessera {

class Device;
namespace detail {
struct BufferState;
}

/// Where a buffer's memory lies.
enum class MemoryKind : std::uint8_t {
  device,    ///< fastest for kernels; mapped as well where the device allows it
  upload,    ///< host-visible, written by the host in order
  download,  ///< host-visible and cached, read by the host
};

struct BufferOptions {
  MemoryKind memory = MemoryKind::device;
  std::string name{};  ///< shown by debuggers and in error messages
};

/// Device memory: a shared handle; the memory goes when the last handle goes and no submitted work uses it any more.
/// Small buffers share one allocation but never a byte. Contents start undefined.
/// Thread-safe: handles may be copied and destroyed from any thread; contents are the caller's to order.
class TESSERA_EXPORT Buffer {
 public:
  Buffer() = default;  ///< no memory; every query but `operator bool` and `size` is invalid

  explicit operator bool() const noexcept { return state_ != nullptr; }
  std::uint64_t size() const noexcept;
  /// The address that kernels use.
  std::uint64_t address() const noexcept;
  /// Host view of the memory, or empty where it is not host-visible. Coherent: no flush is needed.
  std::span<std::byte> mapped() const noexcept;
  MemoryKind memory() const noexcept;
  const std::string& name() const noexcept;
  Device device() const;

  friend bool operator==(const Buffer& left, const Buffer& right) noexcept = default;

  /// For the library's own layers.
  const std::shared_ptr<detail::BufferState>& state() const noexcept { return state_; }
  explicit Buffer(std::shared_ptr<detail::BufferState> state) noexcept : state_(std::move(state)) {}

 private:
  std::shared_ptr<detail::BufferState> state_;
};

}  // namespace tessera
