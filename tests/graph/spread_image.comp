// Adds a summand to each texel of a sampled image and stores it beside its place.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"

struct SpreadImageRecord {
  uint width;
  uint height;
  float summand;
  uint reserved;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { SpreadImageRecord at; };
layout(set = 0, binding = 0, rgba32f) uniform writeonly image2D target;
layout(set = 0, binding = 8) uniform sampler2D source;

void main() {
  const SpreadImageRecord record = Record(push.arguments).at;
  const uint texel = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (texel >= record.width * record.height) return;
  const ivec2 place = ivec2(texel % record.width, texel / record.width);
  imageStore(target, place, vec4(texelFetch(source, place, 0).x + record.summand, vec2(place), 1.0));
}
