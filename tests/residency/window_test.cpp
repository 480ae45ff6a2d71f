#include <tessera/residency/window.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include <tessera/error.hpp>

namespace tessera::residency {
namespace {

WindowPlanOptions memory_for(std::uint64_t pixels, std::uint64_t bytes = 4) {
  return {.memory = pixels * bytes, .bytes_per_pixel = bytes};
}

/// Every pixel lies in exactly one window, no window exceeds the budget and none cuts a block that it could have kept.
void expect_partition(Extent raster, Extent block, const WindowPlanOptions& options) {
  const WindowGrid grid = plan_windows(raster, block, options);
  std::vector<int> seen(static_cast<std::size_t>(raster.width * raster.height), 0);
  for (std::uint64_t i = 0; i < grid.size(); ++i) {
    const Window window = grid[i];
    EXPECT_LE(window.pixel_count() * options.bytes_per_pixel, options.memory);
    EXPECT_EQ(window.column % block.width, 0);
    EXPECT_EQ(window.row % block.height, 0);
    for (std::int64_t y = window.row; y < window.row + window.height; ++y) {
      for (std::int64_t x = window.column; x < window.column + window.width; ++x) {
        ++seen[static_cast<std::size_t>(y * raster.width + x)];
      }
    }
  }
  for (const int count : seen) {
    ASSERT_EQ(count, 1);
  }
}

TEST(WindowPlan, covers_every_pixel_once_in_whole_blocks) {
  for (const Extent block : {Extent{16, 16}, {32, 8}, {100, 1}, {100, 3}, {100, 70}, {128, 128}}) {
    for (const std::uint64_t pixels : {std::uint64_t{7000}, std::uint64_t{7100}, std::uint64_t{20000}}) {
      expect_partition({100, 70}, block, memory_for(pixels));
    }
  }
  expect_partition({100, 70}, {16, 16}, memory_for(256));
  expect_partition({100, 70}, {16, 16}, memory_for(900));
  expect_partition({101, 71}, {1, 1}, memory_for(1));
}

TEST(WindowPlan, takes_as_many_rows_as_fit) {
  EXPECT_EQ(plan_windows({100, 1000}, {100, 3}, memory_for(100 * 100)).window_extent(), (Extent{100, 99}));
  EXPECT_EQ(plan_windows({100, 1000}, {32, 32}, memory_for(100 * 100)).window_extent(), (Extent{100, 96}));
  EXPECT_EQ(plan_windows({100, 90}, {32, 32}, memory_for(100 * 100)).size(), 1u);
}

TEST(WindowPlan, splits_by_columns_when_a_row_of_blocks_is_too_large) {
  EXPECT_EQ(plan_windows({1000, 1000}, {100, 100}, memory_for(350 * 100)).window_extent(), (Extent{300, 100}));
}

TEST(WindowPlan, ends_on_rows_of_the_output) {
  WindowPlanOptions options = memory_for(100 * 5000);
  options.output_block = {512, 512};
  EXPECT_EQ(plan_windows({100, 100000}, {100, 3}, options).window_extent().height, 4608);    // 3 x 1536
  EXPECT_EQ(plan_windows({100, 100000}, {100, 7}, options).window_extent().height, 3584);    // 7 x 512
  EXPECT_EQ(plan_windows({100, 100000}, {100, 11}, options).window_extent().height, 4608);   // 9 x 512, strips cut
  EXPECT_EQ(plan_windows({100, 100000}, {100, 300}, options).window_extent().height, 4800);  // 16 x 300, tiles cut
  EXPECT_EQ(plan_windows({100, 100000}, {256, 256}, options).window_extent().height, 4608);
}

TEST(WindowPlan, bounds_pixels_as_well) {
  WindowPlanOptions options = memory_for(100 * 100);
  options.maximum_pixels = 100 * 10;
  EXPECT_EQ(plan_windows({100, 100}, {100, 1}, options).window_extent(), (Extent{100, 10}));
}

TEST(WindowPlan, refuses_a_block_beyond_the_budget_and_names_the_remedy) {
  try {
    plan_windows({40000, 40000}, {40000, 40000}, memory_for(1000000), "one block.tif");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
    EXPECT_NE(std::string(error.what()).find("gdal_translate"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'one block.tif'"), std::string::npos);
  }
}

TEST(WindowPlan, absurd_sizes_neither_overflow_nor_allocate) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const WindowGrid grid = plan_windows({most, most}, {256, 256}, memory_for(1 << 20));
  EXPECT_EQ(grid.window_extent(), (Extent{4096, 256}));
  EXPECT_EQ(grid[grid.size() - 1].column + grid[grid.size() - 1].width, most);
  EXPECT_EQ(grid[grid.size() - 1].row + grid[grid.size() - 1].height, most);
  EXPECT_THROW(plan_windows({most, most}, {most, most}, memory_for(1 << 20)), Error);
}

TEST(WindowPlan, rejects_what_is_not_positive) {
  EXPECT_THROW(plan_windows({0, 1}, {1, 1}, memory_for(1)), Error);
  EXPECT_THROW(plan_windows({1, 1}, {1, 0}, memory_for(1)), Error);
  EXPECT_THROW(plan_windows({1, 1}, {1, 1}, memory_for(0)), Error);
  EXPECT_THROW(plan_windows({1, 1}, {1, 1}, {.memory = 1, .bytes_per_pixel = 0}), Error);
  EXPECT_THROW(WindowGrid({4, 4}, {4, 0}), Error);
  EXPECT_THROW(WindowGrid({4, 4}, {2, 2})[4], Error);
}

}  // namespace
}  // namespace tessera::residency
