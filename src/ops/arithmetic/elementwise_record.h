#ifndef TESSERA_ELEMENTWISE_RECORD_H
#define TESSERA_ELEMENTWISE_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::detail {
#endif

// Columns: a, b, c, output.
struct ElementwiseRecord {
  RowsRecord rows;
  ColumnRecord columns[4];
};

// Columns: a, b, c, each with its validity; output; output validity.
struct ElementwiseObservedRecord {
  RowsRecord rows;
  ColumnRecord columns[8];
};

#ifdef __cplusplus
}  // namespace tessera::detail
#endif
#endif
