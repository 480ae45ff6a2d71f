// Merges the partials of `aggregate` in one workgroup and writes the results.
#version 460
#include "addressed.glsl"
#include "float_bits.glsl"
#include "ops/aggregation/aggregate_record.h"
#include "sum_state.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { AggregateFinishRecord at; };
#define record Record(push.arguments).at
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer SumStates { SumStateRecord at; };
#define SumStates_bytes 96u

const uint format_uint32 = 0u, format_sint32 = 1u, format_float32 = 2u, format_uint64 = 9u, format_sint64 = 10u,
           format_float64 = 11u, format_sum_state = 12u;

// The kinds and formats of results that occur, as bits: what nobody asks for costs no code, of which exact rounding and means are most.
layout(constant_id = 1) const uint kinds = 0xffffffffu;
layout(constant_id = 2) const uint result_formats = 0xffffffffu;
bool is_kind(AggregateResult result, uint kind) { return (kinds & (1u << kind)) != 0u && result.kind == kind; }
bool is_format(uint format, uint asked) { return (result_formats & (1u << asked)) != 0u && format == asked; }

// Low and high halves of the partials' words, added up without carries between words.
shared uint shared_low[46], shared_high[46];
shared uint shared_smallest, shared_largest, shared_flags;

uint partial_total() {
  if (record.latched == uint64_t(0)) return record.partial_groups * record.partials_per_group;
  return min(READ_AT(Words, record.latched, 2), record.largest_groups) * record.partials_per_group;
}

bool is_limb(uint word) {
  return (word >= partial_sum + 1u && word < partial_sum + 21u) || (word >= partial_squares + 1u && word < partial_squares + 21u);
}

// Each invocation adds up one word of every n-th partial.
void merge_partials(uint words) {
  uint per_turn = gl_WorkGroupSize.x / words;
  uint word = gl_LocalInvocationID.x % words, first = gl_LocalInvocationID.x / words;
  if (first >= per_turn) return;
  uint64_t total = uint64_t(0);
  uint flags = 0u, smallest = 0xffffffffu, largest = 0u;
  // Four loads are under way at a time; a partial beyond the last is the last one again, without weight.
  for (uint partial = first; partial < partial_total(); partial += 4u * per_turn) {
    uint values[4];
    UNROLL for (uint k = 0u; k < 4u; ++k)
      values[k] = READ_AT(Words, record.partials, min(partial + k * per_turn, partial_total() - 1u) * words + word);
    UNROLL for (uint k = 0u; k < 4u; ++k) {
      total += partial + k * per_turn < partial_total() ? uint64_t(values[k]) : uint64_t(0);
      flags |= values[k];
      smallest = min(smallest, values[k]);
      largest = max(largest, values[k]);
    }
  }
  if (word == partial_smallest) atomicMin(shared_smallest, smallest);
  if (word == partial_largest) atomicMax(shared_largest, largest);
  if (word == partial_sum || word == partial_squares) atomicOr(shared_flags, flags);
  if (word != partial_count && word != partial_count + 1u && !is_limb(word)) return;
  // A low half stays below 2^32 for up to 65,536 invocations.
  atomicAdd(shared_low[word], uint(total) & 0xffffu);
  atomicAdd(shared_high[word], uint(total >> 16));
}

uint64_t word_total(uint word) { return uint64_t(shared_low[word]) + (uint64_t(shared_high[word]) << 16); }

uint64_t merged_count() { return word_total(partial_count) + (word_total(partial_count + 1u) << 32); }

SumStateRecord merged_state(uint first_limb) {
  SumStateRecord state;
  sum_state_clear(state);
  uint64_t carry = uint64_t(0);
  for (uint limb = 0u; limb < 20u; ++limb) {
    carry += word_total(first_limb + limb);
    state.limbs[limb] = uint(carry);
    carry >>= 32;
  }
  state.flags = shared_flags;
  state.count = merged_count();
  return state;
}

uint value_of_order(uint key) {
  if (record.value_format == format_float32) return float_from_order(key);
  return record.value_format == format_sint32 ? key ^ 0x80000000u : key;
}

// Without a value the extent is 0.
uint extreme(uint key) { return shared_smallest > shared_largest ? 0u : value_of_order(key); }

void write_long(uint64_t address, uint64_t value) {
  WRITE_AT(Words, address, 0) = uint(value);
  WRITE_AT(Words, address, 1) = uint(value >> 32);
}

void write_state(uint64_t address, SumStateRecord state) { WRITE_OF(SumStates, address) = state; }

