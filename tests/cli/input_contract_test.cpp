#include <gdal.h>
#include <gtest/gtest.h>
#include <ogr_srs_api.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_recipes.hpp"

namespace tessera::testing {
namespace {

using nlohmann::json;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Sets a tag of the first directory of a little-endian classic TIFF.
std::string with_tag(std::string bytes, std::uint16_t wanted, std::uint32_t value) {
  const auto read = [&](std::size_t offset, auto number) {
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
    return number;
  };
  const std::size_t directory = read(4, std::uint32_t{});
  const std::size_t entries = read(directory, std::uint16_t{});
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + 12 * i;
    if (read(entry, std::uint16_t{}) == wanted) {
      const std::array<std::uint16_t, 1> type{4};  // LONG
      std::memcpy(bytes.data() + entry + 2, type.data(), 2);
      std::memcpy(bytes.data() + entry + 8, &value, 4);
    }
  }
  return bytes;
}

/// What every command that reads rasters does with what it can't use.
class InputContract : public ContractTest {
 protected:
  /// Two bands whose bytes don't compress, in tiles of 64.
  std::string make_noise(const std::string& name, int size = 256) const {
    std::uint32_t state = 7;
    make_raster(file(name), {.width = size,
                             .height = size,
                             .bands = 2,
                             .options = {"COMPRESS=DEFLATE", "TILED=YES", "BLOCKXSIZE=64", "BLOCKYSIZE=64"},
                             .value = [&](int, int, int) {
                               state = state * 1664525U + 1013904223U;
                               return state >> 24;
                             }});
    return file(name);
  }
  void expect_no_output() const {
    EXPECT_FALSE(std::filesystem::exists(file("out.tif")));
    for (const std::string& name : folder().names()) {
      EXPECT_FALSE(holds(name, "out.tif")) << name;
    }
  }
};

TEST_F(InputContract, what_is_no_raster) {
  write_text(file("empty.tif"), "");
  write_text(file("text.tif"), "this is no raster\n");
  const std::string scene = make_scene();
  write_text(file("header.tif"), read_text(scene).substr(0, 20));
  const std::vector<std::pair<std::string, std::string>> inputs{{file("missing.tif"), "file_not_found"},
                                                                {file("empty.tif"), "file_unreadable"},
                                                                {file("text.tif"), "file_unsupported"},
                                                                {folder().path().string(), "file_unsupported"},
                                                                {file("header.tif"), "file_unreadable"}};
  for_each_reader([&](const Command& command) {
    for (const auto& [path, code] : inputs) {
      std::string message;
      EXPECT_EQ(failure_of(call(command, path), 1, &message), code);
      EXPECT_TRUE(holds(message, path)) << message;
    }
    EXPECT_NE(tessera(call(command, "")).code, 0);
    expect_no_output();
  });
}

TEST_F(InputContract, complex_samples_are_refused_by_name) {
  make_raster(file("complex.tif"), {.bands = 2, .type = GDT_CFloat32});
  for_each_reader([&](const Command& command) {
    std::string message;
    EXPECT_EQ(failure_of(call(command, file("complex.tif")), 1, &message), "file_unsupported");
    EXPECT_TRUE(holds(message, "CFloat32")) << message;
    expect_no_output();
  });
}

TEST_F(InputContract, pixels_that_are_lost_fail_by_name_or_are_skipped) {
  const std::string whole = make_noise("whole.tif");
  const std::string bytes = read_text(whole);
  write_text(file("truncated.tif"), bytes.substr(0, bytes.size() / 2));
  std::string corrupt = bytes;
  for (std::size_t i = corrupt.size() / 3; i < corrupt.size() / 3 + 2000; ++i) {
    corrupt[i] = static_cast<char>(~corrupt[i]);
  }
  write_text(file("corrupt.tif"), corrupt);
  for_each_pixel_reader([&](const Command& command) {
    for (const std::string name : {"truncated.tif", "corrupt.tif"}) {
      std::string message;
      EXPECT_EQ(failure_of(call(command, file(name)), 1, &message), "file_unreadable") << name;
      EXPECT_TRUE(holds(message, name) && holds(message, "band ") && holds(message, "window ")) << message;
      expect_no_output();

      const ProcessResult skipped = tessera(call(command, file(name), {"--on-error", "skip", "--json"}));
      EXPECT_EQ(skipped.code, 3) << skipped.errors;
      const json list = skipped.document().at("skipped");
      EXPECT_GT(list.at("count"), 0);
      EXPECT_EQ(list.at("blocks").size(), list.at("count"));
      EXPECT_TRUE(holds(list.at("blocks").at(0).at("cause"), name)) << list;
      EXPECT_EQ(std::filesystem::exists(file("out.tif")), command.writes());
      std::filesystem::remove(file("out.tif"));
    }
    // A file without damage is done as ever.
    EXPECT_EQ(tessera(call(command, whole, {"--on-error", "skip", "-q"})).code, 0);
    std::filesystem::remove(file("out.tif"));
  });
}

TEST_F(InputContract, headers_that_claim_absurd_sizes_cost_no_memory) {
  make_raster(file("small.tif"), {.width = 64, .height = 64, .bands = 2});
  const std::string small = read_text(file("small.tif"));
  const std::uint32_t huge = 0x7ffffff0;
  write_text(file("wide.tif"), with_tag(small, 256, huge));
  write_text(file("wide_and_high.tif"), with_tag(with_tag(small, 256, huge), 257, huge));
  write_text(file("one_strip.tif"), with_tag(with_tag(small, 257, huge), 278, huge));
  make_raster(file("sparse.tif"),
              {.width = 2000000000, .height = 3, .bands = 2, .options = {"SPARSE_OK=TRUE", "BIGTIFF=YES"}});
  for_each_reader([&](const Command& command) {
    for (const std::string name : {"wide.tif", "wide_and_high.tif", "one_strip.tif", "sparse.tif"}) {
      const ProcessResult result = tessera(call(command, file(name), {"--json"}));
      // What can be told from metadata alone may be told.
      EXPECT_TRUE(result.code == 1 || (result.code == 0 && !command.reads_pixels())) << name << ' ' << result.code;
      EXPECT_LT(result.peak_bytes, std::uint64_t{700} << 20) << name;
      if (result.code != 0) {
        failure_in(result);
      }
      expect_no_output();
    }
  });
}

TEST_F(InputContract, a_block_beyond_the_memory_names_the_remedy) {
  make_raster(file("one_block.tif"),
              {.width = 4096,
               .height = 4096,
               .bands = 2,
               .options = {"TILED=YES", "BLOCKXSIZE=4096", "BLOCKYSIZE=4096", "SPARSE_OK=TRUE"}});
  for_each_pixel_reader([&](const Command& command) {
    std::string message;
    EXPECT_EQ(failure_of(call(command, file("one_block.tif"), {"--memory", "16M"}), 1, &message), "limit_exceeded");
    EXPECT_TRUE(holds(message, "gdal_translate") && holds(message, "one_block.tif")) << message;
    expect_no_output();
  });
}

TEST_F(InputContract, bands_that_are_not_there) {
  const std::string scene = make_scene();
  for_each_pixel_reader([&](const Command& command) {
    EXPECT_EQ(failure_of(call(command, scene, {}, "3")), "band_out_of_range");
    failure_of(call(command, scene, {}, "0"), 2);
    expect_no_output();
  });
}

TEST_F(InputContract, areas_outside_and_malformed) {
  const std::string scene = make_scene("scene.tif", {.prepare = [](GDALDatasetH dataset) {
                                         double affine[6] = {1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0};
                                         GDALSetGeoTransform(dataset, affine);
                                       }});
  for_each_pixel_reader([&](const Command& command) {
    for (const std::string window :
         {"60,40,11,10", "60,40,10,11", "-1,0,5,5", "0,0,0,5", "0,0,5,-5", "70,0,1,1", "9223372036854775807,0,1,1",
          "1,1,9223372036854775807,1", "99999999999999999999,0,1,1"}) {
      std::string message;
      failure_of(call(command, scene, {"--window=" + window}), 1, &message);
      EXPECT_TRUE(holds(message, "70 x 50")) << message;
    }
    for (const std::string window : {"1,2,3", "1,2,3,4,5", "a,b,c,d", "1.5,0,2,2", ""}) {
      EXPECT_EQ(failure_of(call(command, scene, {"--window=" + window}), 2), "invalid_argument") << window;
    }
    std::string message;
    failure_of(call(command, scene, {"--bbox=0,0,10,10"}), 1, &message);
    EXPECT_TRUE(holds(message, "1000") && holds(message, "1700") && holds(message, "2000")) << message;
    for (const std::string box : {"1,2,3", "0,0,x,1", "10,0,0,10", "0,0,nan,1", "0,0,inf,1"}) {
      EXPECT_EQ(failure_of(call(command, scene, {"--bbox=" + box}), 2), "invalid_argument") << box;
    }
    failure_of(call(command, scene, {"--bbox=1000,1900,1100,2000", "--window=0,0,1,1"}), 2);
    failure_of(call(command, scene, {"--bbox-crs", "EPSG:4326"}), 2);
    failure_of(call(command, scene, {"--bbox=1000,1900,1100,2000", "--bbox-crs", "no such system"}));
    expect_no_output();
  });
}

TEST_F(InputContract, masks_that_do_not_fit) {
  const std::string scene = make_scene();
  make_raster(file("mask.tif"), {.width = width, .height = height});
  make_raster(file("small.tif"), {.width = 35, .height = 25});
  make_raster(file("float.tif"), {.width = width, .height = height, .type = GDT_Float32});
  for_each_pixel_reader([&](const Command& command) {
    const auto with_mask = [&](const std::string& mask, const Arguments& rule) {
      return call(command, scene, Arguments{"--mask", mask} + rule);
    };
    const std::string mask = file("mask.tif");
    std::string message;
    failure_of(with_mask(mask, {}), 2, &message);
    EXPECT_TRUE(holds(message, "--mask-bits") && holds(message, "--mask-preset")) << message;
    failure_of(call(command, scene, {"--mask-bits", "1"}), 2);
    failure_of(with_mask(mask, {"--mask-bits", "64"}), 2);
    failure_of(with_mask(mask, {"--mask-bits", "x"}), 2);
    failure_of(with_mask(mask, {"--mask-preset", "modis"}), 2);
    failure_of(with_mask(mask, {"--mask-preset", "landsat-c2", "--mask-values", "1"}), 2);
    EXPECT_EQ(failure_of(with_mask(mask + ",2", {"--mask-bits", "1"})), "band_out_of_range");
    EXPECT_EQ(failure_of(with_mask(file("none.tif"), {"--mask-bits", "1"})), "file_not_found");
    EXPECT_EQ(failure_of(with_mask(file("small.tif"), {"--mask-bits", "1"}), 1, &message), "grid_mismatch");
    EXPECT_TRUE(holds(message, "70 x 50") && holds(message, "35 x 25") && holds(message, "--align")) << message;
    failure_of(with_mask(file("float.tif"), {"--mask-bits", "1"}), 1, &message);
    EXPECT_TRUE(holds(message, "float32")) << message;
    expect_no_output();
  });
}

TEST_F(InputContract, grids_that_differ) {
  const auto place = [](double west, int code) {
    return [west, code](GDALDatasetH dataset) {
      double affine[6] = {west, 10.0, 0.0, 2000.0, 0.0, -10.0};
      GDALSetGeoTransform(dataset, affine);
      const OGRSpatialReferenceH system = OSRNewSpatialReference(nullptr);
      EXPECT_EQ(OSRImportFromEPSG(system, code), OGRERR_NONE);
      GDALSetSpatialRef(dataset, system);
      OSRDestroySpatialReference(system);
    };
  };
  const std::string red = make_scene("red.tif", {.prepare = place(1000, 32631)});
  const auto pair = [&](const std::string& other) {
    return Arguments{"ndvi", "--red", red + ",1", "--nir", other + ",2", "-o", file("out.tif")};
  };
  std::string message;
  EXPECT_EQ(failure_of(pair(make_scene("moved.tif", {.prepare = place(1006, 32631)})), 1, &message), "grid_mismatch");
  EXPECT_TRUE(holds(message, "1000") && holds(message, "1006") && holds(message, "--align")) << message;
  EXPECT_EQ(failure_of(pair(make_scene("elsewhere.tif", {.prepare = place(1000, 32632)})), 1, &message),
            "grid_mismatch");
  EXPECT_TRUE(holds(message, "EPSG:32631") && holds(message, "EPSG:32632")) << message;
  expect_no_output();
  // Less than half a pixel is the same grid.
  EXPECT_EQ(tessera(pair(make_scene("near.tif", {.prepare = place(1004, 32631)})) + Arguments{"-q"}).code, 0);
  std::filesystem::remove(file("out.tif"));
  EXPECT_EQ(tessera(pair(file("moved.tif")) + Arguments{"--align", "first", "-q"}).code, 0);
}

TEST_F(InputContract, nonsense_in_options) {
  const std::string scene = make_scene();
  for_each_pixel_reader([&](const Command& command) {
    const std::vector<Arguments> calls{{"--src-nodata", "much"},
                                       {"--src-nodata", ""},
                                       {"--src-nodata", "1e"},
                                       {"--mask", "", "--mask-bits", "1"},
                                       {"--src-nodata", "inf"},
                                       {"--scale", "x"},
                                       {"--scale", "nan"},
                                       {"--scale", "inf"},
                                       {"--offset", "nan"},
                                       {"--scale", "2", "--raw"},
                                       {"--memory", "0"},
                                       {"--memory", "-1"},
                                       {"--memory", "99999999999G"},
                                       {"--threads", "0"},
                                       {"--on-error", "ignore"},
                                       {"--align", "last"},
                                       {"--resampling", "nearest"},
                                       {"--no-such-option"}};
    for (const Arguments& more : calls) {
      EXPECT_EQ(failure_of(call(command, scene, more), 2), "invalid_argument") << more.front() << ' ' << more.back();
    }
    expect_no_output();
  });
}

TEST_F(InputContract, options_of_gdal_read_key_and_value) {
  const std::string scene = make_scene();
  for_each_reader([&](const Command& command) {
    for (const std::string option : {"--oo", "--config"}) {
      for (const std::string setting : {"", "KEY", "=VALUE"}) {
        EXPECT_EQ(failure_of(call(command, scene, {option, setting}), 2), "invalid_argument") << option << setting;
      }
    }
    expect_no_output();
    EXPECT_EQ(tessera(call(command, scene, {"--oo", "NUM_THREADS=1", "--config", "GDAL_CACHEMAX=64"})).code, 0);
    std::filesystem::remove(file("out.tif"));
  });
}

}  // namespace
}  // namespace tessera::testing
