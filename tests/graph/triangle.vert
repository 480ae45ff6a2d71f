// Three corners from memory.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Corners { vec2 at[]; };
layout(push_constant) uniform PushConstants { uint64_t corners; uint64_t tint; } push;

void main() { gl_Position = vec4(Corners(push.corners).at[gl_VertexIndex], 0.0, 1.0); }
