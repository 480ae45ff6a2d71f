#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include <tessera/io/raster_file.hpp>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

using nlohmann::json;
using raster::SampleType;

struct Figures {
  std::uint64_t valid = 0;
  double minimum = std::numeric_limits<double>::infinity();
  double maximum = -std::numeric_limits<double>::infinity();
  double mean = 0.0;
  double deviation = 0.0;
};

template <typename Sample>
double value_at(const std::byte* samples, std::size_t i) {
  Sample sample;
  std::memcpy(&sample, samples + i * sizeof(Sample), sizeof(Sample));
  return static_cast<double>(sample);
}

double value_at(SampleType type, const std::byte* samples, std::size_t i) {
  switch (type) {
    case SampleType::uint8:
      return value_at<std::uint8_t>(samples, i);
    case SampleType::uint16:
      return value_at<std::uint16_t>(samples, i);
    case SampleType::sint16:
      return value_at<std::int16_t>(samples, i);
    case SampleType::float32:
      return value_at<float>(samples, i);
    default:
      ADD_FAILURE() << name_of(type);
      return 0.0;
  }
}

/// The valid raw values of a band, read window by window.
std::vector<double> valid_values(const RasterFile& file, std::uint32_t band, std::uint64_t window_pixels) {
  const raster::BandInfo& info = file.band(band);
  const std::uint64_t size = raster::size_of(info.type);
  const residency::WindowGrid windows =
      residency::plan_windows(file.extent(), file.preferred_block(),
                              {.memory = window_pixels * (size + 1), .bytes_per_pixel = size + 1}, file.name());
  std::vector<double> values;
  for (std::uint64_t w = 0; w < windows.size(); ++w) {
    const residency::Window window = windows[w];
    std::vector<std::byte> samples(window.pixel_count() * size);
    std::vector<std::uint8_t> validity(window.pixel_count(), 1);
    const residency::BandDestination destination{band, samples};
    residency::ValidityDestination plane{info.validity_plane, validity};
    const bool has_plane = info.validity != raster::ValiditySource::none;
    file.read({window, {&destination, 1}, {&plane, has_plane ? 1u : 0u}});
    EXPECT_EQ(plane.missing_by_mask + plane.missing_by_alpha,
              static_cast<std::uint64_t>(std::count(validity.begin(), validity.end(), 0)));
    for (std::size_t i = 0; i < validity.size(); ++i) {
      const double value = value_at(info.type, samples.data(), i);
      if (validity[i] != 0 && std::isfinite(value) && !info.no_data.matches(samples.data() + i * size)) {
        values.push_back(value);
      }
    }
  }
  return values;
}

Figures figures_of(const std::vector<double>& values) {
  Figures figures;
  figures.valid = values.size();
  long double sum = 0.0L;
  for (const double value : values) {
    figures.minimum = std::min(figures.minimum, value);
    figures.maximum = std::max(figures.maximum, value);
    sum += static_cast<long double>(value);
  }
  const long double count = static_cast<long double>(values.size());
  const long double mean = sum / count;
  long double squares = 0.0L;
  for (const double value : values) {
    squares += (static_cast<long double>(value) - mean) * (static_cast<long double>(value) - mean);
  }
  figures.mean = static_cast<double>(mean);
  figures.deviation = static_cast<double>(std::sqrt(squares / count));
  return figures;
}

void expect_near_relative(double value, double expected, const std::string& what) {
  EXPECT_LE(std::abs(value - expected), 1e-9 * std::abs(expected)) << what << ": " << value << " and " << expected;
}

