// Every embedded module is loaded with the library and may become a pipeline, so their number and size are budgeted.
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "device/embedded_kernels.hpp"
#include "device/testing.hpp"

namespace {

constexpr std::size_t module_count_budget = 150;
// Checked accesses, which only tests see, multiply the code.
constexpr std::size_t module_bytes_budget = (tessera::detail::access_is_checked ? std::size_t{16} : std::size_t{4})
                                            << 20;
constexpr std::uint32_t spirv_magic = 0x07230203;

TEST(ModuleBudget, NumberAndSizeOfModulesStayWithinBudget) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const tessera::detail::EmbeddedModule& module : tessera::detail::embedded_modules()) {
    count += 1;
    bytes += module.words.size_bytes();
  }
  EXPECT_GT(count, 0U);
  EXPECT_LE(count, module_count_budget);
  EXPECT_LE(bytes, module_bytes_budget);
}

TEST(ModuleBudget, EveryModuleIsSpirvAndIsFoundByItsName) {
  for (const tessera::detail::EmbeddedModule& module : tessera::detail::embedded_modules()) {
    SCOPED_TRACE(module.name);
    ASSERT_GT(module.words.size(), 5U);
    EXPECT_EQ(module.words.front(), spirv_magic);
    const tessera::detail::EmbeddedModule* found = tessera::detail::find_module(module.name);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->words.data(), module.words.data());
  }
}

TEST(ModuleBudget, UnknownNamesAreNotFound) { EXPECT_EQ(tessera::detail::find_module("no such kernel"), nullptr); }

}  // namespace
