#ifndef TESSERA_SCAN_RECORD_H
#define TESSERA_SCAN_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::detail {
#endif

// Arguments of every scan kernel. Columns: input and its validity, segment flags, output.
struct ScanRecord {
  RowsRecord rows;
  ColumnRecord columns[4];
  uint64_t status;   // single pass: the next tile's number, then one status word per tile
  uint64_t sums[3];  // multi-pass: one word per tile, per block of tiles, per block of blocks
};

#ifdef __cplusplus
static_assert(sizeof(ScanRecord) == 288);
}  // namespace tessera::detail
#endif
#endif
