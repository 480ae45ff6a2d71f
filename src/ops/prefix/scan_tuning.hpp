#pragma once

#include <tessera/device/device.hpp>

#include "operand/rows.hpp"

namespace tessera::detail {

/// How a device scans best. Rows that stay in registers are at most 32 a thread (their bits share a word), and a
/// multiple of 4.
struct ScanTuning {
  RowTuning rows;
  bool lane_runs = false;         ///< multi-pass: lanes take runs of neighbouring rows, not turns
  std::uint32_t poll_limit = 64;  ///< looks at a missing tile before it is reduced by the tile that waits
};

inline ScanTuning single_pass_tuning(const Device& device) noexcept {
  if (device.info().type == DeviceType::cpu)
    return {.rows = {.tile = {.workgroup_size = 64, .rows_per_thread = 32}, .wide_access = WideAccess::none}};
  return {.rows = {.tile = {.workgroup_size = 256, .rows_per_thread = 24}}};
}

inline ScanTuning multi_pass_tuning(const Device& device) noexcept {
  if (device.info().type == DeviceType::cpu)
    return {.rows = {.tile = {.workgroup_size = 64, .rows_per_thread = 64}, .wide_access = WideAccess::none},
            .lane_runs = true};
  return {.rows = {.tile = {.workgroup_size = 256, .rows_per_thread = 24}}};
}

/// Geometry of the passes over totals. A block is the same on every device, so that the number of passes is too.
inline constexpr std::uint32_t totals_per_block = 4096;
inline TileShape totals_tuning(const Device& device) noexcept {
  if (device.info().type == DeviceType::cpu) return {.workgroup_size = 64, .rows_per_thread = totals_per_block / 64};
  return {.workgroup_size = 256, .rows_per_thread = totals_per_block / 256};
}

}  // namespace tessera::detail
