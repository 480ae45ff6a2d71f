#include <cpl_conv.h>
#include <gdal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/job_test.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

/// Files that leave blocks out, which is how rasters of any size are made at once.
class SparseFiles : public JobTest {};

Strings sparse_options(int block, const Strings& more) {
  Strings options{"TILED=YES", "BLOCKXSIZE=" + std::to_string(block), "BLOCKYSIZE=" + std::to_string(block),
                  "SPARSE_OK=TRUE"};
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

/// One pixel of the first band.
void write_value(GDALDatasetH dataset, int x, int y, double value) {
  EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 1), GF_Write, x, y, 1, 1, &value, 1, 1, GDT_Float64, 0, 0),
            CE_None);
}

void make_internal_mask(GDALDatasetH dataset) {
  CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", "YES");
  EXPECT_EQ(GDALCreateDatasetMaskBand(dataset, GMF_PER_DATASET), CE_None);
  CPLSetConfigOption("GDAL_TIFF_INTERNAL_MASK", nullptr);
}

TEST_F(SparseFiles, sparse_tiles) {
  for (const bool declares : {true, false}) {
    make_raster(file("a.tif"), {.width = 200,
                                .height = 100,
                                .type = GDT_Int16,
                                .options = {"TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64", "SPARSE_OK=TRUE"},
                                .no_data = declares ? std::optional<double>(9.0) : std::nullopt,
                                .prepare = [](GDALDatasetH dataset) {
                                  std::vector<std::int16_t> tile(64 * 64, 5);
                                  EXPECT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, 1), GF_Write, 64, 0, 64, 64,
                                                         tile.data(), 64, 64, GDT_Int16, 0, 0),
                                            CE_None);
                                }});
    const json found = first_band({"stats", file("a.tif")});
    EXPECT_EQ(found.at("valid"), declares ? 4096 : 20000);
    EXPECT_EQ(found.at("min"), declares ? 5 : 0);
    EXPECT_EQ(found.at("sum"), 5 * 4096);
  }
}

TEST_F(SparseFiles, corners_of_a_raster_beyond_32_bits_of_pixels) {
  constexpr int last = 69999;
  const std::vector<std::pair<int, int>> corners{{0, 0}, {last, 0}, {0, last}, {last, last}};
  make_raster(file("a.tif"), {.width = last + 1,
                              .height = last + 1,
                              .type = GDT_UInt16,
                              .options = sparse_options(512, {"BIGTIFF=YES", "COMPRESS=DEFLATE"}),
                              .prepare = [&](GDALDatasetH dataset) {
                                double value = 1000;
                                for (const auto& [x, y] : corners) {
                                  write_value(dataset, x, y, value++);
                                }
                              }});
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto start = [](int place) { return std::to_string(place == 0 ? 0 : place - 299); };
    const json found = first_band({"stats", file("a.tif"), "--percentiles", "0,100", "--window",
                                   start(corners[i].first) + "," + start(corners[i].second) + ",300,300"});
    EXPECT_EQ(found.at("valid"), 90000);
    EXPECT_EQ(found.at("sum"), 1000 + i);
    EXPECT_EQ(found.at("max"), 1000 + i);
    EXPECT_EQ(found.at("percentiles").at("0"), 0);
  }
}

/// As many pixels as 64-bit counts are for. All but four blocks are absent, so that the scan ends soon.
TEST_F(SparseFiles, whole_scans_of_rasters_beyond_32_bits_of_pixels) {
  constexpr std::uint64_t size = 70000;
  constexpr std::uint64_t pixels = size * size;
  struct Case {
    GDALDataType type;
    std::optional<double> no_data;
  };
  for (const Case& each : {Case{GDT_UInt16, std::nullopt}, Case{GDT_Int32, 7.0}, Case{GDT_Float32, std::nullopt}}) {
    make_raster(file("a.tif"), {.width = size,
                                .height = size,
                                .type = each.type,
                                .options = sparse_options(512, {"BIGTIFF=YES", "COMPRESS=DEFLATE"}),
                                .no_data = each.no_data,
                                .prepare = [&](GDALDatasetH dataset) {
                                  double value = 1000;
                                  for (const int y : {0, 69999}) {
                                    for (const int x : {0, 69999}) {
                                      write_value(dataset, x, y, value++);
                                    }
                                  }
                                }});
    const json found = first_band({"stats", file("a.tif"), "--percentiles", "0,50,100"});
    // 1000 to 1003, and zeros unless what is absent is nodata.
    const std::uint64_t valid = each.no_data ? 4 : pixels;
    EXPECT_EQ(found.at("valid"), valid);
    EXPECT_EQ(found.at("invalid"), pixels - valid);
    EXPECT_EQ(found.at("invalid_by").at("nodata"), pixels - valid);
    EXPECT_EQ(found.at("sum"), 4006);
    EXPECT_EQ(found.at("min"), each.no_data ? 1000 : 0);
    EXPECT_EQ(found.at("max"), 1003);
    const double count = static_cast<double>(valid);
    const double mean = 4006 / count;
    EXPECT_DOUBLE_EQ(found.at("mean").get<double>(), mean);
    const double squares = 1000.0 * 1000 + 1001.0 * 1001 + 1002.0 * 1002 + 1003.0 * 1003;
    EXPECT_NEAR(found.at("std").get<double>(), std::sqrt(squares / count - mean * mean), 1e-9);
    EXPECT_EQ(found.at("percentiles").at("50"), each.no_data ? 1001.5 : 0);
    EXPECT_EQ(found.at("percentiles").at("100"), 1003);
  }
  // The last of them.
  const json bins = first_band({"histogram", file("a.tif"), "--bins", "2", "--min", "0", "--max", "2000"});
  EXPECT_EQ(bins.at("counts"), (json{pixels - 4, 4}));
}

