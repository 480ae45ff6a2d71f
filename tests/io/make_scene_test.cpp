#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include <tessera/io/raster_file.hpp>

#include "support/raster_files.hpp"

namespace tessera::io {
namespace {

struct SceneFigures {
  std::uint64_t valid = 0;
  std::uint64_t sum = 0;
  std::uint16_t minimum = 65535;
  std::uint16_t maximum = 0;
  std::uint64_t weighted = 0;  ///< over all pixels, clouds too, so that every position counts

  friend bool operator==(const SceneFigures&, const SceneFigures&) = default;
};

SceneFigures figures_of(const RasterFile& file, std::uint32_t band) {
  const std::vector<std::uint16_t> samples = testing::read_band<std::uint16_t>(file, band);
  const std::uint64_t width = static_cast<std::uint64_t>(file.metadata().width);
  SceneFigures figures;
  for (std::uint64_t i = 0; i < samples.size(); ++i) {
    const std::uint16_t sample = samples[i];
    figures.weighted += sample * ((i % width + 7 * (i / width)) % 1009 + 1);
    if (!file.band(band).no_data.matches(&sample)) {
      ++figures.valid;
      figures.sum += sample;
      figures.minimum = std::min(figures.minimum, sample);
      figures.maximum = std::max(figures.maximum, sample);
    }
  }
  return figures;
}

TEST(MakeScene, is_the_same_scene_everywhere) {
  const char* program = std::getenv("TESSERA_MAKE_SCENE");
  if (program == nullptr) {
    GTEST_SKIP() << "TESSERA_MAKE_SCENE is not set";
  }
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("scene.tif");
  ASSERT_EQ(std::system(("'" + std::string(program) + "' '" + path + "' 700 250").c_str()), 0);
  const RasterFile file = RasterFile::open(path);
  EXPECT_EQ(file.metadata().coordinate_reference_system->authority, "EPSG:32633");
  EXPECT_EQ(file.metadata().pixel_area(), 100.0);
  EXPECT_EQ(file.preferred_block().width, 512);
  // From a second implementation in Python.
  EXPECT_EQ(figures_of(file, file.find_band("red")), (SceneFigures{165135, 236112924, 55, 3042, 449194495439}));
  EXPECT_EQ(figures_of(file, file.find_band("near_infrared")),
            (SceneFigures{165135, 533156609, 203, 5130, 599981418495}));
}

}  // namespace
}  // namespace tessera::io
