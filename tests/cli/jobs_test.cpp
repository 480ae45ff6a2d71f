#include <gdal.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "cli/command_process.hpp"
#include "cli/opened_raster.hpp"
#include "cli/plain_figures.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

class Jobs : public CommandTest {
 protected:
  std::string two_bands(const std::string& name, int width = 70, int height = 50) const {
    make_raster(file(name), {.width = width,
                             .height = height,
                             .bands = 2,
                             .type = GDT_UInt16,
                             .no_data = 0.0,
                             .value = [](int band, int x, int y) { return (band * 31 + x * 7 + y * 13) % 97; }});
    return file(name);
  }
  std::vector<std::string> ndvi_of(const std::string& scene, const std::string& output) const {
    return {"ndvi", scene, "--red", "1", "--nir", "2", "-o", output};
  }
};

TEST_F(Jobs, statistics_agree_with_plain_loops) {
  const std::string path = file("bands.tif");
  make_raster(path, {.width = 131,
                     .height = 67,
                     .bands = 2,
                     .type = GDT_Int16,
                     .options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16"},
                     .no_data = -5.0,
                     .prepare =
                         [](GDALDatasetH dataset) {
                           GDALSetRasterScale(GDALGetRasterBand(dataset, 2), -0.25);
                           GDALSetRasterOffset(GDALGetRasterBand(dataset, 2), 3.0);
                         },
                     .value = [](int band, int x, int y) { return (x * 37 + y * 101 + band) % 211 - 100; }});
  const Opened raster(path);
  for (const bool raw : {true, false}) {
    std::vector<std::string> arguments{"stats", path, "--json"};
    if (raw) {
      arguments.push_back("--raw");
    }
    const ProcessResult result = tessera(arguments);
    ASSERT_EQ(result.code, 0) << result.output;
    const json document = result.document();
    EXPECT_EQ(document.at("domain"), raw ? "raw" : "calibrated");
    for (int band = 1; band <= 2; ++band) {
      Values values;
      for (const double value : raster.read(band)) {
        if (value != -5.0) {
          values.push_back(!raw && band == 2 ? value * -0.25 + 3.0 : value);
        }
      }
      ASSERT_LT(values.size(), 131u * 67u);
      expect_figures(document.at("bands").at(static_cast<std::size_t>(band - 1)), figures_of(values), 1e-12);
    }
  }
}

TEST_F(Jobs, bands_are_chosen_by_number_and_kept_in_that_order) {
  const std::string path = two_bands("two.tif");
  const ProcessResult result = tessera({"stats", "-b", "2,1", path, "--json"});
  ASSERT_EQ(result.code, 0) << result.output;
  const json bands = result.document().at("bands");
  ASSERT_EQ(bands.size(), 2u);
  EXPECT_EQ(bands.at(0).at("band"), 2);
  EXPECT_EQ(bands.at(1).at("band"), 1);
}

TEST_F(Jobs, ndvi_of_a_synthetic_scene) {
  const auto make_scene = program_of("TESSERA_MAKE_SCENE");
  if (!make_scene) {
    GTEST_SKIP() << "TESSERA_MAKE_SCENE is not set";
  }
  const std::string path = file("scene.tif");
  ASSERT_EQ(run_process({*make_scene, path, "300", "200", "3"}).code, 0);
  const ProcessResult result =
      tessera({"ndvi", path, "--red", "red", "--nir", "near_infrared", "-o", file("ndvi.tif"), "--json"});
  ASSERT_EQ(result.code, 0) << result.output;

  const Opened scene(path);
  const Opened index(file("ndvi.tif"));
  const std::vector<double> red = scene.read(1);
  const std::vector<double> near_infrared = scene.read(2);
  const std::vector<double> written = index.read(1);
  ASSERT_EQ(written.size(), red.size());
  Values values;
  for (std::size_t i = 0; i < red.size(); ++i) {
    if (red[i] == 65535.0 || near_infrared[i] == 65535.0) {
      ASSERT_TRUE(std::isnan(written[i])) << i;
      continue;
    }
    const double expected = (near_infrared[i] - red[i]) / (near_infrared[i] + red[i]);
    values.push_back(expected);
    ASSERT_NEAR(written[i], expected, 1e-6) << i;
  }
  ASSERT_LT(values.size(), red.size());
  const Figures expected = figures_of(values);
  const json found = result.document();
  EXPECT_EQ(found.at("valid").get<std::uint64_t>(), expected.valid);
  EXPECT_EQ(found.at("invalid").get<std::uint64_t>(), red.size() - expected.valid);
  EXPECT_NEAR(found.at("min").get<double>(), static_cast<double>(expected.minimum), 1e-6);
  EXPECT_NEAR(found.at("max").get<double>(), static_cast<double>(expected.maximum), 1e-6);
  EXPECT_NEAR(found.at("mean").get<double>(), static_cast<double>(expected.mean), 1e-6);
  EXPECT_NEAR(found.at("std").get<double>(), static_cast<double>(expected.deviation), 1e-6);

  int has_no_data = 0;
  EXPECT_TRUE(std::isnan(GDALGetRasterNoDataValue(index.band(1), &has_no_data)));
  EXPECT_EQ(has_no_data, 1);
  EXPECT_EQ(GDALGetRasterDataType(index.band(1)), GDT_Float32);
  std::vector<double> from(6);
  std::vector<double> to(6);
  ASSERT_EQ(GDALGetGeoTransform(scene.dataset(), from.data()), CE_None);
  ASSERT_EQ(GDALGetGeoTransform(index.dataset(), to.data()), CE_None);
  EXPECT_EQ(to, from);
  EXPECT_STREQ(GDALGetProjectionRef(index.dataset()), GDALGetProjectionRef(scene.dataset()));
}

