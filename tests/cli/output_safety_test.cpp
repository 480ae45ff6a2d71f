#include <cpl_vsi.h>
#include <gdal.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/opened_raster.hpp"
#include "cli/output_contract.hpp"

namespace tessera::testing {
namespace {

void copy_into(const std::string& from, const std::string& to) {
  const std::string bytes = read_text(from);
  VSILFILE* file = VSIFOpenL(to.c_str(), "wb");
  ASSERT_NE(file, nullptr) << to;
  EXPECT_EQ(VSIFWriteL(bytes.data(), 1, bytes.size(), file), bytes.size());
  EXPECT_EQ(VSIFCloseL(file), 0);
}

void make_copy(const std::string& from, const std::string& to, const char* driver) {
  const Opened source(from);
  const GDALDatasetH copy =
      GDALCreateCopy(GDALGetDriverByName(driver), to.c_str(), source.dataset(), FALSE, nullptr, nullptr, nullptr);
  ASSERT_NE(copy, nullptr) << to;
  GDALClose(copy);
}

/// A virtual raster of both bands of another file, named as it is: GDAL's copy would look through virtual sources.
void make_virtual(const std::string& source, const std::string& to) {
  std::string text = "<VRTDataset rasterXSize='70' rasterYSize='50'>";
  for (const std::string band : {"1", "2"}) {
    text += "<VRTRasterBand dataType='Byte' band='" + band + "'><NoDataValue>0</NoDataValue><SimpleSource>" +
            "<SourceFilename>" + source + "</SourceFilename><SourceBand>" + band +
            "</SourceBand></SimpleSource></VRTRasterBand>";
  }
  write_text(to, text + "</VRTDataset>");
}

/// What no command that writes a raster may do: destroy what it reads, publish pixels other than its results, leave
/// something behind, find out after the work that there is no place for it.
class OutputSafety : public OutputContract {
 protected:
  using Files = std::vector<std::pair<std::string, std::string>>;

