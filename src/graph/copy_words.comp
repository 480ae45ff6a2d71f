// Copies words from one range to another that does not overlap it.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"
#include "graph/node_records.h"

layout(constant_id = 2) const uint words_per_workgroup = 4096u;
layout(constant_id = 1) const uint quads = 1u;  // 16-byte accesses where addresses allow
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { CopyWordsRecord at; };

void main() {
  const CopyWordsRecord record = Record(push.arguments).at;
  const uint64_t begin = uint64_t(workgroup_index()) * uint64_t(words_per_workgroup);
  if (begin >= record.count) return;
  const uint64_t source = slot_address(record.source) + begin * uint64_t(4);
  const uint64_t target = slot_address(record.target) + begin * uint64_t(4);
  const uint words = uint(min(record.count - begin, uint64_t(words_per_workgroup)));
  const uint step = gl_WorkGroupSize.x;

  uint done = 0u;
  if (quads != 0u && ((source | target) & uint64_t(15)) == uint64_t(0)) {
    const uint whole = words / 4u;
    if (whole == step) {
      WRITE_AT(WordQuads, target, gl_LocalInvocationID.x) = READ_AT(WordQuads, source, gl_LocalInvocationID.x);
    } else {
      for (uint i = gl_LocalInvocationID.x; i < whole; i += step) WRITE_AT(WordQuads, target, i) = READ_AT(WordQuads, source, i);
    }
    done = whole * 4u;
  }
  for (uint i = done + gl_LocalInvocationID.x; i < words; i += step) WRITE_AT(Words, target, i) = READ_AT(Words, source, i);
}