TEST_F(Jobs, an_existing_output_is_replaced_only_on_demand) {
  const std::string scene = two_bands("scene.tif");
  write_text(file("out.tif"), "something good");
  EXPECT_EQ(failure_of(ndvi_of(scene, file("out.tif"))), "file_exists");
  EXPECT_EQ(read_text(file("out.tif")), "something good");
  std::vector<std::string> arguments = ndvi_of(scene, file("out.tif"));
  arguments.push_back("--overwrite");
  EXPECT_EQ(tessera(arguments).code, 0);
  EXPECT_EQ(GDALGetRasterXSize(Opened(file("out.tif")).dataset()), 70);
}

TEST_F(Jobs, an_input_is_never_the_output) {
  const std::string scene = two_bands("scene.tif");
  const std::string before = read_text(scene);
  std::vector<std::string> arguments = ndvi_of(scene, scene);
  arguments.push_back("--overwrite");
  failure_of(arguments);
  EXPECT_EQ(read_text(scene), before);
}

TEST_F(Jobs, failures_leave_no_file) {
  const std::string scene = two_bands("scene.tif");
  const std::string other = two_bands("other.tif", 71, 50);
  write_text(file("plain"), "");
  const std::vector<std::string> before = folder().names();
  EXPECT_EQ(failure_of({"ndvi", scene, "--red", "1", "--nir", "3", "-o", file("out.tif")}), "band_out_of_range");
  EXPECT_EQ(failure_of({"ndvi", "--red", scene + ",1", "--nir", other + ",2", "-o", file("out.tif")}), "grid_mismatch");
  EXPECT_EQ(failure_of(ndvi_of(file("missing.tif"), file("out.tif"))), "file_not_found");
  EXPECT_EQ(failure_of(ndvi_of(scene, file("no_folder/out.tif"))), "file_unwritable");
  EXPECT_EQ(failure_of(ndvi_of(scene, file("plain/out.tif"))), "file_unwritable");
  std::vector<std::string> arguments = ndvi_of(scene, file("out.tif"));
  arguments.insert(arguments.end(), {"--memory", "4K"});
  EXPECT_EQ(failure_of(arguments), "limit_exceeded");
  std::vector<std::string> after = folder().names();
  std::vector<std::string> sorted = before;
  std::sort(sorted.begin(), sorted.end());
  std::sort(after.begin(), after.end());
  EXPECT_EQ(after, sorted);
}

TEST_F(Jobs, an_interrupted_job_leaves_no_file) {
  // Sparse, so that it is made at once and still takes long to work through.
  make_raster(file("large.tif"), {.width = 20000,
                                  .height = 20000,
                                  .bands = 2,
                                  .type = GDT_UInt16,
                                  .options = {"TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "SPARSE_OK=TRUE"}});
  const auto interrupt = [&](pid_t process) {
    // The output's temporary file says that the job is under way.
    for (int i = 0; i < 1200 && folder().names().size() < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    EXPECT_EQ(::kill(process, SIGINT), 0);
  };
  std::vector<std::string> arguments = ndvi_of(file("large.tif"), file("out.tif"));
  arguments.push_back("--json");
  const ProcessResult result = tessera(arguments, interrupt);
  EXPECT_EQ(result.code, 130) << result.output;
  EXPECT_EQ(result.document().at("error").at("code"), "cancelled");
  EXPECT_EQ(folder().names(), (std::vector<std::string>{"large.tif"}));
}

}  // namespace
}  // namespace tessera::testing
