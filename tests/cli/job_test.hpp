#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command_process.hpp"

namespace tessera::testing {

using Strings = std::vector<std::string>;

/// Tests of the numbers that jobs report.
class JobTest : public CommandTest {
 protected:
  nlohmann::json run(Strings arguments) const {
    arguments.emplace_back("--json");
    const ProcessResult result = tessera(arguments);
    EXPECT_EQ(result.code, 0) << result.output << result.errors;
    return result.document();
  }
  /// The first band's part of `stats` or `histogram`.
  nlohmann::json first_band(const Strings& arguments) const { return run(arguments).at("bands").at(0); }
};

}  // namespace tessera::testing