  /// The folder's files with what they hold.
  Files everything() const {
    Files files;
    for (const std::string& name : sorted_names()) {
      files.emplace_back(name, read_text(file(name)));
    }
    return files;
  }
  Arguments call_to(const Command& command, const std::string& input, const std::string& target,
                    const Arguments& more = {}) const {
    return recipes().at(command.name)(input, "1") + Arguments{"-o", target} + more;
  }
  /// Fails with this code, and with one line for people.
  void expect_one_message(const Arguments& arguments, const std::string& code, const std::string& part = "") const {
    const ProcessResult plain = tessera(arguments);
    EXPECT_EQ(plain.code, 1);
    EXPECT_EQ(std::count(plain.errors.begin(), plain.errors.end(), '\n'), 1) << plain.errors;
    EXPECT_TRUE(holds(plain.errors, part)) << plain.errors;
    EXPECT_EQ(failure_of(arguments), code);
  }
  /// Sparse, so that it is made at once and still takes long to work through.
  void make_long_scene(int size) const {
    make_raster(scene(), {.width = size,
                          .height = size,
                          .bands = 2,
                          .options = {"TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "SPARSE_OK=TRUE"}});
  }
  /// Sends a signal once the output's temporary file says that the job is under way.
  std::function<void(pid_t)> send(int signal) const {
    return [this, signal](pid_t process) {
      for (int i = 0; i < 1200 && folder().names().size() < 2; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      EXPECT_EQ(::kill(process, signal), 0);
    };
  }
};

TEST_F(OutputSafety, archives_and_sources_of_inputs_are_not_replaced) {
  GDALAllRegister();
  copy_into(scene(), "/vsizip/" + file("scenes.zip") + "/scene.tif");
  copy_into(scene(), "/vsigzip/" + file("scene.tif.gz"));
  const std::string in_zip = "/vsizip/" + file("scenes.zip") + "/scene.tif";
  make_copy(scene(), file("inner.vrt"), "VRT");
  make_virtual(file("inner.vrt"), file("outer.vrt"));
  make_copy(in_zip, file("zipped.vrt"), "VRT");
  std::filesystem::create_hard_link(file("scenes.zip"), file("hard.zip"));
  const Files before = everything();
  for_each_writer([&](const Command& command) {
    for (const auto& [input, target] : Files{{in_zip, "scenes.zip"},
                                             {in_zip, "hard.zip"},
                                             {"/vsizip/{" + file("scenes.zip") + "}/scene.tif", "scenes.zip"},
                                             {"/vsigzip/" + file("scene.tif.gz"), "scene.tif.gz"},
                                             {"/vsisubfile/0," + scene(), "scene.tif"},
                                             {file("inner.vrt"), "scene.tif"},
                                             {file("outer.vrt"), "scene.tif"},
                                             {file("outer.vrt"), "inner.vrt"},
                                             {file("zipped.vrt"), "scenes.zip"}}) {
      EXPECT_EQ(failure_of(call_to(command, input, file(target), {"--overwrite"})), "alias") << input << ' ' << target;
      EXPECT_TRUE(everything() == before) << input << ' ' << target;
    }
  });
}

TEST_F(OutputSafety, what_goes_with_a_replaced_output_is_no_input) {
  for (const char* name : {"out.tif", "out.tif.msk", "out.tif.ovr"}) {
    copy_into(scene(), file(name));
  }
  make_copy(scene(), file("envi.dat"), "ENVI");
  make_copy(file("out.tif.ovr"), file("overview.vrt"), "VRT");
  const Files before = everything();
  for_each_writer([&](const Command& command) {
    const Arguments masked{"--overwrite", "--mask", file("out.tif.msk"), "--mask-values", "1"};
    for (const Arguments& arguments :
         {call(command, scene(), masked), call(command, file("out.tif.ovr"), {"--overwrite"}),
          call(command, file("overview.vrt"), {"--overwrite"}),
          call_to(command, file("envi.dat"), file("envi.img"), {"--of", "ENVI", "--overwrite"})}) {
      EXPECT_EQ(failure_of(arguments), "alias");
      EXPECT_TRUE(everything() == before);
    }
    // A companion that belongs to something else is in the way without --overwrite.
    EXPECT_EQ(failure_of(call_to(command, scene(), file("envi.img"), {"--of", "ENVI"})), "file_exists");
    EXPECT_TRUE(everything() == before);
  });
}

TEST_F(OutputSafety, storage_that_would_change_pixels_is_refused) {
  GDALAllRegister();
  std::vector<Arguments> formats{{"--co", "NBITS=1", "--co", "COMPRESS=NONE"},
                                 {"--co", "NBITS=4", "--co", "COMPRESS=LZW"},
                                 {"--co", "PIXELTYPE=SIGNEDBYTE"},
                                 {"--co", "COMPRESS=JPEG"},
                                 {"--co", "DISCARD_LSB=1"},
                                 {"--of", "COG", "--co", "COMPRESS=JPEG"},
                                 {"--of", "JPEG"},
                                 {"--of", "VRT"}};
  if (GDALGetDriverByName("JP2OpenJPEG") != nullptr) {
    formats.push_back({"--of", "JP2OpenJPEG"});
  }
  for_each_writer([&](const Command& command) {
    for (const Arguments& format : formats) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, format.back());
      expect_one_message(call(command, scene(), Arguments{"--ot", "Byte"} + format), "file_unwritable",
                         format[1].substr(0, 4));
      expect_only_the_scene();
    }
  });
}

TEST_F(OutputSafety, narrow_storage_that_keeps_every_pixel_is_written) {
  for_each_writer([&](const Command& command) {
    // Of bytes every result is 0 or 1.
    expect_done(call(command, scene(), {"--ot", "Byte", "--nodata", "3", "--co", "NBITS=2", "-q"}));
    {
      const Opened written(output());
      EXPECT_STREQ(GDALGetMetadataItem(written.band(1), "NBITS", "IMAGE_STRUCTURE"), "2");
      EXPECT_EQ(static_cast<std::uint64_t>(count_of(written.read(1), 3)), missing_of_scene());
    }
    EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "scene.tif"}));
    remove_output();
    expect_done(call(command, scene(), {"--ot", "Byte", "--nodata", "none", "--co", "NBITS=1", "-q"}));
    EXPECT_EQ(static_cast<std::uint64_t>(count_of(Opened(output()).read_mask(1), 0)), missing_of_scene());
    remove_output();
    // GDAL describes such bands beside the file.
    std::filesystem::remove(file("out.tif.aux.xml"));
    expect_only_the_scene();
  });
}

TEST_F(OutputSafety, companions_take_the_name_of_the_output) {
  make_scene("scene.tif", {.prepare = [](GDALDatasetH dataset) {
               double affine[6] = {1000.0, 10.0, 0.0, 2000.0, 0.0, -10.0};
               GDALSetGeoTransform(dataset, affine);
             }});
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"--co", "TFW=YES", "-q"}));
    EXPECT_EQ(sorted_names(), (Arguments{"out.tfw", "out.tif", "scene.tif"}));
    remove_output();
    // Left from another file, it would be replaced.
    EXPECT_EQ(failure_of(call(command, scene(), {"--co", "TFW=YES"})), "file_exists");
    EXPECT_EQ(sorted_names(), (Arguments{"out.tfw", "scene.tif"}));
    std::filesystem::remove(file("out.tfw"));
  });
}

