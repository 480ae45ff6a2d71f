#include <gdal.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cli/opened_raster.hpp"
#include "cli/output_contract.hpp"
#include "support/small_disk.hpp"

namespace tessera::testing {
namespace {

/// A format, and options with which it takes any result, and time or space.
struct OutputFormat {
  std::string name;
  Arguments options;
};

const std::vector<OutputFormat>& formats() {
  static const std::vector<OutputFormat> list{{"GTiff", {"--co", "COMPRESS=NONE"}},
                                              {"COG", {"--co", "COMPRESS=NONE", "--co", "BLOCKSIZE=128"}},
                                              {"PNG", {"--ot", "Byte"}}};
  return list;
}

double noise(int band, int x, int y) {
  const auto mixed = static_cast<std::uint32_t>(x * 73856093 ^ y * 19349663 ^ band * 83492791) * 2654435761U;
  return 1 + (mixed >> 16) % 250;
}

/// What a command does when the output can't be finished: "out.tif" exists before and is to be replaced.
class OutputFailures : public OutputContract {
 protected:
  static constexpr const char* good = "something good";

  void SetUp() override {
    OutputContract::SetUp();
    write_text(output(), good);
  }
  Arguments replacing(const Command& command, const OutputFormat& format, const Arguments& more) const {
    return call(command, scene(), Arguments{"--overwrite", "--json", "--of", format.name} + more);
  }
  void expect_all_as_before() const {
    EXPECT_EQ(read_text(output()), good);
    EXPECT_EQ(sorted_names(), (Arguments{"out.tif", "scene.tif"}));
  }
};

TEST_F(OutputFailures, a_limit_on_the_size_of_files) {
  make_raster(scene(), {.width = 400, .height = 400, .bands = 2, .value = noise});
  const auto limit = [] {
    const rlimit size{.rlim_cur = 64 << 10, .rlim_max = 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &size);
    std::signal(SIGXFSZ, SIG_IGN);
  };
  for_each_writer([&](const Command& command) {
    for (const char* name : {"GTiff", "COG"}) {
      const ProcessResult result = tessera(replacing(command, {name, {}}, {"--co", "COMPRESS=NONE"}), {}, limit);
      EXPECT_EQ(result.code, 1) << result.errors;
      EXPECT_EQ(failure_in(result), "file_unwritable");
      expect_all_as_before();
    }
  });
}

/// Sizes at which the pixels, their copy, or nothing is too large: what is finished is whole, and of what is not
/// nothing is left.
TEST_F(OutputFailures, a_full_disk) {
  const SmallDisk disk(file("disk"), "160k");
  if (!disk.mounted()) {
    GTEST_SKIP() << "needs the right to mount a file system";
  }
  make_raster(scene(), {.width = 1200, .height = 1200, .bands = 2, .value = noise});
  const std::string target = file("disk/out");
  const auto names = [&] {
    Arguments list;
    for (const auto& entry : std::filesystem::directory_iterator(file("disk"))) {
      list.push_back(entry.path().filename().string());
    }
    return list;
  };
  for_each_writer([&](const Command& command) {
    for (const OutputFormat& format : formats()) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, format.name);
      int full = 0;
      int finished = 0;
      for (const int size : {1200, 300, 170, 100}) {
        write_text(target, good);
        const std::string part = "0,0," + std::to_string(size) + "," + std::to_string(size);
        const ProcessResult result = tessera(
            recipes().at(command.name)(scene(), "1") +
            Arguments{"-o", target, "--overwrite", "--json", "--of", format.name, "--window", part} + format.options);
        if (result.code == 0) {
          EXPECT_EQ(Opened(target).read(1).size(), static_cast<std::size_t>(size * size));
          std::filesystem::remove(target + ".aux.xml");
          ++finished;
        } else {
          EXPECT_EQ(result.code, 1) << result.errors;
          EXPECT_EQ(failure_in(result), "file_unwritable");
          EXPECT_EQ(read_text(target), good);
          ++full;
        }
        EXPECT_EQ(names(), (Arguments{"out"})) << size;
      }
      EXPECT_GE(full, 1);
      EXPECT_GE(finished, 1);
    }
  });
}

class OutputInterruptions : public OutputFailures {
 protected:
  /// Interrupts the process as soon as `begun` says so; the output must not be there yet.
  void interrupt(pid_t process, int signal, const std::function<bool()>& begun) const {
    for (int i = 0; i < 60000 && !begun(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(::kill(process, SIGSTOP), 0);
    EXPECT_TRUE(!std::filesystem::exists(output()) || read_text(output()) == good);
    EXPECT_EQ(::kill(process, signal), 0);
    EXPECT_EQ(::kill(process, SIGCONT), 0);
  }

  /// Names and sizes of what the command has made so far.
  std::map<std::string, std::uintmax_t> files_under_way() const {
    std::map<std::string, std::uintmax_t> files;
    std::error_code vanished;
    for (std::filesystem::recursive_directory_iterator entry(folder().path(), vanished), end; entry != end;
         entry.increment(vanished)) {
      const std::string path = std::filesystem::relative(entry->path(), folder().path(), vanished).string();
      if (path.starts_with(".") && entry->is_regular_file(vanished)) {
        const std::uintmax_t size = entry->file_size(vanished);
        files[entry->path().filename().string()] = vanished ? 0 : size;
      }
    }
    return files;
  }

  void expect_interrupted(const Command& command, const OutputFormat& format,
                          const std::function<bool()>& begun) const {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, format.name);
    const ProcessResult result = tessera(replacing(command, format, format.options),
                                         [&](pid_t process) { interrupt(process, next_signal(), begun); });
    EXPECT_EQ(result.code, 130) << result.output;
    EXPECT_EQ(failure_in(result), "cancelled");
    expect_all_as_before();
  }

 private:
  /// Both in turn.
  int next_signal() const { return ++interruptions_ % 2 == 0 ? SIGTERM : SIGINT; }

  mutable int interruptions_ = 0;
};

TEST_F(OutputInterruptions, while_pixels_are_written) {
  // Sparse, so that it is made at once and still takes long to work through.
  make_raster(scene(), {.width = 20000,
                        .height = 20000,
                        .bands = 2,
                        .options = {"TILED=YES", "BLOCKXSIZE=512", "BLOCKYSIZE=512", "SPARSE_OK=TRUE"}});
  const auto begun = [&] {
    const auto files = files_under_way();
    return std::ranges::any_of(files, [](const auto& file) { return file.second > 8192; });
  };
  for_each_writer([&](const Command& command) {
    for (const OutputFormat& format : formats()) {
      expect_interrupted(command, format, begun);
    }
  });
}

TEST_F(OutputInterruptions, while_a_format_is_copied) {
  make_raster(scene(), {.width = 2500, .height = 2500, .bands = 2, .value = noise});
  const auto begun = [&] {
    const auto files = files_under_way();
    return std::ranges::any_of(files, [](const auto& file) { return file.first != ".pixels.tif"; });
  };
  const std::vector<OutputFormat> slow{{"COG", {"--co", "COMPRESS=DEFLATE", "--co", "LEVEL=9"}},
                                       {"PNG", {"--ot", "Byte", "--co", "ZLEVEL=9"}}};
  for_each_writer([&](const Command& command) {
    for (const OutputFormat& format : slow) {
      expect_interrupted(command, format, begun);
    }
  });
}

}  // namespace
}  // namespace tessera::testing
