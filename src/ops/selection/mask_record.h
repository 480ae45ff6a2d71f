#ifndef TESSERA_MASK_RECORD_H
#define TESSERA_MASK_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::detail {
#endif

// Columns: up to seven inputs, output.
struct MaskRecord {
  RowsRecord rows;
  ColumnRecord columns[8];
};

#ifdef __cplusplus
static_assert(sizeof(MaskRecord) == 448);
}  // namespace tessera::detail
#endif
#endif