void write_sum(uint64_t address, uint format, SumStateRecord state) {
  if (is_format(format, format_uint64) || is_format(format, format_sint64))
    write_long(address, sum_state_to_integer(state));
  if (is_format(format, format_uint32) || is_format(format, format_sint32))
    WRITE_AT(Words, address, 0) = uint(sum_state_to_integer(state));
  if (is_format(format, format_float32)) WRITE_AT(Words, address, 0) = sum_state_to_float32(state);
  if (is_format(format, format_float64)) write_long(address, sum_state_to_float64(state));
  if (is_format(format, format_sum_state)) write_state(address, state);
}

// limbs /= count, by long division bit by bit, as far as any format keeps digits: five limbs from the first that is not 0 hold at least two of
// the quotient. Whether something was left over.
bool divide_magnitude(inout uint limbs[20], uint64_t count) {
  if (count == uint64_t(0)) return false;
  int first = 19;
  while (first > 0 && limbs[first] == 0u) --first;
  uint64_t rest = uint64_t(0);
  bool inexact = false;
  for (int limb = first; limb >= 0; --limb) {
    if (limb < first - 4) {
      inexact = inexact || limbs[limb] != 0u;
      limbs[limb] = 0u;
      continue;
    }
    uint dividend = limbs[limb], quotient = 0u;
    for (uint bit = 0u; bit < 32u; ++bit) {
      bool overflow = (rest >> 63) != uint64_t(0);
      rest = (rest << 1) | uint64_t(dividend >> 31);
      dividend <<= 1;
      quotient <<= 1;
      if (overflow || rest >= count) {
        rest -= count;
        quotient |= 1u;
      }
    }
    limbs[limb] = quotient;
  }
  return inexact || rest != uint64_t(0);
}

// |sum| / count in the sum's own unit; what is left over goes below the last bit.
void write_mean(uint64_t address, uint format, SumStateRecord state) {
  uint64_t count = state.count;
  bool negative = (state.limbs[19] >> 31) != 0u;
  uint inverted = negative ? 0xffffffffu : 0u;
  uint carry = negative ? 1u : 0u;
  for (uint limb = 0u; limb < 20u; ++limb) {
    uint value = (state.limbs[limb] ^ inverted) + carry;
    carry = carry != 0u && value == 0u ? 1u : 0u;
    state.limbs[limb] = value;
  }
  bool inexact = divide_magnitude(state.limbs, count);
  SumMagnitude magnitude = sum_magnitude(state.limbs, sum_state_unit_exponent);
  magnitude.negative = negative ? 1u : 0u;
  if (inexact) magnitude.sticky = 1u;
  if (is_format(format, format_float32)) WRITE_AT(Words, address, 0) = uint(sum_encode(magnitude, state.flags, 23, 8));
  if (is_format(format, format_float64)) write_long(address, sum_encode(magnitude, state.flags, 52, 11));
}

void write_count(uint64_t address, uint format) {
  uint64_t count = merged_count();
  if (format == format_uint64)
    write_long(address, count);
  else
    WRITE_AT(Words, address, 0) = uint(count);
}

void write_result(uint index) {
  AggregateResult result = record.results[index];
  if (result.kind == result_none) return;
  uint64_t address = slot_address(result.slot) + result.byte_offset;
  bool squares = is_kind(result, result_squares);
  SumStateRecord state = merged_state((squares ? partial_squares : partial_sum) + 1u);
  if (squares || is_kind(result, result_sum)) write_sum(address, result.format, state);
  if (is_kind(result, result_minimum)) WRITE_AT(Words, address, 0) = extreme(shared_smallest);
  if (is_kind(result, result_maximum)) WRITE_AT(Words, address, 0) = extreme(shared_largest);
  if (is_kind(result, result_extent)) {
    WRITE_AT(Words, address, 0) = extreme(shared_smallest);
    WRITE_AT(Words, address, 1) = extreme(shared_largest);
  }
  if (is_kind(result, result_count)) write_count(address, result.format);
  if (is_kind(result, result_mean)) write_mean(address, result.format, state);
}

void main() {
  if (gl_LocalInvocationID.x < 46u) {
    shared_low[gl_LocalInvocationID.x] = 0u;
    shared_high[gl_LocalInvocationID.x] = 0u;
  }
  if (gl_LocalInvocationID.x == 0u) {
    shared_smallest = 0xffffffffu;
    shared_largest = 0u;
    shared_flags = 0u;
  }
  barrier();
  merge_partials((record.quantities & aggregate_squares) != 0u ? partial_words_with_squares : partial_words);
  barrier();
  // Each result is rounded by a subgroup of its own, where there are as many: their ways part.
  uint results = 6u, stride = max(gl_WorkGroupSize.x / 8u, 1u);
  if (gl_LocalInvocationID.x % stride == 0u && gl_LocalInvocationID.x / stride < results)
    write_result(gl_LocalInvocationID.x / stride);
}
