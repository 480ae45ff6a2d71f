#pragma once

#include <optional>
#include <string>
#include <vector>

#include <gdal.h>

#include <tessera/raster/no_data.hpp>
#include <tessera/raster/sample_type.hpp>

namespace tessera::io::detail {

/// Registers GDAL's drivers, once in a process.
void register_drivers();

/// Keeps what GDAL reports on this thread while it lives: nothing is printed, and the words go into our errors.
/// Belongs to the thread that made it; nests.
class MessageCollector {
 public:
  MessageCollector();
  ~MessageCollector();
  MessageCollector(const MessageCollector&) = delete;
  MessageCollector& operator=(const MessageCollector&) = delete;

  bool failed() const noexcept { return failed_; }
  /// The first failure and, where it differs, the last one; warnings when nothing failed.
  std::string text() const;
  void clear();

 private:
  static void CPL_STDCALL handle(CPLErr severity, CPLErrorNum number, const char* message);

  bool failed_ = false;
  std::string first_failure_;
  std::string last_failure_;
  std::string warning_;
};

/// Sets a configuration option of GDAL for this thread while it lives.
class ThreadOption {
 public:
  ThreadOption(const char* key, const char* value);
  ~ThreadOption();
  ThreadOption(const ThreadOption&) = delete;
  ThreadOption& operator=(const ThreadOption&) = delete;

 private:
  const char* key_;
  std::optional<std::string> before_;
};

/// Sole owner of an open dataset.
class Dataset {
 public:
  Dataset() = default;
  explicit Dataset(GDALDatasetH handle) noexcept : handle_(handle) {}
  Dataset(Dataset&& other) noexcept : handle_(other.release()) {}
  Dataset& operator=(Dataset&& other) noexcept;
  ~Dataset();

  GDALDatasetH get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  GDALDatasetH release() noexcept;

 private:
  GDALDatasetH handle_ = nullptr;
};

/// A null-terminated array of C strings over `texts`, as GDAL takes option lists. `texts` must outlive it.
std::vector<const char*> option_list(const std::vector<std::string>& texts);

/// GDAL's type that reads or writes samples of `type` without conversion.
GDALDataType gdal_type_of(raster::SampleType type);

/// The sample type that holds a band without loss; none for complex and unknown types.
std::optional<raster::SampleType> sample_type_of(GDALRasterBandH band);

/// The nodata value of a band whose sample type is `type`.
raster::NoData no_data_of(GDALRasterBandH band, raster::SampleType type);

/// A C string that may be null.
inline std::string text_or_empty(const char* text) { return text == nullptr ? std::string() : std::string(text); }

/// The error text for `errno`.
std::string system_message(int error_number);

}  // namespace tessera::io::detail
