// A sampled texel times a factor, the pixel's place, and a constant: both numbers from memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Tint { float at[]; };
layout(push_constant) uniform PushConstants { uint64_t corners; uint64_t tint; } push;
layout(set = 0, binding = 0) uniform sampler2D source;
layout(location = 0) out vec4 color;

void main() {
  const ivec2 place = ivec2(gl_FragCoord.xy);
  Tint tint = Tint(push.tint);
  color = vec4(texelFetch(source, place, 0).x * tint.at[0], vec2(place), tint.at[1]);
}
