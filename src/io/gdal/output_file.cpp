#include "output_file.hpp"

#include <cpl_vsi.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

[[noreturn]] void fail(ErrorCode code, const std::string& path, const char* rule, std::string values) {
  throw Error(code, {operation_name, path, rule, std::move(values)});
}

bool is_present(const fs::path& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

fs::path with_suffix(const fs::path& path, const char* suffix) {
  fs::path result = path;
  result += suffix;
  return result;
}

/// The file that a chain of links ends at, which may not exist yet.
fs::path resolved(const std::string& path) {
  fs::path result = path;
  // As many as the system follows.
  for (int links = 0; links < 40; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(result, error);
    if (error) {
      result = fs::weakly_canonical(result, error);
      return error || result.empty() ? fs::path(path) : result;
    }
    result = result.parent_path() / next;
  }
  fail(ErrorCode::file_unwritable, path, "the output's name can't be followed", system_message(ELOOP));
}

/// Requires that the name could be given to a file.
void require_usable_name(const std::string& path, const fs::path& target) {
  struct stat status;
  if (::lstat(target.c_str(), &status) != 0 && errno != ENOENT) {
    fail(ErrorCode::file_unwritable, path, "the output's name can't be used", system_message(errno));
  }
  if (target.filename().empty()) {
    fail(ErrorCode::file_unwritable, path, "the output's name must not end in a slash", "");
  }
}

/// For names that GDAL's file systems know.
bool is_present_anywhere(const std::string& name) {
  VSIStatBufL status;
  return VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG) == 0;
}

/// Virtual file systems in which a file can't be written or, when something fails, not be deleted again.
void require_file_system(const std::string& path, Staging staging) {
  constexpr const char* fixed[] = {"/vsizip/",  "/vsitar/",   "/vsigzip/",   "/vsi7z/",     "/vsirar/",
                                   "/vsistdin", "/vsistdout", "/vsisparse/", "/vsisubfile/"};
  const auto holds = [&](const char* system) { return path.find(system) != std::string::npos; };
  if (std::any_of(std::begin(fixed), std::end(fixed), holds)) {
    fail(ErrorCode::file_unwritable, path, "outputs can't be written into archives, streams and parts of files", "");
  }
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 6, 0)
  const bool can_write = staging == Staging::copied ? VSISupportsSequentialWrite(path.c_str(), true)
                                                    : VSISupportsRandomWrite(path.c_str(), true);
  if (!can_write) {
    fail(ErrorCode::file_unwritable, path, "the virtual file system must be writable", "");
  }
#else
  static_cast<void>(staging);
#endif
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
    : path_(std::move(path)), inputs_(inputs), target_(path_), overwrite_(overwrite), staging_(staging) {
  if (path_.empty()) {
    fail(ErrorCode::invalid_argument, path_, "the output must have a name", "");
  }
  const MessageCollector quiet;
  is_virtual_ = is_virtual_name(path_);
  if (is_virtual_) {
    check_virtual_target();
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

/// What lies beside the output and would be replaced or deleted with it.
void OutputFile::require_replaceable(const std::string& sidecar, const char* rule) {
  if (is_virtual_ ? !is_present_anywhere(sidecar) : !is_present(sidecar)) {
    return;
  }
  if (overwrite_ == OverwritePolicy::refuse) {
    fail(ErrorCode::file_exists, path_, rule, sidecar);
  }
  inputs_.require_apart(sidecar, path_);
}

void OutputFile::check_virtual_target() {
  require_file_system(path_, staging_);
  inputs_.require_apart(path_, path_);
  for (const std::string& container : containers_of(path_)) {
    inputs_.require_apart(container, path_);
  }
  for (const char* suffix : sidecar_suffixes) {
    require_replaceable(path_ + suffix, "a file exists that would describe the output");
  }
  if (overwrite_ == OverwritePolicy::refuse && is_present_anywhere(path_)) {
    fail(ErrorCode::file_exists, path_, "the output exists", "");
  }
}

void OutputFile::check_local_target() {
  target_ = resolved(path_);
  require_usable_name(path_, target_);
  inputs_.require_apart(path_, path_);
  struct stat status;
  if (::stat(target_.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      fail(ErrorCode::file_unwritable, path_, "the output must be a regular file",
           S_ISDIR(status.st_mode) ? "it is a directory" : "it is a device or a pipe");
    }
    if (overwrite_ == OverwritePolicy::refuse) {
      fail(ErrorCode::file_exists, path_, "the output exists", "");
    }
  }
  for (const char* suffix : sidecar_suffixes) {
    require_replaceable(with_suffix(target_, suffix).string(), "a file exists that would describe the output");
  }
}

void OutputFile::expect_companions(std::vector<std::string> names) {
  const MessageCollector quiet;
  expected_companions_ = std::move(names);
  for (const std::string& name : expected_companions_) {
    require_replaceable((target_.parent_path() / name).string(), "a file exists that belongs to the output");
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
  for (const std::string& companion : virtual_companions()) {
    VSIUnlink(companion.c_str());
  }
}

/// Files that lie beside a virtual output.
std::vector<std::string> OutputFile::virtual_companions() const {
  std::vector<std::string> found;
  for (const char* suffix : sidecar_suffixes) {
    found.push_back(path_ + suffix);
  }
  for (const std::string& name : expected_companions_) {
    found.push_back((target_.parent_path() / name).string());
  }
  return found;
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
    try {
      require_replaceable(other.string(), "a file exists that belongs to the output");
    } catch (...) {
      discard();
      throw;
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
      for (const std::string& companion : virtual_companions()) {
        VSIUnlink(companion.c_str());
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
