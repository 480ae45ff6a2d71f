#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_recipes.hpp"

namespace tessera::testing {

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::int64_t count_of(const std::vector<double>& values, double value) {
  return std::count(values.begin(), values.end(), value);
}

/// What every command that writes a raster promises about the file.
class OutputContract : public ContractTest {
 protected:
  void SetUp() override {
    ContractTest::SetUp();
    if (!IsSkipped()) {
      scene_ = make_scene();
    }
  }
  const std::string& scene() const { return scene_; }
  std::string output() const { return file("out.tif"); }
  void remove_output() const { std::filesystem::remove(output()); }
  void expect_only_the_scene() const { EXPECT_EQ(sorted_names(), (Arguments{"scene.tif"})); }
  void expect_done(const Arguments& arguments) const {
    const ProcessResult result = tessera(arguments);
    EXPECT_EQ(result.code, 0) << result.errors;
  }

 private:
  std::string scene_;
};

}  // namespace tessera::testing
