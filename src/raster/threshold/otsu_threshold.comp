// Otsu's threshold of one histogram, in one workgroup: each invocation takes a run of neighbouring bins.
//
// A border with counts on both sides scores difference^2 / (lower * upper), where lower and upper are the counts below and above it and
// difference = lower * upper * (mean above - mean below), a whole number. Scores in float32 decide where they differ clearly; others are
// compared exactly, so that ties are ties and every device agrees.
#version 460
#include "addressed.glsl"
#include "float_bits.glsl"
#include "glsl/histogram_edges.h"
#include "raster/threshold/otsu_threshold_record.h"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Record { OtsuThresholdRecord at; };
#define record Record(push.arguments).at

layout(constant_id = 1) const uint long_counts = 0u;  // the histogram is uint64

const uint64_t largest_total = (uint64_t(1) << 48) - uint64_t(1);
const float surely_less = 1.0 - 1.0 / 65536.0;  // float scores err by less than half of what is missing to 1

shared uint64_t shared_counts[gl_WorkGroupSize.x];   // counts up to and with a run; later, the run's best split
shared uint64_t shared_sums[gl_WorkGroupSize.x];     // the same of bin * count
shared uint shared_borders[gl_WorkGroupSize.x];
shared uint shared_too_many;

uint64_t counts_address;
uint64_t total_count, total_sum;

// A border between bins: counts and sums of bin * count below it. Border 0 is none, and scores less than any.
struct Split {
  uint64_t count;
  uint64_t sum;
  uint border;
  float score;                // rounded; between 2^-96 and 2^126
  uint64_t difference_low;    // below 2^112
  uint64_t difference_high;
};
const Split no_split = Split(uint64_t(0), uint64_t(0), 0u, 0.0, uint64_t(0), uint64_t(0));

uint64_t count_of(uint bin) {
  if (long_counts == 0u) return uint64_t(READ_AT(Words, counts_address, bin));
  return READ_AT(Longs, counts_address, bin);
}

// Low and high half of a product.
void multiply_long(uint64_t a, uint64_t b, out uint64_t low, out uint64_t high) {
  uint64_t mask = uint64_t(0xffffffffu);
  uint64_t low_low = (a & mask) * (b & mask), low_high = (a & mask) * (b >> 32), high_low = (a >> 32) * (b & mask);
  uint64_t middle = (low_low >> 32) + (low_high & mask) + (high_low & mask);
  low = (middle << 32) | (low_low & mask);
  high = (a >> 32) * (b >> 32) + (low_high >> 32) + (high_low >> 32) + (middle >> 32);
}

// Completes a split that has counts on both sides: difference = total_sum * count - sum * total_count, which is positive.
void score(inout Split split) {
  uint64_t low, high, less_low, less_high;
  multiply_long(total_sum, split.count, low, high);
  multiply_long(split.sum, total_count, less_low, less_high);
  split.difference_high = high - less_high - (low < less_low ? uint64_t(1) : uint64_t(0));
  split.difference_low = low - less_low;
  float difference = float(split.difference_high) * 18446744073709551616.0 + float(split.difference_low);
  split.score = (difference / float(split.count)) * (difference / float(total_count - split.count));
}

const uint product_words = 10u;  // for products below 2^318

// product = product * 2^32 + factor * digit, modulo 2^320
void add_digit(inout uint product[product_words], uint factor[product_words], uint digit) {
  uint64_t carry = uint64_t(0);
  uint below = 0u;
  UNROLL for (uint k = 0u; k < product_words; ++k) {
    carry += uint64_t(factor[k]) * uint64_t(digit) + uint64_t(below);
    below = product[k];
    product[k] = uint(carry);
    carry >>= 32;
  }
}

uvec4 words_of(uint64_t low, uint64_t high) { return uvec4(uint(low), uint(low >> 32), uint(high), uint(high >> 32)); }

// The square of one split's difference times the classes of another: below 2^224 * 2^94. Its loop is not unrolled, which
// CPUs would take long to compile.
void weighted_square(uvec4 difference, uint64_t count_of_other, out uint product[product_words]) {
  uint64_t low, high;
  multiply_long(count_of_other, total_count - count_of_other, low, high);
  uvec4 classes = words_of(low, high);
  uint factor[product_words];
  UNROLL for (uint k = 0u; k < product_words; ++k) {
    factor[k] = k < 4u ? difference[k] : 0u;
    product[k] = 0u;
  }
  [[dont_unroll]] for (uint step = 0u; step < 8u; ++step) {
    if (step == 4u) {
      factor = product;
      UNROLL for (uint k = 0u; k < product_words; ++k) product[k] = 0u;
    }
    uvec4 digits = step < 4u ? difference : classes;
    uint place = 3u - (step & 3u);
    add_digit(product, factor, place == 3u ? digits.w : place == 2u ? digits.z : place == 1u ? digits.y : digits.x);
  }
}

