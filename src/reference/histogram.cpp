#include "reference/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <type_traits>

namespace tessera::reference {
namespace {

// A float, or the midpoint of two neighbouring ones, in units of 2^-1074.
Integer in_units(double value) {
  int exponent = 0;
  const auto significand = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  if (significand == 0) return {};
  const int position = exponent - 53 + 1074;
  return Integer(significand) << static_cast<std::size_t>(position);
}

// The midpoint between a float and its neighbour, which a double holds exactly.
double midpoint(float a, float b) { return (double{a} + double{b}) / 2; }

// Floats in order as consecutive integers; both zeros are 0.
std::int64_t ordinal_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::int64_t magnitude = bits & 0x7fffffff;
  return (bits >> 31) != 0 ? -magnitude : magnitude;
}

float float_at(std::int64_t ordinal) {
  const auto magnitude = static_cast<std::uint32_t>(ordinal < 0 ? -ordinal : ordinal);
  return std::bit_cast<float>(ordinal < 0 ? magnitude | 0x80000000 : magnitude);
}

// The float nearest to numerator / divisor, where the numerator is in units of 2^-1074 and the result in [lo, hi]: the
// largest float that is not above it, found by bisection around a guess, or the next one.
float nearest_float(const Integer& numerator, std::uint32_t divisor, float guess, float lo, float hi) {
  const Integer factor(std::int64_t{divisor});
  const auto is_reached_by = [&](std::int64_t ordinal) { return in_units(float_at(ordinal)) * factor <= numerator; };
  std::int64_t reached = ordinal_of(guess);
  for (std::int64_t step = 1; !is_reached_by(reached); step *= 2) reached = std::max(reached - step, ordinal_of(lo));
  std::int64_t missed = reached + 1;
  for (std::int64_t step = 1; missed <= ordinal_of(hi) && is_reached_by(missed); step *= 2) {
    reached = missed;
    missed += step;
  }
  while (missed - reached > 1) {
    const std::int64_t middle = reached + (missed - reached) / 2;
    (middle <= ordinal_of(hi) && is_reached_by(middle) ? reached : missed) = middle;
  }
  if (missed > ordinal_of(hi)) return float_at(reached);
  const auto order = numerator <=> in_units(midpoint(float_at(reached), float_at(missed))) * factor;
  const bool goes_up = std::is_gt(order) || (std::is_eq(order) && reached % 2 != 0);
  return float_at(goes_up ? missed : reached);
}

// The last bin whose lower edge is not above the value, which lies within the edges.
template <class T>
std::size_t bin_of(T value, std::span<const T> edges) {
  const auto above = std::upper_bound(edges.begin(), edges.end(), value);
  const auto bin = static_cast<std::size_t>(above - edges.begin()) - 1;
  return std::min(bin, edges.size() - 2);
}

template <class T>
std::size_t uniform_integer_bin(T value, T lo, T hi, std::uint32_t bins) {
  const auto distance = static_cast<int128>(value) - static_cast<int128>(lo);
  const auto width = static_cast<int128>(hi) - static_cast<int128>(lo);
  return std::min(static_cast<std::size_t>(distance * bins / width), std::size_t{bins} - 1);
}

}  // namespace

std::vector<float> uniform_edges(float lo, float hi, std::uint32_t bins) {
  std::vector<float> edges;
  for (std::uint64_t k = 0; k <= bins; ++k) {
    const Integer low_part = in_units(lo) * Integer(static_cast<std::int64_t>(bins - k));
    const Integer high_part = in_units(hi) * Integer(static_cast<std::int64_t>(k));
    const double guess = (double{lo} * static_cast<double>(bins - k) + double{hi} * static_cast<double>(k)) / bins;
    const float inside = std::clamp(static_cast<float>(guess), lo, hi);
    edges.push_back(nearest_float(low_part + high_part, bins, inside, lo, hi));
  }
  return edges;
}

template <class T>
std::vector<std::uint64_t> histogram(std::span<const T> values, T lo, T hi, std::uint32_t bins, const Rows& rows) {
  std::vector<std::uint64_t> counts(bins);
  if (!is_finite(lo) || !is_finite(hi) || lo > hi) return counts;
  std::vector<T> edges;
  if constexpr (std::is_floating_point_v<T>) edges = uniform_edges(lo, hi, bins);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    if (!rows.is_selected(i) || !is_finite(value) || value < lo || value > hi) continue;
    std::size_t bin = 0;
    if (lo < hi) {
      if constexpr (std::is_floating_point_v<T>) {
        bin = bin_of<T>(value, edges);
      } else {
        bin = uniform_integer_bin(value, lo, hi, bins);
      }
    }
    ++counts[bin];
  }
  return counts;
}

template <class T>
std::vector<std::uint64_t> histogram(std::span<const T> values, std::span<const T> edges, const Rows& rows) {
  std::vector<std::uint64_t> counts(edges.size() - 1);
  for (std::size_t k = 0; k < edges.size(); ++k) {
    if (!is_finite(edges[k]) || (k > 0 && !(edges[k - 1] < edges[k]))) return counts;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];
    if (!rows.is_selected(i) || !is_finite(value) || value < edges.front() || value > edges.back()) continue;
    ++counts[bin_of(value, edges)];
  }
  return counts;
}

template std::vector<std::uint64_t> histogram(std::span<const std::uint32_t>, std::uint32_t, std::uint32_t,
                                              std::uint32_t, const Rows&);
template std::vector<std::uint64_t> histogram(std::span<const std::int32_t>, std::int32_t, std::int32_t, std::uint32_t,
                                              const Rows&);
template std::vector<std::uint64_t> histogram(std::span<const float>, float, float, std::uint32_t, const Rows&);
template std::vector<std::uint64_t> histogram(std::span<const std::uint32_t>, std::span<const std::uint32_t>,
                                              const Rows&);
template std::vector<std::uint64_t> histogram(std::span<const std::int32_t>, std::span<const std::int32_t>,
                                              const Rows&);
template std::vector<std::uint64_t> histogram(std::span<const float>, std::span<const float>, const Rows&);

}  // namespace tessera::reference
