#include "gdal_support.hpp"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

#include <mutex>
#include <system_error>
#include <utility>

#include <tessera/error.hpp>

namespace tessera::io::detail {

using raster::SampleType;

void register_drivers() {
  static std::once_flag once;
  std::call_once(once, [] {
    const MessageCollector quiet;
    GDALAllRegister();
  });
}

MessageCollector::MessageCollector() {
  CPLPushErrorHandlerEx(&MessageCollector::handle, this);
  // CPL_DEBUG is the application's own wish: such messages keep going where they went.
  CPLSetCurrentErrorHandlerCatchDebug(FALSE);
}

MessageCollector::~MessageCollector() { CPLPopErrorHandler(); }

void CPL_STDCALL MessageCollector::handle(CPLErr severity, CPLErrorNum, const char* message) {
  auto* self = static_cast<MessageCollector*>(CPLGetErrorHandlerUserData());
  if (self == nullptr) {
    return;
  }
  // GDAL is C: nothing may be thrown through it.
  try {
    if (severity >= CE_Failure) {
      (self->failed_ ? self->last_failure_ : self->first_failure_) = message;
      self->failed_ = true;
    } else if (severity == CE_Warning && self->warning_.empty()) {
      self->warning_ = message;
    }
  } catch (...) {
    self->failed_ = self->failed_ || severity >= CE_Failure;
  }
}

std::string MessageCollector::text() const {
  if (!failed_) {
    return warning_.empty() ? "GDAL gave no reason" : warning_;
  }
  if (last_failure_.empty() || last_failure_ == first_failure_) {
    return first_failure_;
  }
  return first_failure_ + "; " + last_failure_;
}

void MessageCollector::clear() {
  failed_ = false;
  first_failure_.clear();
  last_failure_.clear();
  warning_.clear();
}

ThreadOption::ThreadOption(const char* key, const char* value) : key_(key) {
  if (const char* before = CPLGetThreadLocalConfigOption(key, nullptr); before != nullptr) {
    before_ = before;
  }
  CPLSetThreadLocalConfigOption(key, value);
}

ThreadOption::~ThreadOption() { CPLSetThreadLocalConfigOption(key_, before_ ? before_->c_str() : nullptr); }

Dataset& Dataset::operator=(Dataset&& other) noexcept {
  if (this != &other) {
    Dataset old(release());
    handle_ = other.release();
  }
  return *this;
}

Dataset::~Dataset() {
  if (handle_ != nullptr) {
    const MessageCollector quiet;
    GDALClose(handle_);
  }
}

GDALDatasetH Dataset::release() noexcept { return std::exchange(handle_, nullptr); }

std::vector<const char*> option_list(const std::vector<std::string>& texts) {
  std::vector<const char*> list;
  list.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    list.push_back(text.c_str());
  }
  list.push_back(nullptr);
  return list;
}

GDALDataType gdal_type_of(SampleType type) {
  switch (type) {
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 7, 0)
    case SampleType::uint8:
      return GDT_Byte;
    case SampleType::sint8:
      return GDT_Int8;
#else
    case SampleType::uint8:
    case SampleType::sint8:
      return GDT_Byte;  // told apart by PIXELTYPE=SIGNEDBYTE
#endif
    case SampleType::uint16:
      return GDT_UInt16;
    case SampleType::sint16:
      return GDT_Int16;
    case SampleType::uint32:
      return GDT_UInt32;
    case SampleType::sint32:
      return GDT_Int32;
    case SampleType::uint64:
      return GDT_UInt64;
    case SampleType::sint64:
      return GDT_Int64;
    case SampleType::float32:
      return GDT_Float32;
    case SampleType::float64:
      return GDT_Float64;
  }
  return GDT_Unknown;
}

std::optional<SampleType> sample_type_of(GDALRasterBandH band) {
  switch (GDALGetRasterDataType(band)) {
    case GDT_Byte: {
      const char* pixel_type = GDALGetMetadataItem(band, "PIXELTYPE", "IMAGE_STRUCTURE");
      return pixel_type != nullptr && EQUAL(pixel_type, "SIGNEDBYTE") ? SampleType::sint8 : SampleType::uint8;
    }
    case GDT_UInt16:
      return SampleType::uint16;
    case GDT_Int16:
      return SampleType::sint16;
    case GDT_UInt32:
      return SampleType::uint32;
    case GDT_Int32:
      return SampleType::sint32;
    case GDT_UInt64:
      return SampleType::uint64;
    case GDT_Int64:
      return SampleType::sint64;
    case GDT_Float32:
      return SampleType::float32;
    case GDT_Float64:
      return SampleType::float64;
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 7, 0)
    case GDT_Int8:
      return SampleType::sint8;
#endif
#if GDAL_VERSION_NUM >= GDAL_COMPUTE_VERSION(3, 11, 0)
    case GDT_Float16:
      return SampleType::float32;
#endif
    default:
      return std::nullopt;
  }
}

raster::NoData no_data_of(GDALRasterBandH band, SampleType type) {
  int declared = FALSE;
  if (type == SampleType::sint64) {
    const std::int64_t value = GDALGetRasterNoDataValueAsInt64(band, &declared);
    return declared ? raster::NoData::of_signed(type, value) : raster::NoData();
  }
  if (type == SampleType::uint64) {
    const std::uint64_t value = GDALGetRasterNoDataValueAsUInt64(band, &declared);
    return declared ? raster::NoData::of_unsigned(type, value) : raster::NoData();
  }
  const double value = GDALGetRasterNoDataValue(band, &declared);
  return declared ? raster::NoData::of(type, value) : raster::NoData();
}

std::string system_message(int error_number) { return std::generic_category().message(error_number); }

}  // namespace tessera::io::detail