// Whether a split scores strictly more than another, where their float scores don't tell.
bool beats_exactly(Split split, Split other) {
  uint left[product_words], right[product_words];
  [[dont_unroll]] for (uint side = 0u; side < 2u; ++side) {
    left = right;
    bool first = side == 0u;
    weighted_square(first ? words_of(split.difference_low, split.difference_high)
                          : words_of(other.difference_low, other.difference_high),
                    first ? other.count : split.count, right);
  }
  bool above = false;
  UNROLL for (uint k = 0u; k < product_words; ++k) above = left[k] == right[k] ? above : left[k] > right[k];
  return above;
}

bool beats(Split split, Split other) {
  if (split.score < other.score * surely_less) return false;
  if (split.score * surely_less > other.score) return true;
  return beats_exactly(split, other);
}

// Adds up the runs; afterwards `before` is what lies below this invocation's run.
void add_runs(uint first, uint last, out Split before) {
  uint64_t count = uint64_t(0), sum = uint64_t(0);
  bool too_many = false;
  for (uint bin = first; bin < last; ++bin) {
    uint64_t here = count_of(bin);
    too_many = too_many || here > largest_total;
    count += here;
    sum += here * uint64_t(bin);
  }
  uint self = gl_LocalInvocationID.x;
  if (too_many) atomicOr(shared_too_many, 1u);
  shared_counts[self] = count;
  shared_sums[self] = sum;
  barrier();
  for (uint distance = 1u; distance < gl_WorkGroupSize.x; distance <<= 1) {
    uint64_t more = self >= distance ? shared_counts[self - distance] : uint64_t(0);
    uint64_t more_sum = self >= distance ? shared_sums[self - distance] : uint64_t(0);
    barrier();
    shared_counts[self] += more;
    shared_sums[self] += more_sum;
    barrier();
  }
  before = no_split;
  before.count = shared_counts[self] - count;
  before.sum = shared_sums[self] - sum;
  total_count = shared_counts[gl_WorkGroupSize.x - 1u];
  total_sum = shared_sums[gl_WorkGroupSize.x - 1u];
}

// The next border after `split`, above `bin`. An empty bin leaves the score as it was, and the lower border stays.
bool advance(inout Split split, uint bin) {
  uint64_t here = count_of(bin);
  split.count += here;
  split.sum += here * uint64_t(bin);
  split.border = bin + 1u;
  return here != uint64_t(0) && split.count < total_count;
}

// The best split, in invocation 0; among equals the lowest border. First each invocation goes through its run, then runs
// meet pair by pair: one loop, so that splits are compared in one place.
Split best_split(uint first, uint last, uint run, Split split) {
  uint self = gl_LocalInvocationID.x;
  Split best = no_split;
  uint levels = findMSB(gl_WorkGroupSize.x - 1u) + 1u;
  [[dont_unroll]] for (uint turn = 0u; turn < run + levels; ++turn) {
    Split candidate = split;
    bool exists = false;
    if (turn < run) {
      exists = first + turn < last && advance(split, first + turn);
      candidate = split;
    } else {
      uint reach = 1u << (turn - run), other = self + reach;
      barrier();
      shared_counts[self] = best.count;
      shared_sums[self] = best.sum;
      shared_borders[self] = best.border;
      barrier();
      if ((self & (2u * reach - 1u)) == 0u && other < gl_WorkGroupSize.x) {
        candidate.count = shared_counts[other];
        candidate.sum = shared_sums[other];
        candidate.border = shared_borders[other];
        exists = candidate.border != 0u;
      }
    }
    if (!exists) continue;
    score(candidate);
    if (beats(candidate, best)) best = candidate;
  }
  return best;
}

void write_threshold(uint border) {
  uint low = floatBitsToUint(record.low), high = floatBitsToUint(record.high);
  if (record.domain != uint64_t(0)) {
    Words words = Words(slot_address(record.domain) + record.domain_offset);
    low = READ_IN(Words, words, 0);
    high = READ_IN(Words, words, 1);
  }
  bool exists = total_count != uint64_t(0) && total_count <= largest_total && shared_too_many == 0u &&
                is_finite_bits(low) && is_finite_bits(high);
  bool ordered = float_order((low << 1) == 0u ? 0u : low) <= float_order((high << 1) == 0u ? 0u : high);
  uint threshold = exists && ordered ? uniform_edge_bits(low, high, border, record.bins) : 0u;
  WRITE_AT(Words, slot_address(record.threshold) + record.threshold_offset, 0) = threshold;
}

void main() {
  counts_address = slot_address(record.histogram) + record.histogram_offset;
  if (gl_LocalInvocationID.x == 0u) shared_too_many = 0u;
  barrier();
  uint run = (record.bins - 1u) / gl_WorkGroupSize.x + 1u;
  uint first = min(gl_LocalInvocationID.x * run, record.bins), last = min(first + run, record.bins);
  Split before;
  add_runs(first, last, before);
  Split best = best_split(first, last, run, before);
  if (gl_LocalInvocationID.x == 0u) write_threshold(best.border);
}
