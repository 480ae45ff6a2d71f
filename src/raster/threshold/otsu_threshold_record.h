#ifndef TESSERA_OTSU_THRESHOLD_RECORD_H
#define TESSERA_OTSU_THRESHOLD_RECORD_H
#include "glsl/rows_record.h"
#ifdef __cplusplus
namespace tessera::raster::detail {
using namespace tessera::detail;
#endif

// Slots are those of one-chunk tables; offsets are bytes.
struct OtsuThresholdRecord {
  uint64_t histogram;
  uint64_t histogram_offset;
  uint64_t threshold;
  uint64_t threshold_offset;
  uint64_t domain;  // or 0: the bounds below hold
  uint64_t domain_offset;
  float low;
  float high;
  uint bins;
  uint reserved;
};

#ifdef __cplusplus
static_assert(sizeof(OtsuThresholdRecord) == 64);
}  // namespace tessera::raster::detail
#endif
#endif