TEST_F(OutputSafety, a_file_that_may_not_grow_is_an_error_that_cleans_up) {
  make_raster(file("scene.tif"), {.width = 400, .height = 400, .bands = 2, .value = [](int band, int x, int y) {
                                    return 1 + (x * x * 7 + y * 131 + x * y * band) % 250;
                                  }});
  const auto limit = [] {
    const rlimit size{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &size);
  };
  for_each_writer([&](const Command& command) {
    const ProcessResult result = tessera(call(command, scene(), {"--co", "COMPRESS=NONE"}), {}, limit);
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    expect_only_the_scene();
  });
}

TEST_F(OutputSafety, a_closed_terminal_interrupts_unless_it_is_ignored) {
  make_long_scene(20000);
  for_each_writer([&](const Command& command) {
    EXPECT_EQ(tessera(call(command, scene()), send(SIGHUP)).code, 130);
    expect_only_the_scene();
  });
  make_long_scene(2000);
  for_each_writer([&](const Command& command) {
    const auto as_nohup = [] { std::signal(SIGHUP, SIG_IGN); };
    EXPECT_EQ(tessera(call(command, scene(), {"-q"}), send(SIGHUP), as_nohup).code, 0);
    remove_output();
  });
}

TEST_F(OutputSafety, places_that_can_not_be_written_fail_with_one_message) {
  std::filesystem::create_symlink(file("loop_b.tif"), file("loop_a.tif"));
  std::filesystem::create_symlink(file("loop_a.tif"), file("loop_b.tif"));
  std::filesystem::create_symlink("no_folder/out.tif", file("astray.tif"));
  const Arguments names = sorted_names();
  for_each_writer([&](const Command& command) {
    for (const std::string& target :
         {file("loop_a.tif"), file("astray.tif"), file(std::string(300, 'a')), file("no_folder/"),
          "/vsizip/" + file("new.zip") + "/out.tif", "/vsigzip/" + file("new.gz"), std::string("/vsistdout/"),
          std::string("/vsicurl/http://127.0.0.1:1/out.tif")}) {
      expect_one_message(call_to(command, scene(), target), "file_unwritable", target);
      EXPECT_EQ(sorted_names(), names) << target;
    }
    const ProcessResult result = tessera(call(command, scene(), {"--co", "COMPRESS=WEBP"}));
    EXPECT_NE(result.code, 0);
    EXPECT_TRUE(holds(result.errors, "WEBP")) << result.errors;
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
    EXPECT_EQ(sorted_names(), names);
  });
}

TEST_F(OutputSafety, a_link_to_nothing_yet_is_written_through) {
  std::filesystem::create_symlink("real.tif", file("out.tif"));
  for_each_writer([&](const Command& command) {
    expect_done(call(command, scene(), {"-q"}));
    EXPECT_TRUE(std::filesystem::is_symlink(output()));
    EXPECT_EQ(GDALGetRasterXSize(Opened(file("real.tif")).dataset()), width);
    EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "real.tif", "scene.tif"}));
    std::filesystem::remove(file("real.tif"));
  });
}

TEST_F(OutputSafety, an_output_without_a_name_is_a_mistake_in_the_call) {
  for_each_writer([&](const Command& command) { failure_of(call_to(command, scene(), ""), 2); });
  failure_of({"histogram", scene(), "-b", "1", "--png", ""}, 2);
  failure_of({"selftest", "--cases", "1", "--operation", "mask", "--report", ""}, 2);
  expect_only_the_scene();
}

}  // namespace
}  // namespace tessera::testing
