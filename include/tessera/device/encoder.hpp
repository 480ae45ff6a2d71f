#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <tessera/device/buffer.hpp>
#include <tessera/export.hpp>

namespace tessera {

namespace detail {
struct EncoderState;
}

/// Records commands for one submission, and owns a share of everything they use until they are done.
/// Commands run in the order recorded: each sees what earlier ones wrote (a barrier stands where ranges conflict).
/// Not thread-safe: one thread at a time. Move-only; destroying an unsubmitted encoder drops its commands.
class TESSERA_EXPORT Encoder {
 public:
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;
  ~Encoder();

  /// Copies a byte range. Offsets and sizes are multiples of 4. Uses the copy engine or a kernel, whichever the device
  /// does faster. Throws `range_out_of_bounds`, `layout_mismatch` (not a multiple of 4), `alias` (ranges overlap),
  /// `foreign_device`.
  void copy(const Buffer& source, std::uint64_t source_offset, const Buffer& target, std::uint64_t target_offset,
            std::uint64_t bytes);
  /// Fills a byte range (multiples of 4) with a word. Throws as `copy`.
  void fill(const Buffer& target, std::uint64_t offset, std::uint64_t bytes, std::uint32_t word);
  /// Opens and closes a group that debuggers and profilers show.
  void begin_label(std::string_view label);
  void end_label();
  /// Keeps an object alive until the submission is done.
  void retain(std::shared_ptr<const void> object);

  /// For the library's own layers.
  /// Throws `execution_order` when moved from.
  detail::EncoderState& state();
  explicit Encoder(std::unique_ptr<detail::EncoderState> state) noexcept;

 private:
  std::unique_ptr<detail::EncoderState> state_;
};

}  // namespace tessera
