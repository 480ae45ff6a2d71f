#include "input_files.hpp"

#include <cpl_conv.h>
#include <cpl_minixml.h>
#include <cpl_string.h>
#include <cpl_vsi.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include <tessera/error.hpp>

#include "gdal_support.hpp"

namespace tessera::io::detail {

namespace {

/// More names than any mosaic has that a job reads.
constexpr std::size_t most_names = 1'000'000;

std::optional<std::pair<std::uint64_t, std::uint64_t>> identity_of(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    return std::nullopt;
  }
  return std::pair<std::uint64_t, std::uint64_t>(status.st_dev, status.st_ino);
}

bool is_regular_file(const std::string& name) {
  VSIStatBufL status;
  return VSIStatExL(name.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) == 0 &&
         !VSI_ISDIR(status.st_mode);
}

/// Whether asking about the name stays on this machine.
bool is_local(const std::string& name) {
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 6, 0)
  return VSIIsLocal(name.c_str());
#else
  const char* const remote[] = {"/vsicurl", "/vsis3", "/vsigs", "/vsiaz", "/vsiadls", "/vsioss", "/vsiswift"};
  return std::none_of(std::begin(remote), std::end(remote),
                      [&](const char* prefix) { return name.starts_with(prefix); });
#endif
}

void append_sources(const CPLXMLNode* node, std::vector<std::string>& names) {
  for (; node != nullptr; node = node->psNext) {
    if (node->eType == CXT_Element &&
        (EQUAL(node->pszValue, "SourceFilename") || EQUAL(node->pszValue, "SourceDataset"))) {
      names.emplace_back(CPLGetXMLValue(node, nullptr, ""));
    }
    append_sources(node->psChild, names);
  }
}

/// Files inside the names of a virtual raster's sources that are no files themselves, as `NETCDF:"scene.nc":red`, which
/// GDAL's list of files leaves out.
std::vector<std::string> files_in_source_names(GDALDatasetH dataset, const std::string& name) {
  std::vector<std::string> files;
  char** text = GDALGetMetadata(dataset, "xml:VRT");
  CPLXMLNode* const tree = text == nullptr || text[0] == nullptr ? nullptr : CPLParseXMLString(text[0]);
  std::vector<std::string> sources;
  append_sources(tree, sources);
  CPLDestroyXMLNode(tree);
  const std::string folder = CPLGetPath(name.c_str());
  for (const std::string& source : sources) {
    if (source.find(':') == std::string::npos) {
      continue;
    }
    for (std::size_t begin = 0; begin < source.size();) {
      const std::size_t end = std::min(source.find_first_of(":\"", begin), source.size());
      const std::string part = source.substr(begin, end - begin);
      for (const std::string& file : {part, std::string(CPLFormFilename(folder.c_str(), part.c_str(), nullptr))}) {
        if (!part.empty() && is_regular_file(file)) {
          files.push_back(file);
        }
      }
      begin = end + 1;
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> containers_of(const std::string& name) {
  std::vector<std::string> found;
  if (!is_virtual_name(name)) {
    return found;
  }
  // A path may begin after the name of a file system, as in /vsizip/PATH/MEMBER, or after its parameters, as in
  // /vsisubfile/OFFSET_SIZE,PATH and /vsizip/{PATH}/MEMBER, and is followed by what lies inside.
  for (std::size_t begin = 1; begin < name.size(); ++begin) {
    const std::size_t system = name.rfind('/', begin - 2);
    const bool is_after_system =
        begin > 1 && name[begin - 1] == '/' && system != std::string::npos && name.compare(system, 4, "/vsi") == 0;
    if (!is_after_system && std::string_view(",={").find(name[begin - 1]) == std::string_view::npos) {
      continue;
    }
    for (std::size_t end = name.find_first_of("/}", begin + 1);; end = name.find_first_of("/}", end + 1)) {
      const std::string path = name.substr(begin, end == std::string::npos ? end : end - begin);
      if (path != name && is_regular_file(path)) {
        found.push_back(path);
      }
      if (end == std::string::npos) {
        break;
      }
    }
  }
  return found;
}

void InputFiles::add(const std::string& name) {
  if (names_.size() >= most_names) {
    throw Error(ErrorCode::limit_exceeded,
                {"raster_writer", name, "too many files stand behind the inputs to tell whether the output is one",
                 std::to_string(names_.size())});
  }
  if (!names_.insert(name).second) {
    return;
  }
  if (!is_virtual_name(name)) {
    if (const auto identity = identity_of(name)) {
      local_.emplace(*identity, name);
    }
  }
}

/// Virtual rasters name others; what describes a raster from beside it counts as read.
void InputFiles::add_references(const std::string& name) {
  for (const std::string& container : containers_of(name)) {
    add(container);
  }
  if (!is_local(name)) {
    return;
  }
  for (const char* suffix : sidecar_suffixes) {
    if (is_regular_file(name + suffix)) {
      add(name + suffix);
    }
  }
  const GDALDriverH driver = GDALIdentifyDriverEx(name.c_str(), GDAL_OF_RASTER, nullptr, nullptr);
  // By far the most frequent format refers to nothing but its sidecars.
  if (driver == nullptr || EQUAL(GDALGetDriverShortName(driver), "GTiff")) {
    return;
  }
  const Dataset dataset(GDALOpenEx(name.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY, nullptr, nullptr, nullptr));
  if (!dataset) {
    return;
  }
  std::vector<std::string> found = files_in_source_names(dataset.get(), name);
  char** files = GDALGetFileList(dataset.get());
  for (int i = 0; files != nullptr && files[i] != nullptr; ++i) {
    found.emplace_back(files[i]);
  }
  CSLDestroy(files);
  for (const std::string& file : found) {
    if (!names_.contains(file)) {
      add(file);
      pending_.push_back(file);
    }
  }
}

void InputFiles::look_up() {
  looked_up_ = true;
  register_drivers();
  const MessageCollector quiet;
  for (const std::string& name : inputs_) {
    add(name);
  }
  pending_ = inputs_;
  while (!pending_.empty()) {
    const std::string name = std::move(pending_.back());
    pending_.pop_back();
    add_references(name);
  }
}

void InputFiles::require_apart(const std::string& path, const std::string& output) {
  const auto refuse = [&](const std::string& input) {
    const char* const rule = path == output ? "the output must not be one of the inputs, nor a file behind one"
                                            : "a file that goes with the output must not be one of the inputs";
    throw Error(ErrorCode::alias, {"raster_writer", output, rule, input});
  };
  if (const auto same = std::find(inputs_.begin(), inputs_.end(), path); same != inputs_.end()) {
    refuse(*same);
  }
  const auto identity = is_virtual_name(path) ? std::nullopt : identity_of(path);
  if (!identity && !(is_virtual_name(path) && is_local(path) && is_regular_file(path))) {
    return;
  }
  if (!looked_up_) {
    look_up();
  }
  if (names_.contains(path)) {
    refuse(path);
  }
  if (identity) {
    if (const auto found = local_.find(*identity); found != local_.end()) {
      refuse(found->second);
    }
  }
}

}  // namespace tessera::io::detail
