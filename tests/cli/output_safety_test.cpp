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

}  // namespace
}  // namespace tessera::testing
