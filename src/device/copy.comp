#version 460
// Copies units of 4 bytes, or of 16 where both addresses allow it. Every invocation moves a fixed number of units.
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

const uint items = 4;
const uint units_per_group = 256 * items;

void main() {
  const uint64_t group =
      gl_WorkGroupID.x + uint64_t(gl_NumWorkGroups.x) * (gl_WorkGroupID.y + uint64_t(gl_NumWorkGroups.y) * gl_WorkGroupID.z);
  const uint64_t first = group * units_per_group;
  if (first >= units) return;
  const uint count = uint(min(units - first, uint64_t(units_per_group)));
  const uint64_t offset = first * unit_bytes;
  const uint lane = gl_LocalInvocationIndex;

  if (unit_bytes == 16) {
    Vectors from = Vectors(source + offset);
    Vectors to = Vectors(target + offset);
    uvec4 values[items];
    for (uint item = 0; item < items; ++item) {
      const uint index = lane + 256 * item;
      if (index < count) values[item] = from.values[index];
    }
    for (uint item = 0; item < items; ++item) {
      const uint index = lane + 256 * item;
      if (index < count) to.values[index] = values[item];
    }
  } else {
    Words from = Words(source + offset);
    Words to = Words(target + offset);
    uint values[items];
    for (uint item = 0; item < items; ++item) {
      const uint index = lane + 256 * item;
      if (index < count) values[item] = from.values[index];
    }
    for (uint item = 0; item < items; ++item) {
      const uint index = lane + 256 * item;
      if (index < count) to.values[index] = values[item];
    }
  }
}
