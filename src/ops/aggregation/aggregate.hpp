#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "operand/rows.hpp"
#include "ops/aggregation/aggregate_record.h"

// The two kernels behind every global aggregate, for Reduction and the raster statistics.
namespace tessera::detail {

struct AggregateOutput {
  VectorView view;
  std::uint32_t kind = result_none;
};

struct AggregatePlan {
  std::uint32_t quantities = 0;
  ValueDomain domain = ValueDomain::raw;
  std::vector<AggregateOutput> outputs;  ///< at most 6
};

/// Puts the aggregate's dispatches into the sink. Without rows only the results of nothing are written.
TESSERA_EXPORT void record_aggregate(const OperationContext& context, const Input& input, const Input* mask,
                                     const AggregatePlan& plan);

}  // namespace tessera::detail
