#include <gdal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/command_process.hpp"
#include "cli/opened_raster.hpp"
#include "cli/plain_figures.hpp"
#include "cli/typed_raster.hpp"
#include "statistics/otsu_cutoff.hpp"
#include "support/raster_reads.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

constexpr int width = 61;
constexpr int height = 43;
constexpr std::size_t pixels = std::size_t{width} * height;

/// One band of every reason to be missing, alone and together with the others.
template <class Sample>
struct Scene {
  static constexpr bool is_float = std::is_floating_point_v<Sample>;
  static constexpr Sample no_data = 7;

  std::vector<Sample> samples;
  std::vector<Sample> alpha;
  std::vector<std::uint8_t> mask;
  std::vector<std::uint16_t> quality;
  Values values;                          ///< of the valid pixels
  std::map<std::string, int> invalid_by;  ///< by first reason

  explicit Scene(std::uint64_t seed) {
    PlainRandom random(seed);
    for (const char* reason : {"mask", "alpha", "nodata", "not_finite", "quality"}) {
      invalid_by[reason] = 0;
    }
    for (std::size_t i = 0; i < pixels; ++i) {
      const bool masked = random.one_in(4);
      const bool transparent = random.one_in(4);
      const bool is_missing = random.one_in(4);
      const bool is_finite = !is_float || !random.one_in(4);
      const bool is_bad = random.one_in(4);
      mask.push_back(masked ? 0 : 255);
      alpha.push_back(transparent ? 0 : 100);
      // Bit 3 and bit 11 are bad, others tell nothing.
      quality.push_back(static_cast<std::uint16_t>((random.below(8)) | (is_bad ? (random.one_in(2) ? 8 : 2048) : 0)));
      samples.push_back(is_missing ? no_data : is_finite ? value_of(random) : not_finite(random));
      const bool sees_no_data = samples.back() == no_data;
      const bool sees_infinity = !std::isfinite(static_cast<double>(samples.back()));
      if (masked)
        ++invalid_by["mask"];
      else if (transparent)
        ++invalid_by["alpha"];
      else if (sees_no_data)
        ++invalid_by["nodata"];
      else if (sees_infinity)
        ++invalid_by["not_finite"];
      else if (is_bad)
        ++invalid_by["quality"];
      else
        values.push_back(static_cast<long double>(samples.back()));
    }
  }

  /// The whole range of the type, and often small numbers, so that values repeat.
  static Sample value_of(PlainRandom& random) {
    const std::uint64_t bits = random.next();
    if constexpr (is_float) {
      const double fraction = static_cast<double>(bits >> 40) / 4096.0 - 2000.0;
      return random.one_in(2) ? static_cast<Sample>(fraction) : static_cast<Sample>(std::round(fraction / 100.0));
    } else {
      return random.one_in(2) ? static_cast<Sample>(bits) : static_cast<Sample>(bits % 50);
    }
  }
  static Sample not_finite(PlainRandom& random) {
    if constexpr (is_float) {
      const Sample infinity = std::numeric_limits<Sample>::infinity();
      return random.one_in(3) ? infinity : random.one_in(2) ? -infinity : std::numeric_limits<Sample>::quiet_NaN();
    } else {
      return value_of(random);
    }
  }
};

template <class Sample>
class SampleTypes : public CommandTest {
 protected:
  json run(Strings arguments) const {
    arguments.emplace_back("--json");
    const ProcessResult result = tessera(arguments);
    EXPECT_EQ(result.code, 0) << result.output << result.errors;
    return result.document();
  }
  void write(const Scene<Sample>& scene) const {
    make_typed<Sample>(file("a.tif"), {.width = width,
                                       .height = height,
                                       .bands = {scene.alpha, scene.samples},
                                       .mask = scene.mask,
                                       .prepare = [](GDALDatasetH dataset) {
                                         set_role(dataset, 1, GCI_AlphaBand);
                                         set_no_data<Sample>(dataset, Scene<Sample>::no_data);
                                       }});
    make_typed<std::uint16_t>(file("quality.tif"), {.width = width, .height = height, .bands = {scene.quality}});
  }
  Strings quality() const { return {"--mask", file("quality.tif"), "--mask-bits", "3,11"}; }
};

using AllTypes = ::testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                                  std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(SampleTypes, AllTypes);

