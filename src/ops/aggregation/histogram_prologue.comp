// Before counting: clears the output, and makes the binning where its domain or edges live on the device. One invocation
// for each word of the output and each edge.
#version 460
#include "addressed.glsl"
#include "float_bits.glsl"
#include "glsl/histogram_edges.h"
#include "ops/aggregation/histogram_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { HistogramPrologueRecord at; };
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Binning { HistogramBinning at; };
layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Keys { int at[]; };

layout(constant_id = 1) const uint source = histogram_source_host;
layout(constant_id = 2) const uint format = 0u;   // tessera::Format of domain and edges
const uint format_uint32 = 0u, format_sint32 = 1u, format_float32 = 2u;

int key_of(uint bits) {
  if (format == format_float32) return float_key(bits);
  return format == format_sint32 ? sint32_key(bits) : uint32_key(bits);
}

void clear_output(Record arguments, uint i) {
  if (i < arguments.at.count_words) Words(slot_address(arguments.at.counts) + arguments.at.counts_offset).at[i] = 0u;
  if (i == 0u && arguments.at.overflow != uint64_t(0))
    Words(slot_address(arguments.at.overflow) + arguments.at.overflow_offset).at[0] = 0u;
}

void take_domain(Record arguments, Words rows, uint i) {
  uint bins = arguments.at.bins;
  uint low = rows.at[0];
  uint high = rows.at[1];
  bool is_float = format == format_float32;
  HistogramBinning binning = is_float ? uniform_float_binning(low, high, bins)
                                      : uniform_integer_binning(key_of(low), key_of(high), bins);
  if (i == 0u) Binning(arguments.at.binning).at = binning;
  if (is_float && i <= bins && binning.mode != histogram_nothing)
    Keys(arguments.at.binning + uint64_t(binning_bytes)).at[i] = float_key(uniform_edge_bits(low, high, i, bins));
}

void take_edges(Record arguments, Words rows, uint i) {
  uint bins = arguments.at.bins;
  if (i <= bins) Keys(arguments.at.binning + uint64_t(binning_bytes)).at[i] = key_of(rows.at[i]);
  if (i == 0u) Binning(arguments.at.binning).at = edges_binning(key_of(rows.at[0]), key_of(rows.at[bins]));
}

bool is_edge(int key) { return format != format_float32 || (key <= largest_float_key && key >= -largest_float_key); }

void check_edge(Record arguments, uint i) {
  uint bins = arguments.at.bins;
  if (i > bins) return;
  Keys keys = Keys(arguments.at.binning + uint64_t(binning_bytes));
  bool good = is_edge(keys.at[i]) && (i == bins || keys.at[i] < keys.at[i + 1u]);
  if (!good) atomicExchange(Words(arguments.at.binning).at[0], histogram_nothing);
}

void main() {
  Record arguments = Record(push.record);
  uint i = workgroup_index() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
  if (source == histogram_check_edges) {
    check_edge(arguments, i);
    return;
  }
  clear_output(arguments, i);
  if (source == histogram_source_host) return;
  Words rows = Words(slot_address(arguments.at.source) + arguments.at.source_offset);
  if (source == histogram_source_domain)
    take_domain(arguments, rows, i);
  else
    take_edges(arguments, rows, i);
}
