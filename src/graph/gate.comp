// Decides whether a body runs and writes the group counts of its dispatches.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"
#include "graph/node_records.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { GateRecord at; };

void main() {
  const GateRecord record = Record(push.arguments).at;
  const uint index = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  const bool enclosed = record.parent == uint64_t(0) || READ_AT(Words, record.parent, 0) != 0u;
  bool running = enclosed && (record.former == uint64_t(0) || READ_AT(Words, record.former, 0) != 0u);
  if (running && record.predicate != uint64_t(0)) running = READ_AT(Words, slot_address(record.predicate), 0) != 0u;

  if (index < record.count) {
    const uint64_t offset = uint64_t(index) * uint64_t(12);
    for (uint axis = 0u; axis < 3u; ++axis) {
      WRITE_AT(Words, record.groups + offset, axis) = running ? READ_AT(Words, record.geometry + offset, axis) : 0u;
    }
  }
  // The words that invocations read above are none of those written here.
  if (index == 0u) {
    WRITE_AT(Words, record.word, 0) = running ? 1u : 0u;
    if (record.current != uint64_t(0)) WRITE_AT(Words, record.current, 0) = running ? 1u : 0u;
    if (record.iterations != uint64_t(0) && enclosed && (running || record.round == 0u)) {
      WRITE_AT(Words, slot_address(record.iterations), 0) = running ? record.round + 1u : 0u;
    }
  }
}
