#include "conformance/conformance.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/operand/description.hpp>
#include <tessera/raster/pixel.hpp>

#include "support/device_fixture.hpp"

namespace tessera::test {
namespace {

class Conformance : public DeviceFixture, public ::testing::WithParamInterface<std::string> {};

TEST_P(Conformance, agrees_with_the_reference) {
  conformance::run(device(), {.operation = GetParam(), .seed = 100, .cases = 12},
                   [](const conformance::CaseReport& report) {
                     EXPECT_TRUE(report.passed) << report.operation << " seed " << report.seed << ", "
                                                << report.description << ": " << report.failure;
                   });
}

INSTANTIATE_TEST_SUITE_P(operations, Conformance, ::testing::ValuesIn(conformance::operation_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(ConformanceList, has_a_check_for_every_operation) {
  raster::register_operations();
  const std::vector<std::string> names = conformance::operation_names();
  for (const OperationDescription* description : operation_descriptions())
    EXPECT_NE(std::ranges::find(names, description->name), names.end()) << description->name << " has no random check";
}

class ConformanceSelection : public DeviceFixture {};

TEST_F(ConformanceSelection, rejects_an_unknown_operation) {
  try {
    conformance::run(device(), {.operation = "teleport"}, [](const conformance::CaseReport&) {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unknown_id);
  }
}

}  // namespace
}  // namespace tessera::test
