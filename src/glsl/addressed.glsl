// Buffers reached by address, and what every kernel starts with.
#ifndef TESSERA_ADDRESSED_GLSL
#define TESSERA_ADDRESSED_GLSL

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_ballot : require
#extension GL_KHR_shader_subgroup_shuffle : require

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer WordPairs { uvec2 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 16) buffer WordQuads { uvec4 at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Longs { uint64_t at[]; };

// `ranges`: the node's AccessTable, in builds that check accesses.
layout(push_constant) uniform PushConstants { uint64_t arguments; uint64_t ranges; } push;

#include "access.glsl"

// Dispatches beyond the device's count per dimension are folded; this is the workgroup's place in the line.
uint workgroup_index() {
  return (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
uint workgroup_count() { return gl_NumWorkGroups.x * gl_NumWorkGroups.y * gl_NumWorkGroups.z; }

// The address behind a one-chunk table's slot.
uint64_t slot_address(uint64_t slot) { return READ_AT(Longs, READ_AT(Longs, slot, 0), 0); }

#endif
