#include <gdal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "cli/job_test.hpp"
#include "cli/opened_raster.hpp"
#include "cli/plain_figures.hpp"
#include "cli/typed_raster.hpp"
#include "statistics/band_statistics.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

/// Each test is a class of bugs that programs for rasters have had.
class Numbers : public JobTest {};

TEST_F(Numbers, bands_that_miss_different_pixels_with_ragged_tiles) {
  const int width = 131;
  const int height = 67;
  const auto value = [](int band, int x, int y) {
    return (x + y * 3) % (5 + band) == 0 ? -9 : (x * 37 + y * 101 + band * 17) % 211 - 100;
  };
  for (const std::string interleave : {"PIXEL", "BAND"}) {
    const std::string path = file(interleave + ".tif");
    make_raster(path, {.width = width,
                       .height = height,
                       .bands = 3,
                       .type = GDT_Int16,
                       .options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16", "COMPRESS=DEFLATE",
                                   "INTERLEAVE=" + interleave},
                       .no_data = -9.0,
                       .value = value});
    const json bands = run({"stats", path, "--percentiles", "25,75"}).at("bands");
    ASSERT_EQ(bands.size(), 3u);
    Values both;
    for (int band = 1; band <= 3; ++band) {
      Values values;
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          if (value(band, x, y) != -9) {
            values.push_back(value(band, x, y));
          }
        }
      }
      const json& found = bands.at(static_cast<std::size_t>(band - 1));
      expect_figures(found, figures_of(values), 1e-13);
      expect_percentiles(found, values);
      EXPECT_EQ(found.at("invalid_by").at("nodata").get<std::uint64_t>(), 131u * 67u - values.size());
    }
    std::uint64_t missing = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const int red = value(1, x, y);
        const int near_infrared = value(3, x, y);
        missing += red == -9 || near_infrared == -9 || red + near_infrared == 0 ? 1 : 0;
      }
    }
    const json index = run({"ndvi", path, "--red", "1", "--nir", "3", "-o", file("ndvi.tif"), "--overwrite"});
    EXPECT_EQ(index.at("invalid").get<std::uint64_t>(), missing);
  }
}

TEST_F(Numbers, a_float_nodata_of_which_the_text_is_no_float) {
  const auto missing = static_cast<float>(-3.4e38);
  const float above = std::nextafterf(missing, 0.0F);
  const float below = std::nextafterf(missing, -std::numeric_limits<float>::infinity());
  make_typed<float>(file("a.tif"), {.width = 4,
                                    .height = 2,
                                    .bands = {{missing, 1.5F, above, 2.5F, missing, below, -4.0F, 0.0F}},
                                    .options = {},
                                    .prepare = [](GDALDatasetH dataset) { set_no_data<double>(dataset, -3.4e38); }});
  const json found = first_band({"stats", file("a.tif"), "--percentiles", "0,20,50,100"});
  const Values values{1.5F, above, 2.5F, below, -4.0F, 0.0F};
  EXPECT_EQ(found.at("invalid_by").at("nodata"), 2);
  expect_figures(found, figures_of(values), 1e-15);
  expect_percentiles(found, values);
}

TEST_F(Numbers, an_integer_sentinel_at_the_end_of_the_range) {
  constexpr std::int32_t sentinel = std::numeric_limits<std::int32_t>::max();
  std::vector<std::int32_t> samples;
  Values values;
  for (int i = 0; i < 600; ++i) {
    samples.push_back(i % 3 == 0 ? sentinel : (i % 50 == 1 ? sentinel - 1 : i * 7919 - 1000000));
    if (samples.back() != sentinel) {
      values.push_back(samples.back());
    }
  }
  make_typed<std::int32_t>(file("a.tif"),
                           {.width = 30, .height = 20, .bands = {samples}, .prepare = [](GDALDatasetH dataset) {
                              set_no_data<std::int32_t>(dataset, sentinel);
                            }});
  const json found = first_band({"stats", file("a.tif"), "--percentiles", "0,2,50,98,100"});
  expect_figures(found, figures_of(values), 1e-14);
  expect_percentiles(found, values);
  EXPECT_EQ(found.at("max"), sentinel - 1);
}