void expect_band(const RasterFile& file, const json& facts) {
  const std::uint32_t number = facts.at("band");
  const std::string what = file.name() + " band " + std::to_string(number);
  const raster::BandInfo& info = file.band(number);
  EXPECT_EQ(info.color_interpretation, facts.at("color_interp").get<std::string>()) << what;
  EXPECT_EQ(!info.palette.empty(), facts.at("palette").get<bool>()) << what;
  EXPECT_EQ(info.scale, facts.at("scale").is_null() ? std::nullopt : std::optional<double>(facts.at("scale"))) << what;
  EXPECT_EQ(info.description, facts.value("description", std::string())) << what;
  const json& no_data = facts.at("nodata");
  EXPECT_EQ(info.no_data.kind() == raster::NoData::Kind::none, no_data.is_null()) << what;
  if (no_data.is_number()) {
    EXPECT_EQ(info.no_data.declared(), no_data.get<double>()) << what;
  }

  // Small windows and one large window: the same values, in another order at most.
  const Figures figures = figures_of(valid_values(file, number, 1 << 19));
  EXPECT_EQ(figures.valid, facts.at("valid_count").get<std::uint64_t>()) << what;
  EXPECT_EQ(figures.valid, valid_values(file, number, 1 << 26).size()) << what;
  if (figures.valid == 0) {
    return;
  }
  EXPECT_EQ(figures.minimum, facts.at("min").get<double>()) << what;
  EXPECT_EQ(figures.maximum, facts.at("max").get<double>()) << what;
  expect_near_relative(figures.mean, facts.at("mean"), what + " mean");
  expect_near_relative(figures.deviation, facts.at("std"), what + " std");
}

void expect_file(const RasterFile& file, const json& facts) {
  const raster::RasterMetadata& metadata = file.metadata();
  EXPECT_EQ(metadata.width, facts.at("width").get<std::int64_t>());
  EXPECT_EQ(metadata.height, facts.at("height").get<std::int64_t>());
  EXPECT_EQ(file.bands().size(), facts.at("bands").get<std::size_t>());
  EXPECT_EQ(file.info().driver, facts.at("driver").get<std::string>());
  EXPECT_EQ(file.info().overviews.size(), facts.at("overviews").size());
  EXPECT_EQ(file.info().block.width, facts.at("block").at(0).get<std::int64_t>());
  EXPECT_EQ(file.info().block.height, facts.at("block").at(1).get<std::int64_t>());
  const std::vector<double> g = facts.at("geotransform");
  EXPECT_EQ(metadata.pixel_interpretation == raster::PixelInterpretation::point,
            facts.value("area_or_point", "Area") == "Point");
  if (metadata.pixel_interpretation == raster::PixelInterpretation::area) {
    EXPECT_EQ(metadata.affine, (std::array<double, 6>{g[1], g[2], g[0], g[4], g[5], g[3]}));
  }
  const std::string crs = facts.at("crs").is_string() ? facts.at("crs").get<std::string>() : std::string();
  if (crs.rfind("EPSG:", 0) == 0) {
    ASSERT_TRUE(metadata.coordinate_reference_system.has_value());
    EXPECT_EQ(metadata.coordinate_reference_system->authority, crs);
  }
  for (const json& band : facts.at("band_facts")) {
    expect_band(file, band);
  }
}

TEST(ReferenceFacts, every_raster_gives_its_reference_figures) {
  const auto folder = testing::test_data();
  if (!folder) {
    GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  }
  const json facts = json::parse(testing::read_text((*folder / "reference_facts.json").string()));
  std::size_t files = 0;
  for (const auto& [name, raster] : facts.at("rasters").items()) {
    SCOPED_TRACE(name);
    expect_file(RasterFile::open((*folder / name).string()), raster);
    ++files;
  }
  EXPECT_GT(files, 20u);
}

template <typename Sample>
void expect_same_pixels(const std::filesystem::path& left, const std::filesystem::path& right) {
  const RasterFile a = RasterFile::open(left.string());
  const RasterFile b = RasterFile::open(right.string());
  ASSERT_EQ(a.bands().size(), b.bands().size());
  EXPECT_NO_THROW(assert_same_grid(a, b));
  for (std::uint32_t band = 1; band <= a.bands().size(); ++band) {
    EXPECT_EQ(testing::read_band<Sample>(a, band), testing::read_band<Sample>(b, band)) << band;
  }
}

TEST(ReferenceFacts, layout_and_compression_do_not_change_pixels) {
  const auto folder = testing::test_data();
  if (!folder) {
    GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
  }
  expect_same_pixels<std::uint8_t>(*folder / "rgb_lzw.tif", *folder / "rgb_deflate.tif");
  expect_same_pixels<std::int16_t>(*folder / "lf_elev_220_mt_hood_utm.tif", *folder / "derived_elev_zstd.tif");
}

}  // namespace
}  // namespace tessera::io
