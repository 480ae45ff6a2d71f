#pragma once

#include <optional>
#include <string>

#include <tessera/ops/histogram.hpp>
#include <tessera/raster/band.hpp>

namespace tessera::raster {

/// Counts of a band's valid samples in bins: `tessera::Histogram` with a band's defaults. Missing pixels neither count
/// nor widen the automatic domain. Samples are binned as stored unless `values` says calibrated; shapes, formats,
/// rules, cost and errors are those of `tessera::Histogram`. Plain data: not thread-safe to change.
struct Histogram {
  std::string id = {};
  Band band;
  Target output;
  tessera::Histogram::Binning binning = tessera::Histogram::AutomaticDomain{};
  std::optional<Target> domain_output = {};
  std::optional<Target> overflow = {};
  tessera::Histogram::Values values = tessera::Histogram::Values::raw;
};

inline Request to_request(const Histogram& operation) {
  return tessera::to_request(tessera::Histogram{.id = operation.id,
                                                .input = operation.band.source(),
                                                .output = operation.output,
                                                .binning = operation.binning,
                                                .domain_output = operation.domain_output,
                                                .overflow = operation.overflow,
                                                .values = operation.values});
}

}  // namespace tessera::raster
