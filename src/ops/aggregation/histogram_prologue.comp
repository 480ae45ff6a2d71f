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
#define Binning_bytes binning_bytes
#define Keys_bytes 4u

layout(constant_id = 1) const uint source = histogram_source_host;
layout(constant_id = 2) const uint format = 0u;   // tessera::Format of domain and edges
const uint format_uint32 = 0u, format_sint32 = 1u, format_float32 = 2u;

int key_of(uint bits) {
  if (format == format_float32) return float_key(bits);
  return format == format_sint32 ? sint32_key(bits) : uint32_key(bits);
}

void clear_output(Record arguments, uint i) {
  if (i < arguments.at.count_words) WRITE_AT(Words, slot_address(arguments.at.counts) + arguments.at.counts_offset, i) = 0u;
  if (i == 0u && arguments.at.overflow != uint64_t(0))
    WRITE_AT(Words, slot_address(arguments.at.overflow) + arguments.at.overflow_offset, 0) = 0u;
}

void take_domain(Record arguments, Words rows, uint i) {
  uint bins = arguments.at.bins;
  uint low = READ_IN(Words, rows, 0);
  uint high = READ_IN(Words, rows, 1);
  bool is_float = format == format_float32;
  HistogramBinning binning = is_float ? uniform_float_binning(low, high, bins)
                                      : uniform_integer_binning(key_of(low), key_of(high), bins);
  if (i == 0u) WRITE_OF(Binning, arguments.at.binning) = binning;
  if (is_float && i <= bins && binning.mode != histogram_nothing)
    WRITE_AT(Keys, arguments.at.binning + uint64_t(binning_bytes), i) = float_key(uniform_edge_bits(low, high, i, bins));
}

void take_edges(Record arguments, Words rows, uint i) {
  uint bins = arguments.at.bins;
  if (i <= bins) WRITE_AT(Keys, arguments.at.binning + uint64_t(binning_bytes), i) = key_of(READ_IN(Words, rows, i));
  if (i == 0u) WRITE_OF(Binning, arguments.at.binning) = edges_binning(key_of(READ_IN(Words, rows, 0)), key_of(READ_IN(Words, rows, bins)));
}

bool is_edge(int key) { return format != format_float32 || (key <= largest_float_key && key >= -largest_float_key); }

void check_edge(Record arguments, uint i) {
  uint bins = arguments.at.bins;
  if (i > bins) return;
  Keys keys = Keys(arguments.at.binning + uint64_t(binning_bytes));
  bool good = is_edge(READ_IN(Keys, keys, i)) && (i == bins || READ_IN(Keys, keys, i) < READ_IN(Keys, keys, i + 1u));
  if (!good) atomicExchange(WRITE_AT(Words, arguments.at.binning, 0), histogram_nothing);
}

void main() {
  Record arguments = Record(push.arguments);
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
