#pragma once

#include "operand/context.hpp"

namespace tessera::raster::detail {

const tessera::detail::OperationImplementation& ndvi_operation();
const tessera::detail::OperationImplementation& statistics_operation();

}  // namespace tessera::raster::detail
