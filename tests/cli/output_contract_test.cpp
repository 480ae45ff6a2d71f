#include <gdal.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/opened_raster.hpp"
#include "cli/output_contract.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

TEST_F(OutputContract, an_existing_output_is_refused_with_the_way_out) {
  write_text(output(), "something good");
  for_each_writer([&](const Command& command) {
    std::string message;
    EXPECT_EQ(failure_of(call(command, scene()), 1, &message), "file_exists");
    EXPECT_TRUE(holds(message, "--overwrite") && holds(message, "out.tif")) << message;
    EXPECT_EQ(read_text(output()), "something good");
  });
  EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "scene.tif"}));
}

TEST_F(OutputContract, overwrite_replaces_and_takes_stale_sidecars_along) {
  for_each_writer([&](const Command& command) {
    write_text(output(), "something old");
    for (const char* suffix : {".aux.xml", ".ovr", ".msk"}) {
      write_text(output() + suffix, "stale");
    }
    expect_done(call(command, scene(), {"--overwrite", "-q"}));
    EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "scene.tif"}));
    EXPECT_EQ(GDALGetRasterXSize(Opened(output()).dataset()), width);
  });
}

TEST_F(OutputContract, an_input_is_never_the_output) {
  std::filesystem::create_symlink(scene(), file("link.tif"));
  {
    const Opened source(scene());
    const GDALDatasetH copy = GDALCreateCopy(GDALGetDriverByName("VRT"), file("scene.vrt").c_str(), source.dataset(),
                                             FALSE, nullptr, nullptr, nullptr);
    ASSERT_NE(copy, nullptr);
    GDALClose(copy);
  }
  const std::string before = read_text(scene());
  const Arguments names = sorted_names();
  for_each_writer([&](const Command& command) {
    for (const auto& [input, target] : std::vector<std::pair<std::string, std::string>>{{scene(), scene()},
                                                                                        {scene(), file("link.tif")},
                                                                                        {file("link.tif"), scene()},
                                                                                        {file("scene.vrt"), scene()}}) {
      failure_of(recipes().at(command.name)(input, "1") + Arguments{"-o", target, "--overwrite"});
      EXPECT_EQ(read_text(scene()), before);
    }
    EXPECT_EQ(sorted_names(), names);
  });
}

TEST_F(OutputContract, unknown_formats_options_and_types_are_refused_before_work) {
  for_each_writer([&](const Command& command) {
    std::string message;
    EXPECT_EQ(failure_of(call(command, scene(), {"--of", "NoSuchFormat"}), 2, &message), "invalid_option");
    EXPECT_TRUE(holds(message, "--of") && holds(message, "NoSuchFormat")) << message;
    // A format that GDAL only reads.
    EXPECT_EQ(failure_of(call(command, scene(), {"--of", "SENTINEL2"}), 2), "invalid_option");
    for (const std::string format : {"GTiff", "COG"}) {
      EXPECT_EQ(failure_of(call(command, scene(), {"--of", format, "--co", "NO_SUCH_OPTION=1"}), 2, &message),
                "invalid_option");
      EXPECT_TRUE(holds(message, "--co") && holds(message, "NO_SUCH_OPTION")) << message;
      EXPECT_EQ(failure_of(call(command, scene(), {"--of", format, "--co", "COMPRESS=MUCH"}), 2, &message),
                "invalid_option");
      EXPECT_TRUE(holds(message, "MUCH")) << message;
    }
    // Known to the driver by name, and only then found to be impossible.
    EXPECT_EQ(failure_of(call(command, scene(), {"--co", "BLOCKXSIZE=17"}), 2, &message), "invalid_option");
    EXPECT_TRUE(holds(message, "17")) << message;
    failure_of(call(command, scene(), {"--co", "without a value"}), 2);
    failure_of(call(command, scene(), {"--ot", "CFloat32"}), 2);
    failure_of(call(command, scene(), {"--nodata", "much"}), 2);
    failure_of(call(command, scene(), {"--ot", "Byte", "--nodata", "256"}), 2);
    failure_of(call(command, scene(), {"--ot", "Byte", "--nodata", "nan"}), 2);
    expect_only_the_scene();
  });
}

