#ifndef TESSERA_THRESHOLD_RECORD_H
#define TESSERA_THRESHOLD_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::raster::detail {
using namespace tessera::detail;
#endif

// Columns: the band and its validity; the output.
struct ThresholdRecord {
  RowsRecord rows;
  ColumnRecord columns[3];
  uint64_t thresholds;         // slot of a one-chunk table, or 0: the bounds below hold
  uint64_t thresholds_offset;
  float lower;  // the only one of `above` and `below`
  float upper;
};

#ifdef __cplusplus
}  // namespace tessera::raster::detail
#endif
#endif
