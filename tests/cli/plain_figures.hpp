#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What plain loops over the values give, in numbers that hold 64-bit integers.
namespace tessera::testing {

using Values = std::vector<long double>;

struct Figures {
  std::uint64_t valid = 0;
  long double minimum = std::numeric_limits<long double>::infinity();
  long double maximum = -std::numeric_limits<long double>::infinity();
  long double sum = 0;
  long double mean = 0;
  long double deviation = 0;
};

inline Figures figures_of(const Values& values) {
  Figures figures;
  figures.valid = values.size();
  for (const long double value : values) {
    figures.minimum = std::min(figures.minimum, value);
    figures.maximum = std::max(figures.maximum, value);
    figures.sum += value;
  }
  const auto count = static_cast<long double>(values.size());
  figures.mean = figures.sum / count;
  long double squares = 0;
  for (const long double value : values) {
    squares += (value - figures.mean) * (value - figures.mean);
  }
  figures.deviation = std::sqrt(squares / count);
  return figures;
}

/// NumPy's default: linear between the neighbours of `percent` / 100 * (count - 1).
inline long double percentile_of(Values values, double percent) {
  std::sort(values.begin(), values.end());
  const long double place = static_cast<long double>(percent) / 100 * static_cast<long double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - static_cast<long double>(below));
}

inline void expect_near(const nlohmann::json& found, long double expected, double relative, const std::string& what) {
  ASSERT_TRUE(found.is_number()) << what << ": " << found;
  const auto value = static_cast<double>(expected);
  EXPECT_NEAR(found.get<double>(), value, relative * std::max(1.0, std::abs(value))) << what;
}

inline void expect_figures(const nlohmann::json& found, const Figures& expected, double relative) {
  EXPECT_EQ(found.at("valid").get<std::uint64_t>(), expected.valid);
  expect_near(found.at("min"), expected.minimum, relative, "min");
  expect_near(found.at("max"), expected.maximum, relative, "max");
  expect_near(found.at("sum"), expected.sum, relative, "sum");
  expect_near(found.at("mean"), expected.mean, relative, "mean");
  expect_near(found.at("std"), expected.deviation, relative, "std");
}

/// The percentiles of a band, whose names are the numbers asked for.
inline void expect_percentiles(const nlohmann::json& found, const Values& values, double relative = 1e-14) {
  for (const auto& [name, value] : found.at("percentiles").items()) {
    expect_near(value, percentile_of(values, std::stod(name)), relative, "percentile " + name);
  }
}

}  // namespace tessera::testing
