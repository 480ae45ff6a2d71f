// Adds to one word, wrapping.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"

struct AddWordRecord {
  uint64_t target;  // slot of a one-chunk table
  uint summand;
  uint reserved;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { AddWordRecord at; };

void main() {
  if (gl_GlobalInvocationID.x != 0u) return;
  const AddWordRecord record = Record(push.arguments).at;
  const uint64_t address = slot_address(record.target);
  WRITE_AT(Words, address, 0) = READ_AT(Words, address, 0) + record.summand;
}
