#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/io/raster_writer.hpp>

namespace tessera::io::detail {

/// A file that appears under its name complete or not at all: the work goes to a temporary beside it.
/// Names under `/vsi` have no temporary; they are written directly and deleted on failure.
class OutputFile {
 public:
  /// Checks target and inputs and reserves the temporary; throws as `RasterWriter::create` says.
  OutputFile(std::string path, OverwritePolicy overwrite, const std::vector<std::string>& inputs);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Where to write.
  const std::string& temporary() const noexcept { return temporary_; }
  /// Gives the closed temporary its name and removes what described the file it replaces.
  void publish();
  /// Removes the temporary. Idempotent, nothing after `publish`.
  void discard() noexcept;

 private:
  void reserve_temporary();
  void rename_temporary();

  std::string path_;
  std::filesystem::path target_;  ///< the file behind a link
  std::string temporary_;
  OverwritePolicy overwrite_;
  bool is_virtual_ = false;
  bool pending_ = false;
};

}  // namespace tessera::io::detail
