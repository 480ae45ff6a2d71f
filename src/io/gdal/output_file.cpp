#include "output_file.hpp"

#include <cpl_vsi.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <random>
#include <utility>

#include <tessera/error.hpp>

#include "gdal_support.hpp"

namespace tessera::io::detail {

namespace {

namespace fs = std::filesystem;

constexpr const char* operation_name = "raster_writer";
/// The GeoTIFF that a copied format is made from.
constexpr const char* pixels_name = ".pixels.tif";
/// What describes a raster from beside it. Left behind, they would describe the new one.
constexpr const char* sidecar_suffixes[] = {".aux.xml", ".ovr", ".msk", ".ovr.aux.xml", ".msk.ovr"};

[[noreturn]] void fail(ErrorCode code, const std::string& path, const char* rule, std::string values) {
  throw Error(code, {operation_name, path, rule, std::move(values)});
}

bool is_present(const fs::path& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

bool is_same_file(const std::string& left, const std::string& right) {
  struct stat a;
  struct stat b;
  return ::stat(left.c_str(), &a) == 0 && ::stat(right.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

void require_no_input(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (path == input || is_same_file(path, input)) {
      fail(ErrorCode::alias, path, "the output must not be one of the inputs", input);
    }
  }
}

fs::path with_suffix(const fs::path& path, const char* suffix) {
  fs::path result = path;
  result += suffix;
  return result;
}

/// The file that a chain of links ends at, which may not exist yet.
fs::path resolved(const std::string& path) {
  std::error_code error;
  fs::path result = fs::weakly_canonical(path, error);
  return error || result.empty() ? fs::path(path) : result;
}

/// For names that GDAL's file systems know.
void require_absent(const std::string& path, OverwritePolicy overwrite, const std::string& name) {
  VSIStatBufL status;
  if (overwrite == OverwritePolicy::refuse && VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0) {
    fail(ErrorCode::file_exists, path, "the output exists", name == path ? "" : name);
  }
}

/// Makes an empty file or folder of a name that is not in use; otherwise says why not in `errno`.
bool reserve(const fs::path& path, Staging staging) {
  if (staging == Staging::copied) {
    return ::mkdir(path.c_str(), 0777) == 0;
  }
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor >= 0) {
    ::close(descriptor);
  }
  return descriptor >= 0;
}

std::string random_suffix() {
  static std::atomic<std::uint64_t> counter = 0;
  std::random_device source;
  const std::uint64_t bits = (static_cast<std::uint64_t>(source()) << 32) ^ source() ^ (counter++ << 16);
  char text[24];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(bits));
  return text;
}

/// Renames unless the target exists; ordinary rename where the file system can't do that.
int rename_without_replacing(const char* from, const char* to) {
#if defined(RENAME_NOREPLACE)
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
    return 0;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return -1;
  }
#endif
  if (is_present(to)) {
    errno = EEXIST;
    return -1;
  }
  return std::rename(from, to);
}

}  // namespace

OutputFile::OutputFile(std::string path, OverwritePolicy overwrite, const std::vector<std::string>& inputs,
                       Staging staging)
    : path_(std::move(path)), target_(path_), overwrite_(overwrite), staging_(staging) {
  if (path_.empty()) {
    fail(ErrorCode::invalid_argument, path_, "the output must have a name", "");
  }
  require_no_input(path_, inputs);
  is_virtual_ = path_.rfind("/vsi", 0) == 0;
  if (is_virtual_) {
    for (const char* suffix : sidecar_suffixes) {
      require_absent(path_, overwrite_, path_ + suffix);
    }
    require_absent(path_, overwrite_, path_);
  } else {
    check_local_target();
  }
  if (is_virtual_ && staging_ == Staging::direct) {
    temporary_ = product_ = path_;
    pending_ = true;
    return;
  }
  reserve_temporary();
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::check_local_target() {
  struct stat status;
  if (::stat(path_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::file_unwritable, path_, "the output must be a regular file",
           S_ISDIR(status.st_mode) ? "it is a directory" : "it is a device or a pipe");
    }
    if (overwrite_ == OverwritePolicy::refuse) {
      fail(ErrorCode::file_exists, path_, "the output exists", "");
    }
  }
  target_ = resolved(path_);
  for (const char* suffix : sidecar_suffixes) {
    if (overwrite_ == OverwritePolicy::refuse && is_present(with_suffix(target_, suffix))) {
      fail(ErrorCode::file_exists, path_, "a file exists that would describe the output",
           with_suffix(target_, suffix).string());
    }
  }
}

