#include <tessera/error.hpp>

#include <utility>

namespace tessera {
namespace {

std::string message_of(const ErrorDetail& detail) {
  std::string message = detail.operation;
  const auto append = [&message](const std::string& part) {
    if (part.empty()) return;
    if (!message.empty()) message += ": ";
    message += part;
  };
  append(detail.operand);
  append(detail.rule);
  if (!detail.values.empty()) message += " (" + detail.values + ")";
  return message;
}

}  // namespace

std::string_view name_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::invalid_option:
      return "invalid_option";
    case ErrorCode::missing_operand:
      return "missing_operand";
    case ErrorCode::surplus_operand:
      return "surplus_operand";
    case ErrorCode::format_mismatch:
      return "format_mismatch";
    case ErrorCode::length_mismatch:
      return "length_mismatch";
    case ErrorCode::partition_mismatch:
      return "partition_mismatch";
    case ErrorCode::layout_mismatch:
      return "layout_mismatch";
    case ErrorCode::extent_mismatch:
      return "extent_mismatch";
    case ErrorCode::usage_mismatch:
      return "usage_mismatch";
    case ErrorCode::capacity_too_small:
      return "capacity_too_small";
    case ErrorCode::range_out_of_bounds:
      return "range_out_of_bounds";
    case ErrorCode::alias:
      return "alias";
    case ErrorCode::foreign_graph:
      return "foreign_graph";
    case ErrorCode::foreign_device:
      return "foreign_device";
    case ErrorCode::duplicate_id:
      return "duplicate_id";
    case ErrorCode::unknown_id:
      return "unknown_id";
    case ErrorCode::dependency_cycle:
      return "dependency_cycle";
    case ErrorCode::graph_frozen:
      return "graph_frozen";
    case ErrorCode::unbound_import:
      return "unbound_import";
    case ErrorCode::unsupported_operation:
      return "unsupported_operation";
    case ErrorCode::execution_order:
      return "execution_order";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::missing_feature:
      return "missing_feature";
    case ErrorCode::limit_exceeded:
      return "limit_exceeded";
    case ErrorCode::memory_limit:
      return "memory_limit";
    case ErrorCode::out_of_memory:
      return "out_of_memory";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::driver_failure:
      return "driver_failure";
    case ErrorCode::file_not_found:
      return "file_not_found";
    case ErrorCode::file_unreadable:
      return "file_unreadable";
    case ErrorCode::file_unsupported:
      return "file_unsupported";
    case ErrorCode::file_exists:
      return "file_exists";
    case ErrorCode::file_unwritable:
      return "file_unwritable";
    case ErrorCode::band_out_of_range:
      return "band_out_of_range";
    case ErrorCode::grid_mismatch:
      return "grid_mismatch";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::internal:
      return "internal";
  }
  return "unknown";
}

Error::Error(ErrorCode code, ErrorDetail detail)
    : std::runtime_error(message_of(detail)), code_(code), detail_(std::move(detail)) {}

}  // namespace tessera
