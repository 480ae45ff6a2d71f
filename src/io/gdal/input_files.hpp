#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::io::detail {

/// Names of what describes a raster from beside it.
inline constexpr const char* sidecar_suffixes[] = {".aux.xml", ".ovr", ".msk", ".ovr.aux.xml", ".msk.ovr"};

/// Whether the name is one of GDAL's virtual file systems.
inline bool is_virtual_name(const std::string& name) { return name.starts_with("/vsi"); }

/// The archives and other files that a virtual name such as `/vsizip/scenes.zip/red.tif` reaches into, from the outside
/// in, as far as they exist; nothing for other names.
std::vector<std::string> containers_of(const std::string& name);

/// Every file that stands behind the inputs of a job: the inputs, what they refer to (the sources of a virtual raster,
/// of those that are virtual again, and so on), the archives that these lie in, and whatever describes a raster from
/// beside it. They are looked up when the first question is about a file that exists.
///
/// Thread-safety: one thread at a time.
class InputFiles {
 public:
  /// `names` as datasets are opened by.
  explicit InputFiles(std::vector<std::string> names) : inputs_(std::move(names)) {}

  /// Throws `alias` when `path`, also through a link, is one of the files. `output` is the output's name for the
  /// message. `limit_exceeded` when more files stand behind the inputs than can be looked up.
  void require_apart(const std::string& path, const std::string& output);

 private:
  using Identity = std::pair<std::uint64_t, std::uint64_t>;  ///< device and number of a local file

  void look_up();
  void add(const std::string& name);
  void add_references(const std::string& name);

  std::vector<std::string> inputs_;
  bool looked_up_ = false;
  std::set<std::string> names_;
  std::map<Identity, std::string> local_;
  std::vector<std::string> pending_;
};

}  // namespace tessera::io::detail