TYPED_TEST(SampleTypes, statistics_percentiles_and_reasons) {
  using Sample = TypeParam;
  const Scene<Sample> scene(sizeof(Sample) + 31);
  this->write(scene);
  Strings arguments{"stats", this->file("a.tif"), "-b", "2", "--percentiles", "0,2,12.5,50,75,98,100"};
  const Strings mask = this->quality();
  arguments.insert(arguments.end(), mask.begin(), mask.end());
  const json found = this->run(arguments).at("bands").at(0);
  for (const auto& [reason, count] : scene.invalid_by) {
    EXPECT_EQ(found.at("invalid_by").at(reason), count) << reason;
    EXPECT_TRUE(count > 0 || reason == "not_finite") << reason;
  }
  EXPECT_EQ(found.at("invalid"), pixels - scene.values.size());
  // 64-bit integers are wider than the figures.
  expect_figures(found, figures_of(scene.values), 1e-12);
  expect_percentiles(found, scene.values);

  // Without the quality mask, what it alone took out is valid again.
  const json plain = this->run({"stats", this->file("a.tif"), "-b", "2"}).at("bands").at(0);
  EXPECT_EQ(plain.at("valid"), scene.values.size() + static_cast<std::size_t>(scene.invalid_by.at("quality")));
  for (const char* reason : {"mask", "alpha", "nodata", "not_finite"}) {
    EXPECT_EQ(plain.at("invalid_by").at(reason), scene.invalid_by.at(reason)) << reason;
  }
  EXPECT_EQ(plain.at("invalid_by").at("quality"), 0);
}

TYPED_TEST(SampleTypes, histograms_raw_and_calibrated) {
  using Sample = TypeParam;
  const Scene<Sample> scene(sizeof(Sample) + 77);
  this->write(scene);
  const auto expect_histogram = [&](Strings more, double scale, double offset, double low, double high, int bins) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(bins));
    std::uint64_t outside = 0;
    for (const long double stored : scene.values) {
      const long double value = stored * static_cast<long double>(scale) + static_cast<long double>(offset);
      if (value < static_cast<long double>(low) || value > static_cast<long double>(high)) {
        ++outside;
        continue;
      }
      const auto bin = static_cast<std::size_t>((value - static_cast<long double>(low)) * bins /
                                                static_cast<long double>(high - low));
      ++counts[std::min(bin, counts.size() - 1)];
    }
    ASSERT_LT(outside, scene.values.size());
    Strings arguments{"histogram",
                      this->file("a.tif"),
                      "-b",
                      "2",
                      "--bins",
                      std::to_string(bins),
                      "--min=" + std::to_string(static_cast<int>(low)),
                      "--max=" + std::to_string(static_cast<int>(high))};
    const Strings mask = this->quality();
    arguments.insert(arguments.end(), mask.begin(), mask.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    const json found = this->run(arguments).at("bands").at(0);
    EXPECT_EQ(found.at("valid"), scene.values.size());
    EXPECT_EQ(found.at("outside"), outside);
    EXPECT_EQ(found.at("counts"), json(counts));
  };
  // Widths, scales and offsets that are powers of two, so that no edge is rounded.
  expect_histogram({"--raw"}, 1, 0, 0, 64, 32);
  expect_histogram({}, 1, 0, -8, 56, 64);
  expect_histogram({"--raw"}, 1, 0, 0, 33, 66);
  expect_histogram({"--scale", "0.5", "--offset", "-4"}, 0.5, -4, -4, 28, 64);
  expect_histogram({"--scale=-0.25"}, -0.25, 0, -16, 0, 128);
}

template <class Sample>
class FloatTypes : public SampleTypes<Sample> {};
using BothFloats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FloatTypes, BothFloats);

TYPED_TEST(FloatTypes, zeros_of_both_signs_are_one_value) {
  using Sample = TypeParam;
  std::vector<Sample> samples;
  Values values;
  PlainRandom random(5);
  for (std::size_t i = 0; i < pixels; ++i) {
    const auto number = static_cast<Sample>(static_cast<int>(random.below(9)) - 4);
    samples.push_back(number == 0 && random.one_in(2) ? -number : number);
    if (number != 0) {
      values.push_back(static_cast<long double>(number));
    }
  }
  make_typed<Sample>(this->file("a.tif"), {.width = width, .height = height, .bands = {samples}});
  Values all(samples.begin(), samples.end());
  const Strings stats{"stats", this->file("a.tif"), "--percentiles", "0,10,45,50,55,90,100"};
  json found = this->run(stats).at("bands").at(0);
  expect_figures(found, figures_of(all), 1e-13);
  expect_percentiles(found, all);
  for (const std::string zero : {"0", "-0", "-0.0"}) {
    Strings arguments = stats;
    arguments.push_back("--src-nodata=" + zero);
    found = this->run(arguments).at("bands").at(0);
    expect_figures(found, figures_of(values), 1e-13);
    expect_percentiles(found, values);
    EXPECT_EQ(found.at("invalid_by").at("nodata"), pixels - values.size());
  }
}

