#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tessera/io/raster_writer.hpp>

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
  /// To be called before anything is made at `product()`: a virtual output that exists is replaced from here on.
  void begin();
  /// Gives the closed product its name and removes what described the file it replaces.
  void publish();
  /// Removes the temporary. Idempotent, nothing after `publish`.
  void discard() noexcept;

 private:
  void check_local_target();
  void reserve_temporary();
  std::vector<std::filesystem::path> companions() const;
  void rename_product();

  std::string path_;
  std::filesystem::path target_;  ///< the file behind a link
  std::filesystem::path folder_;  ///< of what is copied; empty for `Staging::direct`
  std::string temporary_;
  std::string product_;
  OverwritePolicy overwrite_;
  Staging staging_;
  bool is_virtual_ = false;
  bool pending_ = false;  ///< something of ours may exist
  bool begun_ = false;    ///< of a virtual output
};

}  // namespace tessera::io::detail