TEST_F(Numbers, alpha_wherever_it_is) {
  const auto value = [](int band, int x, int y) {
    return band == 2 ? ((x + y) % 4 == 0 ? 0 : 200) : (x * 5 + y * 3 + band) % 250;
  };
  make_raster(file("a.tif"), {.width = 40,
                              .height = 30,
                              .bands = 4,
                              .options = {"ALPHA=NO"},
                              .prepare = [](GDALDatasetH dataset) { set_role(dataset, 2, GCI_AlphaBand); },
                              .value = value});
  for (const int band : {1, 3, 4}) {
    Values values;
    for (int y = 0; y < 30; ++y) {
      for (int x = 0; x < 40; ++x) {
        if (value(2, x, y) != 0) {
          values.push_back(value(band, x, y));
        }
      }
    }
    const json found = first_band({"stats", file("a.tif"), "-b", std::to_string(band)});
    expect_figures(found, figures_of(values), 1e-13);
    EXPECT_EQ(found.at("invalid_by").at("alpha"), 300);
  }
}

TEST_F(Numbers, nothing_but_nodata) {
  for (const GDALDataType type : {GDT_Byte, GDT_Int32, GDT_Float64}) {
    const std::string path = file(std::string(GDALGetDataTypeName(type)) + ".tif");
    make_raster(path, {.width = 33, .height = 9, .bands = 2, .type = type, .no_data = 0.0});
    const json found = first_band({"stats", path, "--percentiles", "50"});
    EXPECT_EQ(found.at("valid"), 0);
    EXPECT_EQ(found.at("invalid"), 33 * 9);
    for (const char* field : {"min", "max", "mean", "std", "sum"}) {
      EXPECT_TRUE(found.at(field).is_null()) << field;
    }
    EXPECT_TRUE(found.at("percentiles").at("50").is_null());
    const json histogram = first_band({"histogram", path, "--bins", "4"});
    EXPECT_EQ(histogram.at("valid"), 0);
    EXPECT_EQ(histogram.at("counts"), (json{0, 0, 0, 0}));
    const json index = run({"ndvi", path, "--red", "1", "--nir", "2", "-o", file("out.tif"), "--overwrite"});
    EXPECT_EQ(index.at("valid"), 0);
    EXPECT_TRUE(index.at("mean").is_null());
    const json selection = run({"threshold", path, "-b", "1", "--otsu", "-o", file("out.tif"), "--overwrite"});
    EXPECT_TRUE(selection.at("threshold").is_null());
    EXPECT_EQ(selection.at("invalid"), 33 * 9);
  }
}

TEST(NumbersOfWindows, counts_beyond_32_bits) {
  const raster::BandInfo info{.type = raster::SampleType::uint8};
  const auto statistics = cli::BandStatistics::create(info, {.percentiles = {{.text = "50", .percent = 50}}});
  // Windows of 2^31 pixels each, of which all but one have the value 200.
  std::vector<std::byte> results(statistics->result_bytes());
  const auto count = [&](std::size_t value, std::uint32_t pixels) {
    std::memcpy(results.data() + results.size() - 4 * (256 - value), &pixels, 4);
  };
  count(200, (1U << 31) - 1);
  count(3, 1);
  constexpr std::uint64_t windows = 5;
  for (std::uint64_t i = 0; i < windows; ++i) {
    statistics->accept({.pixels = std::uint64_t{1} << 31, .results = results});
  }
  statistics->end_pass();
  const cli::BandFigures figures = statistics->figures();
  EXPECT_EQ(figures.valid, windows << 31);
  EXPECT_EQ(figures.sum, static_cast<double>(windows * (((std::uint64_t{1} << 31) - 1) * 200 + 3)));
  EXPECT_EQ(figures.percentiles.at(0).second, 200.0);
  const double share = 1.0 / static_cast<double>(std::uint64_t{1} << 31);
  EXPECT_NEAR(figures.deviation.value(), 197.0 * std::sqrt(share * (1.0 - share)), 1e-12);
}

