#include "ops/operations.hpp"

#include <array>

namespace tessera::detail {

std::span<const OperationImplementation* const> core_operations() {
  static const std::array operations{
      &elementwise_operation(), &reduction_operation(), &histogram_operation(), &scan_operation(), &mask_operation(),
  };
  return operations;
}

}  // namespace tessera::detail
