#pragma once

#include <cstdint>

#include "operand/rows.hpp"

namespace tessera::detail {

/// Numbers per kind of device.
struct HistogramTuning {
  RowTuning rows;
  std::uint32_t largest_copies;       ///< of each counter in shared memory
  std::uint32_t copied_words;         ///< shared words that copies may take
  std::uint32_t persistent_groups;    ///< workgroups of a large input
  std::uint32_t few_shared_keys;      ///< edges below this many are copied to so many shared words
  std::uint32_t largest_shared_keys;  ///< and edges below this many to so many; more are read where they are
};

/// GPUs: a copy per lane keeps lanes in banks of their own; four workgroups fit beside each other on current devices.
inline constexpr HistogramTuning histogram_gpu_tuning{
    .rows = {.workgroup_size = 512, .rows_per_thread = 16, .wide_access = true},
    .largest_copies = 32,
    .copied_words = 8192,
    .persistent_groups = 1056,
    .few_shared_keys = 512,
    .largest_shared_keys = 4096};
/// CPU-type devices have no banks, and one thread runs a workgroup.
inline constexpr HistogramTuning histogram_cpu_tuning{
    .rows = {.workgroup_size = 64, .rows_per_thread = 64, .wide_access = false},
    .largest_copies = 1,
    .copied_words = 8192,
    .persistent_groups = 64,
    .few_shared_keys = 0,
    .largest_shared_keys = 0};

/// Shared memory that the row accessors take, and that a kernel uses at most.
inline constexpr std::uint32_t histogram_reserved_bytes = 4096;
inline constexpr std::uint32_t histogram_shared_bytes = 48 << 10;
/// No invocation takes more turns of loops.
inline constexpr std::uint64_t histogram_loop_limit = 32768;

}  // namespace tessera::detail
