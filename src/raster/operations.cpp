#include "raster/operations.hpp"

#include <array>
#include <mutex>

#include <tessera/raster/pixel.hpp>

#include "device/embedded_kernels.hpp"

namespace tessera::detail {
/// In the source that the build generates: makes this library's kernels known.
void register_raster_modules();
}  // namespace tessera::detail

namespace tessera::raster {

void register_operations() {
  static std::once_flag once;
  std::call_once(once, [] {
    tessera::detail::register_raster_modules();
    static const std::array operations{
        &detail::missing_counts_operation(), &detail::ndvi_operation(),      &detail::otsu_threshold_operation(),
        &detail::statistics_operation(),     &detail::threshold_operation(),
    };
    tessera::detail::register_operations(operations);
  });
}

}  // namespace tessera::raster
