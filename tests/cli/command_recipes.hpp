#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/command_process.hpp"

/// The commands as they describe themselves, and how each is called. A command that reads or writes rasters takes part
/// in the contract suites as soon as it exists: without a recipe here they fail.
namespace tessera::testing {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// An option of a command, from `--json-usage`.
struct CommandOption {
  Arguments names;
  std::string value;  ///< what it takes; empty for a flag
  bool positional = false;
};

struct Command {
  std::string name;
  std::vector<CommandOption> options;

  bool has(const std::string& option) const {
    return std::any_of(options.begin(), options.end(), [&](const CommandOption& entry) {
      return std::find(entry.names.begin(), entry.names.end(), option) != entry.names.end();
    });
  }
  bool reads() const { return has("--oo"); }
  bool reads_pixels() const { return has("--window"); }
  bool writes() const { return has("--output"); }
};

inline std::vector<Command> commands_of(const nlohmann::json& usage) {
  std::vector<Command> commands;
  for (const nlohmann::json& entry : usage.at("subcommands")) {
    Command command{.name = entry.at("command").get<std::string>(), .options = {}};
    for (const nlohmann::json& option : entry.at("options")) {
      command.options.push_back({.names = option.at("names").get<Arguments>(),
                                 .value = option.at("value").is_null() ? "" : option.at("value").get<std::string>(),
                                 .positional = option.at("positional").get<bool>()});
    }
    commands.push_back(command);
  }
  return commands;
}

/// How a command is called for a raster of two bands, without its output. The results for the raster of
/// `ContractTest::make_scene` hold zeros where they are valid, and are missing where its first band is.
using Recipe = std::function<Arguments(const std::string& scene, const std::string& band)>;

inline const std::map<std::string, Recipe>& recipes() {
  static const std::map<std::string, Recipe> list{
      {"info",
       [](const std::string& scene, const std::string&) -> Arguments {
         return {"info", scene};
       }},
      {"stats",
       [](const std::string& scene, const std::string& band) -> Arguments {
         return {"stats", scene, "-b", band, "--percentiles", "50"};
       }},
      {"histogram",
       [](const std::string& scene, const std::string& band) -> Arguments {
         return {"histogram", scene, "-b", band, "--bins", "8"};
       }},
      {"ndvi",
       [](const std::string& scene, const std::string& band) -> Arguments {
         return {"ndvi", scene, "--red", band, "--nir", "2"};
       }},
      {"threshold",
       [](const std::string& scene, const std::string& band) -> Arguments {
         return {"threshold", scene, "-b", band, "--above", "60"};
       }},
  };
  return list;
}

/// What the contract suites share.
class ContractTest : public CommandTest {
 protected:
  static constexpr int width = 70;
  static constexpr int height = 50;

  void SetUp() override {
    CommandTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const ProcessResult usage = tessera({"--json-usage"});
    ASSERT_EQ(usage.code, 0) << usage.errors;
    commands_ = commands_of(usage.document());
    for (const Command& command : commands_) {
      ASSERT_TRUE(recipes().contains(command.name) || !(command.reads() || command.writes()))
          << "'" << command.name << "' reads or writes rasters and has no recipe in command_recipes.hpp";
    }
  }

  const std::vector<Command>& commands() const { return commands_; }

  /// The visitor gets the command and a folder that holds nothing else.
  void for_each_writer(const std::function<void(const Command&)>& visit) const { for_each(&Command::writes, visit); }
  void for_each_reader(const std::function<void(const Command&)>& visit) const { for_each(&Command::reads, visit); }
  /// Readers that look at pixels, not at metadata only.
  void for_each_pixel_reader(const std::function<void(const Command&)>& visit) const {
    for_each(&Command::reads_pixels, visit);
  }

  /// A whole call; a command that writes writes `out.tif`.
  Arguments call(const Command& command, const std::string& scene, const Arguments& more = {},
                 const std::string& band = "1") const {
    Arguments arguments = recipes().at(command.name)(scene, band);
    if (command.writes()) {
      arguments = arguments + Arguments{"-o", file("out.tif")};
    }
    return arguments + more;
  }

  /// Two bands of bytes with nodata 0, both missing in the same places; equal bands now and then.
  static double scene_value(int band, int x, int y) {
    if (x % 9 == 0 && y % 5 == 0) {
      return 0;
    }
    const int red = 20 + (x * 7 + y * 13) % 90;
    return band == 1 || (x + y) % 11 == 0 ? red : 30 + (x * 3 + y * 17) % 120;
  }
  static std::uint64_t missing_of_scene() {
    std::uint64_t missing = 0;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        missing += scene_value(1, x, y) == 0 ? 1 : 0;
      }
    }
    return missing;
  }
  std::string make_scene(const std::string& name = "scene.tif", RasterSpec spec = {}) const {
    spec.width = width;
    spec.height = height;
    spec.bands = 2;
    spec.no_data = 0.0;
    spec.value = scene_value;
    if (spec.options.empty()) {
      spec.options = {"TILED=YES", "BLOCKXSIZE=32", "BLOCKYSIZE=16"};
    }
    make_raster(file(name), spec);
    return file(name);
  }

  std::vector<std::string> sorted_names() const {
    std::vector<std::string> names = folder().names();
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  void for_each(bool (Command::*takes_part)() const, const std::function<void(const Command&)>& visit) const {
    int visited = 0;
    for (const Command& command : commands_) {
      if ((command.*takes_part)()) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, command.name);
        visit(command);
        ++visited;
      }
    }
    EXPECT_GT(visited, 1);
  }

  std::vector<Command> commands_;
};

}  // namespace tessera::testing
