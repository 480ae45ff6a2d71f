// Fills a range with one word.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"
#include "graph/node_records.h"

layout(constant_id = 2) const uint words_per_workgroup = 4096u;
layout(constant_id = 1) const uint quads = 1u;  // 16-byte accesses where addresses allow
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { FillWordsRecord at; };

void main() {
  const FillWordsRecord record = Record(push.arguments).at;
  const uint64_t begin = uint64_t(workgroup_index()) * uint64_t(words_per_workgroup);
  if (begin >= record.count) return;
  const uint64_t target = slot_address(record.target) + begin * uint64_t(4);
  const uint words = uint(min(record.count - begin, uint64_t(words_per_workgroup)));
  const uint step = gl_WorkGroupSize.x;

  uint done = 0u;
  if (quads != 0u && (target & uint64_t(15)) == uint64_t(0)) {
    const uint whole = words / 4u;
    for (uint i = gl_LocalInvocationID.x; i < whole; i += step) WRITE_AT(WordQuads, target, i) = uvec4(record.word);
    done = whole * 4u;
  }
  for (uint i = done + gl_LocalInvocationID.x; i < words; i += step) WRITE_AT(Words, target, i) = record.word;
}
