#pragma once

#include <cstdint>

#include "operand/rows.hpp"

namespace tessera::detail {

/// Shared memory that the row accessors take, and that a kernel uses at most.
inline constexpr std::uint32_t histogram_reserved_bytes = 4096;
inline constexpr std::uint32_t histogram_shared_bytes = 48 << 10;
/// Rows of a large input, and of a long and a short chunk on average.
inline constexpr std::uint64_t histogram_large_input = std::uint64_t{1} << 25;
inline constexpr std::uint64_t histogram_long_chunk = std::uint64_t{1} << 20;
inline constexpr std::uint64_t histogram_short_chunk = std::uint64_t{1} << 15;

/// Numbers per kind of device.
struct HistogramTuning {
  RowTuning rows;                       ///< of inputs in between
  std::uint32_t rows_per_long_thread;   ///< of large inputs in few chunks
  std::uint32_t rows_per_short_thread;  ///< of inputs in short chunks
  std::uint32_t largest_copies;         ///< of each counter in shared memory
  std::uint32_t fewest_words;           ///< shared words for counters, which copies fill
  std::uint32_t persistent_groups;      ///< workgroups of a large input
  std::uint32_t few_shared_keys;        ///< edges below this many are copied to so many shared words
  std::uint32_t largest_shared_keys;    ///< and edges below this many to so many; more are read where they are
};

/// GPUs. Shared memory decides how many workgroups run beside each other, and that counts for more than lanes that meet
/// in a bank: 256 bins of 268,435,456 rows took 0.68 ms with 32 KiB of counters on an H200, and 0.40 ms with 8 KiB.
inline constexpr HistogramTuning histogram_gpu_tuning{
    .rows = {.tile = {.workgroup_size = 512, .rows_per_thread = 16}, .wide_access = WideAccess::vectors},
    .rows_per_long_thread = 32,
    .rows_per_short_thread = 8,
    .largest_copies = 32,
    .fewest_words = 2048,
    .persistent_groups = 1056,
    .few_shared_keys = 512,
    .largest_shared_keys = 4096};
/// CPU-type devices have no banks, and one thread runs a workgroup.
inline constexpr HistogramTuning histogram_cpu_tuning{
    .rows = {.tile = {.workgroup_size = 64, .rows_per_thread = 64}, .wide_access = WideAccess::none},
    .rows_per_long_thread = 64,
    .rows_per_short_thread = 64,
    .largest_copies = 1,
    .fewest_words = histogram_shared_bytes / 4,
    .persistent_groups = 64,
    .few_shared_keys = 0,
    .largest_shared_keys = 0};

/// No invocation takes more turns of loops.
inline constexpr std::uint64_t histogram_loop_limit = 32768;

}  // namespace tessera::detail
