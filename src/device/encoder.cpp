#include <tessera/device/encoder.hpp>

#include <string>
#include <utility>

#include <tessera/error.hpp>

#include "device/encoder_state.hpp"
#include "device/result.hpp"

namespace tessera {
namespace {

[[noreturn]] void reject(ErrorCode code, std::string_view operation, std::string_view operand, std::string_view rule,
                         std::string values = {}) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = std::string(operand),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

void check_range(const detail::EncoderState& encoder, std::string_view operation, std::string_view operand,
                 const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes) {
  if (!buffer) reject(ErrorCode::missing_operand, operation, operand, "the buffer is empty");
  if (buffer.state()->device != encoder.device()) {
    reject(ErrorCode::foreign_device, operation, operand, "the buffer belongs to another device");
  }
  if (offset > buffer.size() || bytes > buffer.size() - offset) {
    reject(ErrorCode::range_out_of_bounds, operation, operand, "the range leaves the buffer",
           detail::quantity("offset", offset) + ", " + detail::quantity("bytes", bytes) + ", " +
               detail::quantity("buffer size", buffer.size()));
  }
  if ((offset | bytes) % 4 != 0) {
    reject(ErrorCode::layout_mismatch, operation, operand, "offset and size must be multiples of 4",
           detail::quantity("offset", offset) + ", " + detail::quantity("bytes", bytes));
  }
}

}  // namespace

Encoder::Encoder(std::unique_ptr<detail::EncoderState> state) noexcept : state_(std::move(state)) {}
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;
Encoder::~Encoder() = default;

detail::EncoderState& Encoder::state() {
  if (!state_) reject(ErrorCode::execution_order, "encoder", {}, "the encoder was moved from");
  return *state_;
}

void Encoder::copy(const Buffer& source, std::uint64_t source_offset, const Buffer& target, std::uint64_t target_offset,
                   std::uint64_t bytes) {
  detail::EncoderState& encoder = state();
  encoder.require_open("copy");
  check_range(encoder, "copy", "source", source, source_offset, bytes);
  check_range(encoder, "copy", "target", target, target_offset, bytes);
  const std::uint64_t from = source.address() + source_offset;
  const std::uint64_t to = target.address() + target_offset;
  if (bytes != 0 && from < to + bytes && to < from + bytes) {
    reject(ErrorCode::alias, "copy", "target", "source and target overlap",
           detail::quantity("source offset", source_offset) + ", " + detail::quantity("target offset", target_offset) +
               ", " + detail::quantity("bytes", bytes));
  }
  encoder.copy(source.state(), source_offset, target.state(), target_offset, bytes);
}

void Encoder::fill(const Buffer& target, std::uint64_t offset, std::uint64_t bytes, std::uint32_t word) {
  detail::EncoderState& encoder = state();
  encoder.require_open("fill");
  check_range(encoder, "fill", "target", target, offset, bytes);
  encoder.fill(target.state(), offset, bytes, word);
}

void Encoder::begin_label(std::string_view label) {
  state().require_open("begin_label");
  state().begin_label(label);
}

void Encoder::end_label() {
  state().require_open("end_label");
  state().end_label();
}

void Encoder::retain(std::shared_ptr<const void> object) {
  state().require_open("retain");
  state().retain(std::move(object));
}

}  // namespace tessera