TEST_F(Numbers, forty_million_ones) {
  GDALAllRegister();
  const Strings texts{"TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "COMPRESS=DEFLATE", "ZLEVEL=1"};
  const GDALDatasetH dataset = GDALCreate(GDALGetDriverByName("GTiff"), file("a.tif").c_str(), 8000, 5000, 1,
                                          GDT_Float32, const_cast<char**>(c_strings(texts).data()));
  ASSERT_NE(dataset, nullptr);
  ASSERT_EQ(GDALFillRaster(GDALGetRasterBand(dataset, 1), 1.0, 0.0), CE_None);
  GDALClose(dataset);
  const json found = first_band({"stats", file("a.tif")});
  EXPECT_EQ(found.at("valid"), 40000000);
  EXPECT_EQ(found.at("sum"), 40000000);
  EXPECT_EQ(found.at("mean"), 1);
  EXPECT_EQ(found.at("std"), 0);
}

TEST_F(Numbers, negative_and_zero_scale) {
  std::vector<std::uint16_t> samples;
  Values stored;
  for (int i = 0; i < 500; ++i) {
    samples.push_back(static_cast<std::uint16_t>(i * i % 401 + 1));
    stored.push_back(samples.back());
  }
  const auto with_scale = [&](const std::string& name, double scale) {
    make_typed<std::uint16_t>(file(name),
                              {.width = 25, .height = 20, .bands = {samples}, .prepare = [scale](GDALDatasetH dataset) {
                                 GDALSetRasterScale(GDALGetRasterBand(dataset, 1), scale);
                                 GDALSetRasterOffset(GDALGetRasterBand(dataset, 1), 7.0);
                               }});
    return file(name);
  };
  const Strings percentiles{"--percentiles", "0,2,33.3,50,98,100"};
  const auto expect_scaled = [&](Strings arguments, long double scale) {
    arguments.insert(arguments.end(), percentiles.begin(), percentiles.end());
    Values values;
    for (const long double value : stored) {
      values.push_back(value * scale + 7);
    }
    const json found = first_band(arguments);
    expect_figures(found, figures_of(values), 1e-12);
    expect_percentiles(found, values, 1e-13);
  };
  const std::string negative = with_scale("negative.tif", -0.3);
  expect_scaled({"stats", negative}, -0.3);
  expect_scaled({"stats", negative, "--scale", "0.25"}, 0.25);
  expect_scaled({"stats", negative, "--scale", "-2"}, -2);
  expect_scaled({"stats", negative, "--scale", "0"}, 1);
  // A scale of 0 in a file means that there is none.
  expect_scaled({"stats", with_scale("zero.tif", 0.0)}, 1);
  const json raw = first_band({"stats", negative, "--raw"});
  expect_figures(raw, figures_of(stored), 1e-13);
}

TEST_F(Numbers, bytes_with_a_nodata_that_is_no_byte) {
  for (const double no_data : {-1.0, -9999.0, 256.0, 0.5, std::numeric_limits<double>::quiet_NaN()}) {
    make_raster(file("a.tif"),
                {.width = 16, .height = 16, .no_data = no_data, .value = [](int, int x, int y) { return y * 16 + x; }});
    const json found = first_band({"stats", file("a.tif")});
    EXPECT_EQ(found.at("valid"), 256) << no_data;
    EXPECT_EQ(found.at("min"), 0);
    EXPECT_EQ(found.at("max"), 255);
    const json selection = run({"threshold", file("a.tif"), "--above", "255", "-o", file("out.tif"), "--overwrite"});
    EXPECT_EQ(selection.at("selected"), 1) << no_data;
    EXPECT_EQ(selection.at("invalid"), 0) << no_data;
  }
}

TEST_F(Numbers, south_up_and_rotated) {
  const auto value = [](int, int x, int y) { return 1 + x + 10 * y; };
  const std::vector<double> south_up{100.0, 10.0, 0.0, 500.0, 0.0, 10.0};
  make_raster(
      file("south.tif"),
      {.width = 8,
       .height = 6,
       .bands = 2,
       .prepare = [&](GDALDatasetH dataset) { GDALSetGeoTransform(dataset, const_cast<double*>(south_up.data())); },
       .value = value});
  // The second row from the top of the file, which lies south of the third.
  const json box = first_band({"stats", file("south.tif"), "-b", "1", "--bbox", "120,510,140,520"});
  EXPECT_EQ(box.at("valid"), 2);
  EXPECT_EQ(box.at("min"), value(1, 2, 1));
  EXPECT_EQ(box.at("max"), value(1, 3, 1));
  const std::vector<double> rotated{100.0, 6.0, -8.0, 500.0, 8.0, 6.0};
  make_raster(
      file("rotated.tif"),
      {.width = 8,
       .height = 6,
       .bands = 2,
       .prepare = [&](GDALDatasetH dataset) { GDALSetGeoTransform(dataset, const_cast<double*>(rotated.data())); },
       .value = value});
  EXPECT_EQ(first_band({"stats", file("rotated.tif"), "-b", "1"}).at("sum"),
            first_band({"stats", file("south.tif"), "-b", "1"}).at("sum"));
  for (const auto& [name, affine] : {std::pair{"south.tif", south_up}, std::pair{"rotated.tif", rotated}}) {
    run({"threshold", file(name), "-b", "1", "--above", "30", "-o", file("out.tif"), "--overwrite"});
    const Opened written(file("out.tif"));
    std::vector<double> found(6);
    ASSERT_EQ(GDALGetGeoTransform(written.dataset(), found.data()), CE_None);
    EXPECT_EQ(found, affine) << name;
    const std::vector<double> values = written.read(1);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i], value(1, static_cast<int>(i % 8), static_cast<int>(i / 8)) >= 30 ? 1 : 0) << i;
    }
  }
}

