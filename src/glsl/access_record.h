// What builds with checked accesses (CMake: TESSERA_CHECKED_ACCESS) hand to kernels: the memory that a node may touch, and where faults are
// counted.
#ifndef TESSERA_GLSL_ACCESS_RECORD_H
#define TESSERA_GLSL_ACCESS_RECORD_H

#ifdef __cplusplus
#include <cstdint>
namespace tessera::detail {
using uint = std::uint32_t;
using std::uint64_t;
#define TESSERA_CONSTANT(type, name, value) inline constexpr type name = value
#else
#define TESSERA_CONSTANT(type, name, value) const type name = value
#endif

TESSERA_CONSTANT(uint, access_read, 1u);
TESSERA_CONSTANT(uint, access_write, 2u);

// Bytes that a node may touch.
struct AccessRange {
  uint64_t begin;
  uint64_t end;  // and from access_shift on the bits of the above
};
TESSERA_CONSTANT(uint, access_shift, 62u);

// A node's ranges follow it in memory: by `begin`, none overlapping another.
struct AccessTable {
  uint64_t report;  // AccessReport
  uint kernel;      // which module, for the report
  uint count;
};

// Faults of one device: how many, and one of the first invocation that had any.
struct AccessReport {
  uint faults;
  uint kernel;
  uint access;
  uint bytes;
  uint64_t address;
};

// Places behind the report that faulty accesses are led to: zeros for loads, spare bytes for stores.
TESSERA_CONSTANT(uint, access_zeros_offset, 256u);
TESSERA_CONSTANT(uint, access_spare_offset, 512u);
TESSERA_CONSTANT(uint, access_report_bytes, 768u);

#ifdef __cplusplus
static_assert(sizeof(AccessRange) == 16 && sizeof(AccessTable) == 16 && sizeof(AccessReport) == 24);
}  // namespace tessera::detail
#endif
#undef TESSERA_CONSTANT
#endif
