// Copies units of 4 bytes, or of 16 where both addresses allow it. One unit an invocation: more cost bandwidth on an H200.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint unit_bytes = 16;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint values[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Vectors { uvec4 values[]; };

layout(push_constant, scalar) uniform Arguments {
  uint64_t source;
  uint64_t target;
  uint64_t units;
};

void main() {
  const uint64_t group =
      gl_WorkGroupID.x + uint64_t(gl_NumWorkGroups.x) * (gl_WorkGroupID.y + uint64_t(gl_NumWorkGroups.y) * gl_WorkGroupID.z);
  const uint64_t unit = group * 256 + gl_LocalInvocationIndex;
  if (unit >= units) return;
  const uint64_t offset = unit * unit_bytes;
  if (unit_bytes == 16)
    Vectors(target + offset).values[0] = Vectors(source + offset).values[0];
  else
    Words(target + offset).values[0] = Words(source + offset).values[0];
}
