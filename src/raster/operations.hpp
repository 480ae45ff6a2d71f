#pragma once

#include "operand/context.hpp"

namespace tessera::raster::detail {

const tessera::detail::OperationImplementation& missing_counts_operation();
const tessera::detail::OperationImplementation& ndvi_operation();
const tessera::detail::OperationImplementation& otsu_threshold_operation();
const tessera::detail::OperationImplementation& statistics_operation();
const tessera::detail::OperationImplementation& threshold_operation();

}  // namespace tessera::raster::detail
