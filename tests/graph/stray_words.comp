// Copies one word of a chunk to another place of it, wherever the two lie: a kernel that may leave its operand.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"

struct StrayWordsRecord {
  uint64_t target;  // slot of a one-chunk table
  uint from;
  uint to;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { StrayWordsRecord at; };

void main() {
  if (gl_GlobalInvocationID.x != 0u) return;
  const StrayWordsRecord record = Record(push.arguments).at;
  const uint64_t address = slot_address(record.target);
  WRITE_AT(Words, address, record.to) = READ_AT(Words, address, record.from);
}
