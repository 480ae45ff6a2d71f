#ifndef TESSERA_MISSING_COUNTS_RECORD_H
#define TESSERA_MISSING_COUNTS_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::raster::detail {
using namespace tessera::detail;
#endif

// Columns: the band and its validity; the quality.
struct MissingCountsRecord {
  RowsRecord rows;
  ColumnRecord columns[3];
  uint64_t counts;  // slot of a one-chunk table
  uint64_t counts_offset;
};

#ifdef __cplusplus
}  // namespace tessera::raster::detail
#endif
#endif
