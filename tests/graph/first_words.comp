// Collects the first word of every chunk of a table.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"

struct FirstWordsRecord {
  uint64_t source;  // slot of a table of `count` chunks
  uint64_t target;  // slot of a one-chunk table
  uint count;
  uint reserved;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { FirstWordsRecord at; };

void main() {
  const FirstWordsRecord record = Record(push.arguments).at;
  const uint index = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (index >= record.count) return;
  const uint64_t chunk = READ_AT(Longs, READ_AT(Longs, record.source, 0), index);
  WRITE_AT(Words, slot_address(record.target), index) = chunk == uint64_t(0) ? 0u : READ_AT(Words, chunk, 0);
}
