#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/io/raster_writer.hpp>

#include "input_files.hpp"

namespace tessera::io::detail {

/// How an output is made.
enum class Staging : std::uint8_t {
  direct,  ///< what is written becomes the output
  copied,  ///< what is written is copied into another format, which may have several files
};

/// A file that appears under its name complete or not at all: the work goes to a temporary beside it, a file, or a
/// folder for formats that are copied. Names under `/vsi` are written directly and deleted on failure; what they are
/// copied from lies in the system's folder for temporary files.
class OutputFile {
 public:
  /// Checks target and inputs and reserves the temporary; throws as `RasterWriter::create` says.
  OutputFile(std::string path, OverwritePolicy overwrite, const std::vector<std::string>& inputs, Staging staging);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Where to write.
  const std::string& temporary() const noexcept { return temporary_; }
  /// What gets the output's name: the temporary, or where its copy goes.
  const std::string& product() const noexcept { return product_; }
  /// Names, without folder, of further files that the output will have: they must not be in the way either.
  /// `file_exists`, `alias`.
  void expect_companions(std::vector<std::string> names);
  /// The name of the output without folder.
  std::string file_name() const { return target_.filename().string(); }
  /// Where files may be made that go with the temporary. Only for `Staging::copied`.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// To be called before anything is made at `product()`: a virtual output that exists is replaced from here on.
  void begin();
  /// Gives the closed product its name and removes what described the file it replaces.
  void publish();
  /// Removes the temporary. Idempotent, nothing after `publish`.
  void discard() noexcept;

 private:
  void check_virtual_target();
  void check_local_target();
  void require_replaceable(const std::string& sidecar, const char* rule);
  void reserve_temporary();
  std::vector<std::string> virtual_companions() const;
  std::vector<std::filesystem::path> companions() const;
  void rename_product();

  std::string path_;
  InputFiles inputs_;
  std::filesystem::path target_;  ///< the file behind a link
  std::filesystem::path folder_;  ///< of what is copied; empty for `Staging::direct`
  std::string temporary_;
  std::string product_;
  std::vector<std::string> expected_companions_;
  OverwritePolicy overwrite_;
  Staging staging_;
  bool is_virtual_ = false;
  bool pending_ = false;  ///< something of ours may exist
  bool begun_ = false;    ///< of a virtual output
};

}  // namespace tessera::io::detail