void OutputFile::reserve_temporary() {
  std::error_code ignored;
  const fs::path place = is_virtual_ ? fs::temp_directory_path(ignored) : target_.parent_path();
  // Names are bounded, usually by 255 bytes.
  const std::string name = target_.filename().string().substr(0, 200);
  for (int attempt = 0; attempt < 16; ++attempt) {
    const fs::path reserved = place / ("." + name + "." + random_suffix() + ".tmp");
    if (reserve(reserved, staging_)) {
      pending_ = true;
      temporary_ = product_ = reserved.string();
      if (staging_ == Staging::copied) {
        folder_ = reserved;
        temporary_ = (folder_ / (std::string(pixels_name))).string();
        // Under its own name, since formats derive the names of further files from it.
        product_ = is_virtual_ ? path_ : (folder_ / target_.filename()).string();
      }
      return;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  fail(ErrorCode::file_unwritable, path_, "the output's folder must be writable", system_message(errno));
}

void OutputFile::begin() {
  if (!is_virtual_ || begun_) {
    return;
  }
  begun_ = true;
  const MessageCollector quiet;
  for (const char* suffix : sidecar_suffixes) {
    VSIUnlink((path_ + suffix).c_str());
  }
}

/// Files that lie beside the product: sidecars of a file, whatever else a copied format made.
std::vector<fs::path> OutputFile::companions() const {
  std::vector<fs::path> found;
  if (staging_ == Staging::copied) {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path() != product_ && entry.path() != temporary_) {
        found.push_back(entry.path());
      }
    }
    return found;
  }
  for (const char* suffix : sidecar_suffixes) {
    if (is_present(with_suffix(product_, suffix))) {
      found.push_back(with_suffix(product_, suffix));
    }
  }
  return found;
}

void OutputFile::rename_product() {
  struct stat status;
  if (::stat(target_.c_str(), &status) == 0) {
    ::chmod(product_.c_str(), status.st_mode & 07777);
  }
  const int result = overwrite_ == OverwritePolicy::replace
                         ? std::rename(product_.c_str(), target_.c_str())
                         : rename_without_replacing(product_.c_str(), target_.c_str());
  if (result == 0) {
    return;
  }
  const int error_number = errno;
  discard();
  if (error_number == EEXIST) {
    fail(ErrorCode::file_exists, path_, "the output was made by someone else meanwhile", "");
  }
  fail(ErrorCode::file_unwritable, path_, "the finished file can't take its name", system_message(error_number));
}

void OutputFile::publish() {
  if (is_virtual_) {
    begun_ = false;
    discard();
    return;
  }
  std::vector<std::pair<fs::path, fs::path>> renames;
  for (const fs::path& own : companions()) {
    const fs::path other = staging_ == Staging::copied
                               ? target_.parent_path() / own.filename()
                               : fs::path(target_.string() + own.string().substr(product_.size()));
    if (overwrite_ == OverwritePolicy::refuse && is_present(other)) {
      discard();
      fail(ErrorCode::file_exists, path_, "a file exists that belongs to the output", other.string());
    }
    renames.emplace_back(own, other);
  }
  rename_product();
  if (overwrite_ == OverwritePolicy::replace) {
    for (const char* suffix : sidecar_suffixes) {
      ::unlink(with_suffix(target_, suffix).c_str());
    }
  }
  for (const auto& [own, other] : renames) {
    std::rename(own.c_str(), other.c_str());
  }
  discard();
}

void OutputFile::discard() noexcept {
  if (!std::exchange(pending_, false)) {
    return;
  }
  try {
    if (is_virtual_ && begun_) {
      const MessageCollector quiet;
      VSIUnlink(path_.c_str());
      for (const char* suffix : sidecar_suffixes) {
        VSIUnlink((path_ + suffix).c_str());
      }
    }
    if (!folder_.empty()) {
      std::error_code ignored;
      fs::remove_all(folder_, ignored);
      return;
    }
    if (is_virtual_) {
      return;
    }
    ::unlink(temporary_.c_str());
    for (const char* suffix : sidecar_suffixes) {
      ::unlink(with_suffix(temporary_, suffix).c_str());
    }
  } catch (...) {
    // Out of memory while building a name: the temporary stays, which nothing can help.
    return;
  }
}

}  // namespace tessera::io::detail
