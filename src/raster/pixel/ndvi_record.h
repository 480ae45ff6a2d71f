#ifndef TESSERA_NDVI_RECORD_H
#define TESSERA_NDVI_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::raster::detail {
using namespace tessera::detail;
#endif

// Columns: near infrared and red, each with its validity; output; output validity.
struct NdviRecord {
  RowsRecord rows;
  ColumnRecord columns[6];
  float epsilon;
  float lowest;
  float highest;
  uint clamps;
};

#ifdef __cplusplus
}  // namespace tessera::raster::detail
#endif
#endif