TEST_F(Numbers, integers_beyond_the_digits_of_double) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::vector<std::int64_t> samples{
      9007199254740993, -9007199254740993, least + 1, 9223372036854775807, least, 5};
  make_typed<std::int64_t>(
      file("signed.tif"),
      {.width = 3, .height = 2, .bands = {samples}, .options = {}, .prepare = [](GDALDatasetH dataset) {
         set_no_data<std::int64_t>(dataset, least);
       }});
  const json found = first_band({"stats", file("signed.tif"), "--percentiles", "50"});
  EXPECT_EQ(found.at("valid"), 5);
  EXPECT_EQ(found.at("min").get<std::int64_t>(), least + 1);
  EXPECT_EQ(found.at("max").get<std::int64_t>(), 9223372036854775807);
  EXPECT_EQ(found.at("sum"), 5);
  EXPECT_EQ(found.at("percentiles").at("50"), 5);
  make_typed<std::uint64_t>(
      file("unsigned.tif"),
      {.width = 2,
       .height = 2,
       .bands = {{18446744073709551615U, 9007199254740993U, 18446744073709551614U, 18446744073709551615U}},
       .options = {}});
  const json natural = first_band({"stats", file("unsigned.tif"), "--src-nodata", "18446744073709551615"});
  EXPECT_EQ(natural.at("valid"), 2);
  EXPECT_EQ(natural.at("min").get<std::uint64_t>(), 9007199254740993U);
  EXPECT_EQ(natural.at("max").get<std::uint64_t>(), 18446744073709551614U);
  const json info = run({"info", file("signed.tif")});
  EXPECT_EQ(info.at("bands").at(0).at("nodata").get<std::int64_t>(), least);
}

}  // namespace
}  // namespace tessera::testing