TYPED_TEST(FloatTypes, nan_as_nodata_is_not_any_float_that_is_not_finite) {
  using Sample = TypeParam;
  constexpr Sample nan = std::numeric_limits<Sample>::quiet_NaN();
  constexpr Sample infinity = std::numeric_limits<Sample>::infinity();
  const std::vector<Sample> samples{1,
                                    nan,
                                    2,
                                    infinity,
                                    3,
                                    -nan,
                                    -infinity,
                                    std::numeric_limits<Sample>::max(),
                                    std::numeric_limits<Sample>::lowest(),
                                    std::numeric_limits<Sample>::denorm_min(),
                                    -5,
                                    nan};
  make_typed<Sample>(this->file("a.tif"), {.width = 4, .height = 3, .bands = {samples}, .options = {}});
  Values values;
  for (const Sample sample : samples) {
    if (std::isfinite(sample)) {
      values.push_back(static_cast<long double>(sample));
    }
  }
  for (const auto& [no_data, not_finite] : {std::pair{"none", 5}, std::pair{"nan", 2}}) {
    const json found = this->run({"stats", this->file("a.tif"), "--percentiles", "25,50,75", "--src-nodata", no_data})
                           .at("bands")
                           .at(0);
    EXPECT_EQ(found.at("valid"), values.size());
    EXPECT_EQ(found.at("invalid_by").at("not_finite"), not_finite) << no_data;
    EXPECT_EQ(found.at("invalid_by").at("nodata"), 5 - not_finite) << no_data;
    expect_near(found.at("min"), figures_of(values).minimum, 1e-15, "min");
    expect_near(found.at("max"), figures_of(values).maximum, 1e-15, "max");
    expect_percentiles(found, values);
  }
}

class Otsu : public CommandTest {};

/// Otsu's method by its definition: the split with the largest variance between the classes, the first of equals.
double plain_otsu(const std::vector<std::uint64_t>& counts, double low, double high) {
  long double best = -1;
  std::size_t border = 0;
  for (std::size_t split = 1; split < counts.size(); ++split) {
    long double lower = 0, lower_sum = 0, upper = 0, upper_sum = 0;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      (bin < split ? lower : upper) += static_cast<long double>(counts[bin]);
      (bin < split ? lower_sum : upper_sum) += static_cast<long double>(counts[bin] * bin);
    }
    if (lower == 0 || upper == 0) continue;
    const long double distance = lower_sum / lower - upper_sum / upper;
    const long double score = lower * upper * distance * distance;
    if (score > best * (1 + 1e-15L)) {
      best = score;
      border = split;
    }
  }
  return low + (high - low) * static_cast<double>(border) / static_cast<double>(counts.size());
}

TEST_F(Otsu, separates_two_heaps_as_a_plain_loop_does) {
  PlainRandom random(3);
  std::vector<std::uint64_t> counts(256);
  std::vector<std::uint8_t> samples;
  for (std::size_t i = 0; i < pixels; ++i) {
    const std::uint64_t heap = random.one_in(3) ? 150 + random.below(60) : 30 + random.below(70);
    samples.push_back(static_cast<std::uint8_t>(i < 2 ? 255 * i : heap));
    ++counts[samples.back()];
  }
  make_typed<std::uint8_t>(file("a.tif"), {.width = width, .height = height, .bands = {samples}});
  // From 0 to 255 in 256 bins: every value has a bin of its own.
  const double expected = plain_otsu(counts, 0, 255);
  const auto selected = static_cast<std::uint64_t>(
      std::count_if(samples.begin(), samples.end(), [&](std::uint8_t sample) { return sample >= expected; }));
  const ProcessResult result = tessera({"threshold", file("a.tif"), "--otsu", "-o", file("out.tif"), "--json"});
  ASSERT_EQ(result.code, 0) << result.output;
  const json found = result.document();
  EXPECT_NEAR(found.at("threshold").get<double>(), expected, 1e-4);
  EXPECT_EQ(found.at("selected").get<std::uint64_t>(), selected);
  const std::vector<double> written = Opened(file("out.tif")).read(1);
  for (std::size_t i = 0; i < pixels; ++i) {
    ASSERT_EQ(written[i], samples[i] >= expected ? 1 : 0) << i;
  }
}

TEST(OtsuCutoff, says_so_where_pixels_are_too_many_to_be_exact) {
  Device device = Device::open(DeviceSelector::from_environment());
  const std::vector<std::uint64_t> shares{9, 30, 4, 1, 0, 2, 17, 6};
  cli::BandHistogram histogram{.low = 0, .high = 8, .counts = {}};
  for (const std::uint64_t share : shares) {
    histogram.counts.push_back(share << 41);
  }
  // 69 << 41 is below 2^48; the rest of it goes to the first bin.
  histogram.counts.front() += (std::uint64_t{1} << 48) - 1 - (std::uint64_t{69} << 41);
  EXPECT_EQ(cli::otsu_cutoff(device, histogram), plain_otsu(histogram.counts, 0, 8));
  ++histogram.counts.back();
  std::string message;
  EXPECT_EQ(code_of([&] { cli::otsu_cutoff(device, histogram); }, &message), ErrorCode::limit_exceeded);
  EXPECT_NE(message.find("--otsu"), std::string::npos) << message;
  EXPECT_NE(message.find("281474976710656"), std::string::npos) << message;
  histogram.counts.assign(8, 0);
  EXPECT_EQ(cli::otsu_cutoff(device, histogram), std::nullopt);
}

}  // namespace
}  // namespace tessera::testing
