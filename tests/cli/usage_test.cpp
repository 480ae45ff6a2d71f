#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "cli/command_recipes.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

class Usage : public CommandTest {
 protected:
  std::string small_raster(const std::string& name = "small.tif") const {
    make_raster(file(name), {.bands = 2, .value = [](int band, int x, int y) { return band + x + y; }});
    return file(name);
  }
};

TEST_F(Usage, mistakes_in_the_call_give_2_and_a_text) {
  const std::string raster = small_raster();
  const std::vector<std::vector<std::string>> calls{
      {},
      {"no_such_command"},
      {"stats"},
      {"stats", raster, "--no-such-option"},
      {"stats", raster, "-b", "0"},
      {"stats", raster, "-b", "x"},
      {"stats", raster, "--threads", "0"},
      {"stats", raster, "--memory", "much"},
      {"ndvi", raster, "--red", "1", "--nir", "2"},
      {"ndvi", raster, "--red", "1", "-o", file("out.tif")},
      {"ndvi", "--red", "1", "--nir", "2", "-o", file("out.tif")},
      {"ndvi", raster, "--red", "0", "--nir", "2", "-o", file("out.tif")},
      {"ndvi", "--red", raster, "--nir", raster, "-o", file("out.tif")},
      {"selftest", "--cases", "0"},
      {"stats", raster, "--percentiles", "101"},
      {"stats", raster, "--percentiles", "-1"},
      {"stats", raster, "--percentiles", "2,,98"},
      {"stats", raster, "--percentiles", "50,50"},
      {"stats", raster, "--percentiles", "nan"},
      {"histogram", raster, "--bins", "0"},
      {"histogram", raster, "--bins", "65537"},
      {"histogram", raster, "-b", "1", "--min", "5", "--max", "1"},
      {"histogram", raster, "-b", "1", "--min", "nan"},
      {"histogram", raster, "-b", "1", "--max", "inf"},
      {"histogram", raster, "--overwrite"},
      {"histogram", raster, "--png", file("out.png")},
      {"threshold", raster, "-b", "1", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--above", "1", "--below", "2", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--above", "nan", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--between", "2,1", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--between", "2", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--above", "1", "--bins", "7", "-o", file("out.tif")},
      {"threshold", raster, "--above", "1", "-o", file("out.tif")},
      {"threshold", raster, "-b", "1", "--above", "1"},
      {"threshold", raster, "another", "-b", "1", "--above", "1", "-o", file("out.tif")},
  };
  for (const auto& call : calls) {
    const ProcessResult result = tessera(call);
    const std::string what = call.empty() ? "no argument" : call.front() + " " + call.back();
    EXPECT_EQ(result.code, 2) << what;
    EXPECT_EQ(result.output, "") << what;
    EXPECT_NE(result.errors, "") << what;
  }
  EXPECT_EQ(folder().names(), (std::vector<std::string>{"small.tif"}));
}

TEST_F(Usage, help_names_the_options_and_gives_an_example) {
  const ProcessResult all = tessera({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const std::string command : {"devices", "info", "stats", "histogram", "ndvi", "threshold", "selftest"}) {
    EXPECT_NE(all.output.find("\n  " + command + " "), std::string::npos) << command;
    const ProcessResult help = tessera({command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_NE(help.output.find("Usage: tessera " + command), std::string::npos) << command;
    EXPECT_NE(help.output.find("--json"), std::string::npos) << command;
    EXPECT_NE(help.output.find("tessera " + command, help.output.find("Example")), std::string::npos) << command;
  }
}

TEST_F(Usage, version_is_that_of_the_library) {
  const ProcessResult result = tessera({"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.output.rfind("tessera ", 0), 0u);
  EXPECT_NE(result.output.find('.'), std::string::npos);
  const ProcessResult as_json = tessera({"--version", "--json"});
  EXPECT_EQ(as_json.code, 0);
  const json document = as_json.document();
  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_EQ("tessera " + document.at("version").get<std::string>() + "\n", result.output);
}

TEST_F(Usage, options_as_one_document) {
  const ProcessResult all = tessera({"--json-usage"});
  ASSERT_EQ(all.code, 0) << all.errors;
  const json usage = all.document();
  EXPECT_EQ(usage.at("schema"), 1);
  for (const json& entry : usage.at("subcommands")) {
    const std::string name = entry.at("command");
    EXPECT_FALSE(entry.at("description").get<std::string>().empty()) << name;
    EXPECT_NE(entry.at("notes").get<std::string>().find("tessera " + name), std::string::npos) << name;
    for (const json& option : entry.at("options")) {
      EXPECT_FALSE(option.at("names").empty()) << name;
      EXPECT_FALSE(option.at("description").get<std::string>().empty()) << name << option;
    }
    const ProcessResult one = tessera({name, "--json-usage"});
    EXPECT_EQ(one.code, 0) << name;
    EXPECT_EQ(one.document().at("options"), entry.at("options")) << name;
  }
  const std::vector<Command> commands = commands_of(usage);
  const auto threshold = std::find_if(commands.begin(), commands.end(),
                                      [](const Command& command) { return command.name == "threshold"; });
  ASSERT_NE(threshold, commands.end());
  EXPECT_TRUE(threshold->reads() && threshold->reads_pixels() && threshold->writes());
  EXPECT_TRUE(threshold->has("--output-data-type") && threshold->has("--ot") && threshold->has("-b"));
}

TEST_F(Usage, generated_pages_mention_every_option) {
  const std::filesystem::path programs = std::filesystem::path(command()).parent_path();
  if (!std::filesystem::exists(programs / "tessera_generate_pages")) {
    GTEST_SKIP() << "the command is not in its build folder";
  }
  const std::filesystem::path pages = programs.parent_path() / "pages";
  const auto page_text = [&](const std::string& name) {
    EXPECT_TRUE(std::filesystem::exists(pages / name)) << name;
    std::string text = read_text(pages / name);
    text.erase(std::remove(text.begin(), text.end(), '\\'), text.end());  // manual pages escape hyphens
    return text;
  };
  const std::string overview = page_text("man/tessera.1");
  const std::string bash = page_text("completions/tessera");
  const std::string zsh = page_text("completions/_tessera");
  const std::string fish = page_text("completions/tessera.fish");
  for (const Command& command : commands_of(tessera({"--json-usage"}).document())) {
    const std::string manual = page_text("man/tessera-" + command.name + ".1");
    EXPECT_NE(overview.find("tessera-" + command.name), std::string::npos) << command.name;
    for (const CommandOption& option : command.options) {
      for (const std::string& name : option.names) {
        EXPECT_NE(manual.find("fB" + name + "fR"), std::string::npos) << command.name << ' ' << name;
        if (option.positional) {
          continue;
        }
        const std::string plain = name.substr(name.find_first_not_of('-'));
        EXPECT_NE(bash.find(" " + name), std::string::npos) << command.name << ' ' << name;
        EXPECT_NE(zsh.find(name + "["), std::string::npos) << command.name << ' ' << name;
        const std::string spelled = (name.starts_with("--") ? " -l " : " -s ") + plain + " ";
        bool found = false;
        for (std::size_t at = fish.find("from " + command.name + "'"); at != std::string::npos && !found;
             at = fish.find("from " + command.name + "'", at + 1)) {
          found = fish.substr(at, fish.find('\n', at) - at).find(spelled) != std::string::npos;
        }
        EXPECT_TRUE(found) << command.name << ' ' << name;
      }
    }
  }
}

TEST_F(Usage, devices_as_one_document) {
  const ProcessResult result = tessera({"devices", "--json"});
  ASSERT_EQ(result.code, 0) << result.errors;
  const json document = result.document();
  EXPECT_EQ(document.at("schema"), 1);
  ASSERT_FALSE(document.at("devices").empty());
  for (const json& device : document.at("devices")) {
    EXPECT_TRUE(device.at("name").is_string());
    EXPECT_GT(device.at("memory_bytes"), 0);
    EXPECT_EQ(device.at("usable").get<bool>(), device.at("missing_features").empty());
  }
}

TEST_F(Usage, info_describes_what_gdal_wrote) {
  make_raster(file("scene.tif"), {.width = 40,
                                  .height = 30,
                                  .bands = 2,
                                  .type = GDT_UInt16,
                                  .options = {"TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=32", "COMPRESS=DEFLATE"},
                                  .no_data = 7.0,
                                  .prepare = [](GDALDatasetH dataset) {
                                    double affine[6] = {1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0};
                                    GDALSetGeoTransform(dataset, affine);
                                    GDALSetRasterScale(GDALGetRasterBand(dataset, 2), 0.5);
                                    GDALSetDescription(GDALGetRasterBand(dataset, 2), "near_infrared");
                                  }});
  const ProcessResult result = tessera({"info", file("scene.tif"), "--json"});
  ASSERT_EQ(result.code, 0) << result.errors;
  const json document = result.document();
  EXPECT_EQ(document.at("width"), 40);
  EXPECT_EQ(document.at("height"), 30);
  EXPECT_EQ(document.at("driver"), "GTiff");
  EXPECT_EQ(document.at("block"), (json{16, 32}));
  EXPECT_EQ(document.at("affine"), (json{10.0, 0.0, 1000.0, 0.0, -10.0, 2000.0}));
  ASSERT_EQ(document.at("bands").size(), 2u);
  EXPECT_EQ(document.at("bands").at(0).at("nodata"), 7);
  EXPECT_EQ(document.at("bands").at(1).at("description"), "near_infrared");
  EXPECT_EQ(document.at("bands").at(1).at("scale"), 0.5);
}

TEST_F(Usage, selftest_lists_the_operations) {
  const ProcessResult result = tessera({"selftest", "--list", "--json"});
  ASSERT_EQ(result.code, 0) << result.errors;
  const std::set<std::string> names = result.document().at("operations");
  for (const char* name : {"elementwise", "reduction", "scan", "histogram", "mask", "ndvi", "statistics"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST_F(Usage, failures_are_documents_too) {
  const std::string raster = small_raster();
  EXPECT_EQ(failure_of({"info", file("missing.tif")}), "file_not_found");
  EXPECT_EQ(failure_of({"stats", file("missing.tif")}), "file_not_found");
  EXPECT_EQ(failure_of({"stats", raster, "-b", "3"}), "band_out_of_range");
  EXPECT_EQ(failure_of({"stats", raster, "--memory", "much"}, 2), "invalid_argument");
  EXPECT_EQ(failure_of({"ndvi", raster, "--red", "1", "-o", file("out.tif")}, 2), "invalid_argument");
  EXPECT_EQ(failure_of({"stats", raster, "--device", "no such device"}), "no_device");
  write_text(file("text.tif"), "no raster");
  EXPECT_EQ(failure_of({"info", file("text.tif")}), "file_unsupported");
}

}  // namespace
}  // namespace tessera::testing
