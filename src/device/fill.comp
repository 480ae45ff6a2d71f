#version 460
// Fills units of 4 bytes, or of 16 where the address allows it, with one word; one unit an invocation.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint unit_bytes = 16;

layout(buffer_reference, scalar, buffer_reference_align = 4) writeonly buffer Words { uint values[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) writeonly buffer Vectors { uvec4 values[]; };

layout(push_constant, scalar) uniform Arguments {
  uint64_t target;
  uint64_t units;
  uint word;
};

void main() {
  const uint64_t group =
      gl_WorkGroupID.x + uint64_t(gl_NumWorkGroups.x) * (gl_WorkGroupID.y + uint64_t(gl_NumWorkGroups.y) * gl_WorkGroupID.z);
  const uint64_t unit = group * 256 + gl_LocalInvocationIndex;
  if (unit >= units) return;
  const uint64_t offset = unit * unit_bytes;
  if (unit_bytes == 16)
    Vectors(target + offset).values[0] = uvec4(word);
  else
    Words(target + offset).values[0] = word;
}
