#pragma once

#include <span>

#include "operand/context.hpp"

namespace tessera::detail {

/// Every operation of the core, in the order of the documentation.
std::span<const OperationImplementation* const> core_operations();

const OperationImplementation& elementwise_operation();
const OperationImplementation& reduction_operation();
const OperationImplementation& histogram_operation();
const OperationImplementation& scan_operation();
const OperationImplementation& mask_operation();

}  // namespace tessera::detail
