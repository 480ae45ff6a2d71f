#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "cli/command_process.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

/// The published figures of real scenes.
class ReferenceFigures : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const auto data = test_data();
    if (!data) {
      GTEST_SKIP() << "TESSERA_TEST_DATA is not set";
    }
    data_ = data->string();
    facts_ = json::parse(read_text(at("reference_facts.json")));
  }

  std::string at(const std::string& name) const { return data_ + "/" + name; }
  const json& facts() const { return facts_; }

 private:
  std::string data_;
  json facts_;
};

void expect_relative(const json& found, double expected, const std::string& what) {
  ASSERT_TRUE(found.is_number()) << what;
  EXPECT_LE(std::abs(found.get<double>() - expected), 1e-9 * std::abs(expected)) << what << ": " << found;
}

void expect_band(const json& found, const json& facts, const std::string& what) {
  const std::uint64_t valid = facts.at("valid_count");
  EXPECT_EQ(found.at("valid").get<std::uint64_t>(), valid) << what;
  EXPECT_EQ(found.at("valid").get<std::uint64_t>() + found.at("invalid").get<std::uint64_t>(),
            facts.at("pixels").get<std::uint64_t>())
      << what;
  if (valid == 0) {
    for (const char* field : {"min", "max", "mean", "std", "sum"}) {
      EXPECT_TRUE(found.at(field).is_null()) << what << ' ' << field;
    }
    return;
  }
  EXPECT_EQ(found.at("min").get<double>(), facts.at("min").get<double>()) << what;
  EXPECT_EQ(found.at("max").get<double>(), facts.at("max").get<double>()) << what;
  expect_relative(found.at("mean"), facts.at("mean"), what + " mean");
  expect_relative(found.at("std"), facts.at("std"), what + " std");
}

TEST_F(ReferenceFigures, raw_statistics_of_every_raster) {
  for (const auto& [name, raster] : facts().at("rasters").items()) {
    const ProcessResult result = tessera({"stats", at(name), "--raw", "--json"});
    ASSERT_EQ(result.code, 0) << name << ": " << result.output;
    const json document = result.document();
    EXPECT_EQ(document.at("domain"), "raw");
    ASSERT_EQ(document.at("bands").size(), raster.at("band_facts").size()) << name;
    for (std::size_t i = 0; i < document.at("bands").size(); ++i) {
      expect_band(document.at("bands").at(i), raster.at("band_facts").at(i), name + " band " + std::to_string(i + 1));
    }
  }
}

struct IndexCase {
  std::string name;  ///< in the reference facts
  std::vector<std::string> inputs;
};

TEST_F(ReferenceFigures, ndvi_of_real_scenes) {
  const std::vector<IndexCase> cases{
      {"L7_ETMs.tif (NIR b4, red b3)", {at("L7_ETMs.tif"), "--red", "3", "--nir", "4"}},
      {"LC08_B5_nir.tif / LC08_B4_red.tif", {"--red", at("LC08_B4_red.tif"), "--nir", at("LC08_B5_nir.tif")}},
      {"sr_b5_20200829.tif / sr_b4_20200829.tif",
       {"--red", at("sr_b4_20200829.tif"), "--nir", at("sr_b5_20200829.tif") + ",1"}},
      {"naip_rgbn.tif (NIR b4, red b1)", {at("naip_rgbn.tif"), "--red", "1", "--nir", "4"}},
      {"sent2_L2A_nan.tif (B08 b4, B04 b3)", {at("sent2_L2A_nan.tif"), "--red", "B04", "--nir", "B08"}},
  };
  for (const IndexCase& scene : cases) {
    std::vector<std::string> arguments{"ndvi"};
    arguments.insert(arguments.end(), scene.inputs.begin(), scene.inputs.end());
    arguments.insert(arguments.end(), {"-o", file("ndvi.tif"), "--overwrite", "--json"});
    const ProcessResult result = tessera(arguments);
    ASSERT_EQ(result.code, 0) << scene.name << ": " << result.output;
    const json found = result.document();
    const json& expected = facts().at("ndvi").at(scene.name);
    EXPECT_EQ(found.at("valid"), expected.at("count")) << scene.name;
    for (const char* field : {"min", "max", "mean", "std"}) {
      EXPECT_NEAR(found.at(field).get<double>(), expected.at(field).get<double>(), 1e-6) << scene.name << ' ' << field;
    }
  }
}

TEST_F(ReferenceFigures, ndvi_without_a_valid_pixel_is_a_result) {
  const ProcessResult result =
      tessera({"ndvi", at("all-nodata.tif"), "--red", "red", "--nir", "nir", "-o", file("ndvi.tif"), "--json"});
  ASSERT_EQ(result.code, 0) << result.output;
  EXPECT_EQ(result.document().at("valid"), 0);
  EXPECT_TRUE(result.document().at("mean").is_null());
}

}  // namespace
}  // namespace tessera::testing