TEST_F(OutputContract, formats_that_are_only_copied) {
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"--of", "COG", "-q"}));
    EXPECT_EQ(Opened(output()).item("LAYOUT", "IMAGE_STRUCTURE"), "COG");
    remove_output();
    expect_only_the_scene();
    // As bytes every result fits into a PNG.
    const Arguments png = recipes().at(command.name)(scene(), "1") + Arguments{"-o", file("out.png"), "--of", "PNG"};
    expect_done(png + Arguments{"--ot", "Byte", "-q"});
    EXPECT_EQ(GDALGetRasterDataType(Opened(file("out.png")).band(1)), GDT_Byte);
    for (const char* name : {"out.png", "out.png.aux.xml"}) {
      std::filesystem::remove(file(name));
    }
    std::string message;
    failure_of(png + Arguments{"--ot", "Float32"}, 1, &message);
    EXPECT_TRUE(holds(message, "PNG") && holds(message, "Float32")) << message;
    expect_only_the_scene();
  });
}

TEST_F(OutputContract, creation_options_and_types_reach_the_file) {
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"--co", "COMPRESS=LZW", "--co", "BLOCKXSIZE=16", "--ot", "Int16", "-q"}));
    {
      const Opened written(output());
      EXPECT_EQ(written.item("COMPRESSION", "IMAGE_STRUCTURE"), "LZW");
      int block_width = 0;
      int block_height = 0;
      GDALGetBlockSize(written.band(1), &block_width, &block_height);
      EXPECT_EQ(block_width, 16);
      EXPECT_EQ(GDALGetRasterDataType(written.band(1)), GDT_Int16);
      // Unless told otherwise, missing pixels have the smallest value.
      EXPECT_EQ(GDALGetRasterNoDataValue(written.band(1), nullptr), -32768);
      EXPECT_EQ(static_cast<std::uint64_t>(count_of(written.read(1), -32768)), missing_of_scene());
    }
    remove_output();
  });
}

TEST_F(OutputContract, nodata_is_what_was_asked_for) {
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"--nodata", "77", "-q"}));
    {
      const Opened written(output());
      int has_no_data = 0;
      EXPECT_EQ(GDALGetRasterNoDataValue(written.band(1), &has_no_data), 77);
      EXPECT_EQ(has_no_data, 1);
      EXPECT_EQ(static_cast<std::uint64_t>(count_of(written.read(1), 77)), missing_of_scene());
    }
    remove_output();
    expect_done(call(command, scene(), {"--nodata", "none", "-q"}));
    {
      const Opened written(output());
      int has_no_data = 1;
      GDALGetRasterNoDataValue(written.band(1), &has_no_data);
      EXPECT_EQ(has_no_data, 0);
      EXPECT_EQ(GDALGetMaskFlags(written.band(1)), GMF_PER_DATASET);
      const std::vector<double> mask = written.read_mask(1);
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          ASSERT_EQ(mask[static_cast<std::size_t>(y * width + x)] == 0, scene_value(1, x, y) == 0) << x << ' ' << y;
        }
      }
    }
    EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "scene.tif"}));
    remove_output();
  });
}

TEST_F(OutputContract, a_valid_result_that_equals_nodata_is_an_error_that_says_how_many) {
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"-q"}));
    const std::int64_t zeros = count_of(Opened(output()).read(1), 0);
    ASSERT_GT(zeros, 0);
    remove_output();
    std::string message;
    EXPECT_EQ(failure_of(call(command, scene(), {"--nodata", "0"}), 1, &message), "invalid_argument");
    EXPECT_TRUE(holds(message, std::to_string(zeros) + " in band 1")) << message;
    EXPECT_TRUE(holds(message, "--allow-collision")) << message;
    expect_only_the_scene();
    expect_done(call(command, scene(), {"--nodata", "0", "--allow-collision", "-q"}));
    EXPECT_EQ(static_cast<std::uint64_t>(count_of(Opened(output()).read(1), 0)),
              static_cast<std::uint64_t>(zeros) + missing_of_scene());
    remove_output();
  });
}

