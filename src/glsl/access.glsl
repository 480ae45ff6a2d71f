// How kernels touch addressed memory: through these macros, so that one build can compare every access with what its node declared.
//
//   uint word = READ_AT(Words, address, index);
//   WRITE_AT(Words, address, index) = word;          // also as the target of an atomic
//   Binning(...).at of a single record: READ_OF(Binning, address), WRITE_OF(Binning, address)
//
// `type` is a buffer reference whose member is `at`; `<type>_bytes` is the size of an element. Plain builds expand them to the bare access. With
// TESSERA_CHECKED_ACCESS an access outside the node's ranges (AccessTable) is counted; a load gives 0 then, and a store goes nowhere. A node's own
// argument record is not checked: its address and layout are the host's.
#ifndef TESSERA_ACCESS_GLSL
#define TESSERA_ACCESS_GLSL

#define Words_bytes 4u
#define WordPairs_bytes 8u
#define WordQuads_bytes 16u
#define Longs_bytes 8u

#ifndef TESSERA_CHECKED_ACCESS

#define UNROLL [[unroll]]
#define READ_AT(type, address, index) type(address).at[index]
#define WRITE_AT(type, address, index) type(address).at[index]
#define READ_IN(type, reference, index) reference.at[index]
#define WRITE_IN(type, reference, index) reference.at[index]
#define READ_OF(type, address) type(address).at
#define WRITE_OF(type, address) type(address).at

#else

#include "glsl/access_record.h"

// Copies of checks cost drivers for CPUs seconds to compile.
#define UNROLL [[dont_unroll]]

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AccessTables { AccessTable at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer AccessRanges { AccessRange at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer AccessReports { AccessReport at; };

// Every access is a copy of `permitted` once a driver has put it in place, and drivers for CPUs take long over such copies. So they are short:
// faults are only noted, and reported when the kernel ends.
AccessTable access_table;
uint noted_faults = 0u, noted_bytes, noted_access;
uint64_t noted_address;

// A range found before; neighbouring accesses mostly share one.
struct KnownRange {
  uint64_t begin;
  uint64_t end;
  uint access;
};

bool allows(KnownRange range, uint64_t address, uint bytes, uint access) {
  return address >= range.begin && address + uint64_t(bytes) <= range.end && (range.access & access) != 0u;
}

// The last range that begins at or below the address, or the first.
KnownRange range_below(uint64_t address) {
  AccessRanges ranges = AccessRanges(push.ranges + uint64_t(16));
  uint low = 0u;
  for (uint count = access_table.count; count > 1u;) {
    uint half_count = count >> 1;
    low += ranges.at[low + half_count].begin <= address ? half_count : 0u;
    count -= half_count;
  }
  uint64_t end = access_table.count != 0u ? ranges.at[low].end : uint64_t(0);
  return KnownRange(ranges.at[low].begin, end & ((uint64_t(1) << access_shift) - uint64_t(1)), uint(end >> access_shift));
}

uint64_t permitted_in(inout KnownRange known, uint64_t address, uint bytes, uint access) {
  if (allows(known, address, bytes, access)) return address;
  known = range_below(address);
  if (allows(known, address, bytes, access)) return address;
  ++noted_faults;
  noted_address = address;
  noted_bytes = bytes;
  noted_access = access;
  return access_table.report + uint64_t(access == access_read ? access_zeros_offset : access_spare_offset);
}

KnownRange last_range = KnownRange(uint64_t(0), uint64_t(0), 0u);
uint64_t permitted(uint64_t address, uint bytes, uint access) { return permitted_in(last_range, address, bytes, access); }

void kernel_main();
void main() {
  access_table = AccessTables(push.ranges).at;
  kernel_main();
  if (noted_faults == 0u) return;
  AccessReports report = AccessReports(access_table.report);
  if (atomicAdd(report.at.faults, noted_faults) != 0u) return;
  report.at.kernel = access_table.kernel;
  report.at.access = noted_access;
  report.at.bytes = noted_bytes;
  report.at.address = noted_address;
}
#define main kernel_main

#define ACCESS_AT(type, address, index, access) \
  type(permitted(uint64_t(address) + uint64_t(index) * uint64_t(type##_bytes), type##_bytes, access)).at[0]
#define READ_AT(type, address, index) ACCESS_AT(type, address, index, access_read)
#define WRITE_AT(type, address, index) ACCESS_AT(type, address, index, access_write)
#define READ_IN(type, reference, index) ACCESS_AT(type, reference, index, access_read)
#define WRITE_IN(type, reference, index) ACCESS_AT(type, reference, index, access_write)
#define READ_OF(type, address) type(permitted(address, type##_bytes, access_read)).at
#define WRITE_OF(type, address) type(permitted(address, type##_bytes, access_write)).at

#endif
#endif