/// 512 million pixels with a mask that takes out what it does not hold, in windows of two bands.
TEST_F(SparseFiles, a_whole_scan_beyond_500_million_pixels) {
  constexpr std::uint64_t size = 22630;
  constexpr std::uint64_t pixels = size * size;
  make_raster(file("a.tif"),
              {.width = size,
               .height = size,
               .bands = 2,
               .type = GDT_Int16,
               .options = sparse_options(512, {"INTERLEAVE=BAND"}),
               .prepare = [](GDALDatasetH dataset) {
                 make_internal_mask(dataset);
                 const std::vector<std::uint8_t> accepted(300 * 200, 255);
                 ASSERT_EQ(GDALRasterIO(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), GF_Write, 22000, 11000, 300,
                                        200, const_cast<std::uint8_t*>(accepted.data()), 300, 200, GDT_Byte, 0, 0),
                           CE_None);
                 write_value(dataset, 22100, 11100, -5);
                 write_value(dataset, 3, 3, 77);  // masked
               }});
  const json bands = run({"stats", file("a.tif")}).at("bands");
  for (const json& band : bands) {
    const bool is_first = band.at("band") == 1;
    EXPECT_EQ(band.at("valid"), 60000);
    EXPECT_EQ(band.at("invalid_by").at("mask"), pixels - 60000);
    EXPECT_EQ(band.at("sum"), is_first ? -5 : 0);
    EXPECT_EQ(band.at("min"), is_first ? -5 : 0);
    EXPECT_EQ(band.at("max"), 0);
  }
}

/// What is absent counts like what is there.
TEST_F(SparseFiles, sparse_files_give_what_dense_ones_do) {
  const auto twins = [&](GDALDataType type, std::optional<double> no_data, bool with_mask) {
    for (const bool sparse : {true, false}) {
      make_raster(file(sparse ? "sparse.tif" : "dense.tif"),
                  {.width = 900,
                   .height = 800,
                   .bands = 2,
                   .type = type,
                   .options = sparse ? sparse_options(64, {}) : Strings{"TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"},
                   .no_data = no_data,
                   .prepare = [&](GDALDatasetH dataset) {
                     if (with_mask) {
                       make_internal_mask(dataset);
                     }
                     std::vector<double> values;
                     for (int i = 0; i < 200 * 150; ++i) {
                       values.push_back(i % 13 == 0 ? 7 : i % 90 + 1);
                     }
                     for (const int band : {1, 2}) {
                       ASSERT_EQ(GDALRasterIO(GDALGetRasterBand(dataset, band), GF_Write, 300, 200 * band, 200, 150,
                                              values.data(), 200, 150, GDT_Float64, 0, 0),
                                 CE_None);
                     }
                     if (with_mask) {
                       ASSERT_EQ(GDALRasterIO(GDALGetMaskBand(GDALGetRasterBand(dataset, 1)), GF_Write, 350, 250, 200,
                                              150, values.data(), 200, 150, GDT_Float64, 0, 0),
                                 CE_None);
                     }
                   }});
    }
  };
  make_raster(file("quality.tif"),
              {.width = 900, .height = 800, .options = sparse_options(64, {}), .prepare = [](GDALDatasetH dataset) {
                 write_value(dataset, 310, 210, 1);
               }});
  const Strings quality{"--mask", file("quality.tif"), "--mask-values", "1"};
  const auto expect_twins = [&](Strings command, const Strings& more) {
    // Small windows, so that many hold nothing.
    command.insert(command.end(), {"--threads", "1", "--memory", "2M"});
    command.insert(command.end(), more.begin(), more.end());
    const auto of = [&](const std::string& name) {
      Strings arguments = command;
      arguments.insert(arguments.begin() + 1, file(name));
      return run(arguments).at("bands");
    };
    EXPECT_EQ(of("sparse.tif"), of("dense.tif"));
  };
  struct Case {
    GDALDataType type;
    std::optional<double> no_data;
    bool with_mask;
  };
  for (const Case& each : {Case{GDT_Int16, std::nullopt, false}, Case{GDT_UInt32, 7.0, true},
                           Case{GDT_Float32, 7.0, true}, Case{GDT_Float64, 7.0, false}}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, GDALGetDataTypeName(each.type));
    twins(each.type, each.no_data, each.with_mask);
    expect_twins({"stats", "--percentiles", "1,50,99"}, {});
    expect_twins({"stats"}, quality);
    expect_twins({"histogram", "--bins", "7"}, {"--window", "17,33,800,700", "--on-error", "skip"});
  }
}

}  // namespace
}  // namespace tessera::testing
