#pragma once

#include "operand/context.hpp"

namespace tessera::detail {

/// Every rule that the description states, before anything is recorded.
void validate_request(const OperationContext& context, const Request& request);

}  // namespace tessera::detail
