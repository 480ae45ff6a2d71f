#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tessera/export.hpp>

namespace tessera {

/// What kind of rule was broken. Codes are the contract; message texts are for people and may change.
enum class ErrorCode : std::uint16_t {
  // arguments of operations and graphs
  invalid_argument,       ///< a value outside its documented range
  invalid_option,         ///< an option name or value that the operation does not have
  missing_operand,        ///< a required operand or resource was not given
  surplus_operand,        ///< an operand that this choice of options forbids
  format_mismatch,        ///< an operand's format is not one of those accepted
  length_mismatch,        ///< lengths that must agree do not
  partition_mismatch,     ///< chunk lengths that must agree do not
  layout_mismatch,        ///< packing, stride, width or alignment is not accepted
  extent_mismatch,        ///< extents of images that must agree do not
  usage_mismatch,         ///< a resource was not made for this use
  capacity_too_small,     ///< a destination or a replacement holds too little
  range_out_of_bounds,    ///< a byte or row range leaves its buffer or vector
  alias,                  ///< memory that must be separate overlaps
  foreign_graph,          ///< a view belongs to another graph
  foreign_device,         ///< an object belongs to another device
  duplicate_id,           ///< an identifier is already in use
  unknown_id,             ///< an identifier names nothing
  dependency_cycle,       ///< explicit dependencies form a cycle
  graph_frozen,           ///< a declaration after compilation
  unbound_import,         ///< a declared resource has no binding at encoding
  unsupported_operation,  ///< no implementation of that operation, or not in this place (for example inside a
                          ///< condition)
  execution_order,        ///< a step, fence or encoder used out of order
  // devices
  no_device,        ///< no Vulkan device matches the selection
  missing_feature,  ///< the device lacks a required feature
  limit_exceeded,   ///< beyond a device limit
  memory_limit,     ///< beyond the memory limit set by the application
  out_of_memory,    ///< the device or the host has no memory left
  device_lost,      ///< the device stopped working
  driver_failure,   ///< any other failure that the driver reported
  // files
  file_not_found,     ///< no such file
  file_unreadable,    ///< a file, or a block of it, can't be read
  file_unsupported,   ///< a file, format or sample type that is not supported
  file_exists,        ///< an output exists and may not be overwritten
  file_unwritable,    ///< an output can't be written
  band_out_of_range,  ///< a band that the raster does not have
  grid_mismatch,      ///< rasters that must share a grid do not
  cancelled,          ///< the application asked to stop
  internal,           ///< a fault of this library
};

/// The code's name as spelled above, for messages and JSON.
TESSERA_EXPORT std::string_view name_of(ErrorCode code) noexcept;

/// Where and why something was rejected.
struct ErrorDetail {
  std::string operation;  ///< operation, class or command, for example `reduction`
  std::string operand;    ///< port, option, resource or file; empty where none applies
  std::string rule;       ///< the rule, as a short sentence without values
  std::string values;     ///< the values in conflict; empty where none applies
};

/// Every failure that the library reports. Thread-safe to copy and read.
/// The message reads `operation: operand: rule (values)`.
class TESSERA_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, ErrorDetail detail);
  ErrorCode code() const noexcept { return code_; }
  const ErrorDetail& detail() const noexcept { return detail_; }

 private:
  ErrorCode code_;
  ErrorDetail detail_;
};

}  // namespace tessera
