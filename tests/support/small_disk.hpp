#pragma once

#include <sys/mount.h>

#include <filesystem>
#include <string>

namespace tessera::testing {

/// A file system of a few hundred kilobytes in a folder of its own, where the process may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& path, const std::string& size = "256k") : path_(path) {
    std::filesystem::create_directory(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
  bool mounted_ = false;
};

}  // namespace tessera::testing
