#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <gtest/gtest.h>

#include <tessera/error.hpp>
#include <tessera/version.hpp>

namespace {

using tessera::Error;
using tessera::ErrorCode;

TEST(Error, MessageNamesOperationOperandRuleAndValues) {
  const Error error(
      ErrorCode::length_mismatch,
      {.operation = "reduction", .operand = "output", .rule = "the output holds one row", .values = "3 rows"});
  EXPECT_STREQ(error.what(), "reduction: output: the output holds one row (3 rows)");
  EXPECT_EQ(error.code(), ErrorCode::length_mismatch);
  EXPECT_EQ(error.detail().operand, "output");
}

TEST(Error, EmptyPartsLeaveNoTraceInTheMessage) {
  const Error error(ErrorCode::device_lost,
                    {.operation = "device", .operand = {}, .rule = "the device stopped working", .values = {}});
  EXPECT_STREQ(error.what(), "device: the device stopped working");
}

TEST(Error, IsARuntimeError) {
  EXPECT_TRUE((std::is_base_of_v<std::runtime_error, Error>));
  EXPECT_THROW(throw Error(ErrorCode::alias, {.operation = "scan", .operand = {}, .rule = "rule", .values = {}}),
               std::runtime_error);
}

TEST(Error, EveryCodeHasANameOfItsOwn) {
  std::set<std::string_view> names;
  const auto last = static_cast<std::uint16_t>(ErrorCode::internal);
  for (std::uint16_t value = 0; value <= last; ++value) {
    const std::string_view name = tessera::name_of(static_cast<ErrorCode>(value));
    EXPECT_NE(name, "unknown") << value;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(tessera::name_of(ErrorCode::capacity_too_small), "capacity_too_small");
  EXPECT_EQ(tessera::name_of(static_cast<ErrorCode>(last + 1)), "unknown");
}

TEST(Version, LibraryAndHeadersAgree) {
  EXPECT_EQ(tessera::version(), TESSERA_VERSION_STRING);
  EXPECT_EQ(tessera::version_number(), tessera::header_version);
  const auto [major, minor, patch] = tessera::version_number();
  EXPECT_EQ(tessera::version(), std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch));
}

}  // namespace
