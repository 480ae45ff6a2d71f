#pragma once

#include "statistics/band_statistics.hpp"

// Counting missing pixels by reason on the device, where the figures at hand don't tell.
namespace tessera::cli {

/// Bytes of one window's counts.
inline constexpr std::uint64_t missing_counts_bytes = 5 * 4;

/// Adds the operation that counts the pixels of a band by their first reason.
void add_missing_counts(Graph& graph, const BandOperands& operands, std::uint64_t offset, bool has_quality_mask);
/// Merges one window's counts; mask and alpha come from the file.
void merge_missing_counts(const BandWindow& window, std::uint64_t offset, MissingPixels& missing);

}  // namespace tessera::cli
