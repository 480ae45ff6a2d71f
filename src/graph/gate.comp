// Decides whether a body runs and writes the group counts of its dispatches.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"
#include "graph/node_records.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { GateRecord at; };

void main() {
  const GateRecord record = Record(push.record).at;
  const uint index = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  const bool enclosed = record.parent == uint64_t(0) || Words(record.parent).at[0] != 0u;
  bool running = enclosed && (record.former == uint64_t(0) || Words(record.former).at[0] != 0u);
  if (running && record.predicate != uint64_t(0)) running = Words(slot_address(record.predicate)).at[0] != 0u;

  if (index < record.count) {
    const uint64_t offset = uint64_t(index) * uint64_t(12);
    for (uint axis = 0u; axis < 3u; ++axis) {
      Words(record.groups + offset).at[axis] = running ? Words(record.geometry + offset).at[axis] : 0u;
    }
  }
  // The words that invocations read above are none of those written here.
  if (index == 0u) {
    Words(record.word).at[0] = running ? 1u : 0u;
    if (record.current != uint64_t(0)) Words(record.current).at[0] = running ? 1u : 0u;
    if (record.iterations != uint64_t(0) && enclosed && (running || record.round == 0u)) {
      Words(slot_address(record.iterations)).at[0] = running ? record.round + 1u : 0u;
    }
  }
}
