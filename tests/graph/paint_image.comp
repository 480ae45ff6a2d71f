// Gives each texel of an image its column plus a hundred times its row plus a base.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "addressed.glsl"

struct PaintImageRecord {
  uint width;
  uint height;
  float base;
  uint reserved;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { PaintImageRecord at; };
layout(set = 0, binding = 0, r32f) uniform writeonly image2D image;

void main() {
  const PaintImageRecord record = Record(push.arguments).at;
  const uint texel = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (texel >= record.width * record.height) return;
  const ivec2 place = ivec2(texel % record.width, texel / record.width);
  imageStore(image, place, vec4(float(place.x) + 100.0 * float(place.y) + record.base, 0.0, 0.0, 0.0));
}