TEST_F(OutputContract, outputs_without_a_place) {
  write_text(file("plain"), "");
  const Arguments names = sorted_names();
  for_each_writer([&](const Command& command) {
    const Arguments arguments = recipes().at(command.name)(scene(), "1");
    EXPECT_EQ(failure_of(arguments + Arguments{"-o", file("no_folder/out.tif")}), "file_unwritable");
    EXPECT_EQ(failure_of(arguments + Arguments{"-o", file("plain/out.tif")}), "file_unwritable");
    failure_of(arguments + Arguments{"-o", folder().path().string()});
    failure_of(arguments + Arguments{"-o", folder().path().string(), "--overwrite"});
    failure_of(arguments + Arguments{"-o", ""}, 2);
    EXPECT_EQ(sorted_names(), names);
  });
}

TEST_F(OutputContract, a_folder_without_permission) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root writes everywhere";
  }
  std::filesystem::permissions(folder().path(),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  for_each_writer([&](const Command& command) { EXPECT_EQ(failure_of(call(command, scene())), "file_unwritable"); });
  expect_only_the_scene();
}

TEST_F(OutputContract, a_result_on_the_area_alone_has_its_place) {
  make_scene("scene.tif", {.prepare = [](GDALDatasetH dataset) {
               double affine[6] = {1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0};
               GDALSetGeoTransform(dataset, affine);
             }});
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"-q"}));
    const std::vector<double> whole = Opened(output()).read(1);
    remove_output();
    expect_done(call(command, scene(), {"--window", "40,17,30,33", "-q"}));
    {
      const Opened part(output());
      std::vector<double> affine(6);
      ASSERT_EQ(GDALGetGeoTransform(part.dataset(), affine.data()), CE_None);
      EXPECT_EQ(affine, (std::vector<double>{1400.0, 10.0, 0.0, 1830.0, 0.0, -10.0}));
      const std::vector<double> values = part.read(1);
      ASSERT_EQ(values.size(), 30u * 33u);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = whole[(17 + i / 30) * width + 40 + i % 30];
        ASSERT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected))) << i;
      }
    }
    remove_output();
  });
}

TEST_F(OutputContract, statistics_of_the_input_do_not_travel) {
  make_scene("scene.tif", {.prepare = [](GDALDatasetH dataset) {
               GDALSetRasterStatistics(GDALGetRasterBand(dataset, 1), 1, 2, 1.5, 0.5);
               GDALSetMetadataItem(dataset, "AREA_OR_POINT", "Point", nullptr);
               double affine[6] = {1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0};
               GDALSetGeoTransform(dataset, affine);
             }});
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"-q"}));
    {
      const Opened written(output());
      EXPECT_EQ(GDALGetMetadataItem(written.band(1), "STATISTICS_MAXIMUM", nullptr), nullptr);
      EXPECT_EQ(written.item("AREA_OR_POINT", nullptr), "Point");
    }
    remove_output();
  });
}

/// The chart and the report are files that a command writes beside its results.
TEST_F(OutputContract, charts_and_reports_follow_the_same_rules) {
  const Arguments chart{"histogram", scene(), "-b", "1", "--png", file("out.png")};
  write_text(file("out.png"), "something good");
  std::string message;
  EXPECT_EQ(failure_of(chart, 1, &message), "file_exists");
  EXPECT_TRUE(holds(message, "--overwrite")) << message;
  EXPECT_EQ(read_text(file("out.png")), "something good");
  expect_done(chart + Arguments{"--overwrite", "-q"});
  EXPECT_EQ(GDALGetRasterXSize(Opened(file("out.png")).dataset()), 640);
  const std::string before = read_text(scene());
  failure_of({"histogram", scene(), "-b", "1", "--png", scene(), "--overwrite"});
  EXPECT_EQ(read_text(scene()), before);
  write_text(file("report.txt"), "something good");
  failure_of({"selftest", "--operation", "mask", "--cases", "1", "--report", file("report.txt")});
  EXPECT_EQ(read_text(file("report.txt")), "something good");
}

}  // namespace
}  // namespace tessera::testing
