#pragma once

#include <gdal.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::testing {

/// A raster that GDAL has open. Not copyable.
class Opened {
 public:
  explicit Opened(const std::string& path) {
    GDALAllRegister();
    dataset_ = GDALOpen(path.c_str(), GA_ReadOnly);
    EXPECT_NE(dataset_, nullptr) << path;
  }
  ~Opened() {
    if (dataset_ != nullptr) {
      GDALClose(dataset_);
    }
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  GDALDatasetH dataset() const { return dataset_; }
  GDALRasterBandH band(int number) const { return GDALGetRasterBand(dataset_, number); }
  std::vector<double> read(int number) const { return values_of(band(number)); }
  /// GDAL's own mask of the band: 0 where a pixel is missing.
  std::vector<double> read_mask(int number) const { return values_of(GDALGetMaskBand(band(number))); }
  /// A metadata item of the dataset; empty without it.
  std::string item(const char* name, const char* domain) const {
    const char* text = GDALGetMetadataItem(dataset_, name, domain);
    return text == nullptr ? "" : text;
  }

 private:
  std::vector<double> values_of(GDALRasterBandH band) const {
    const int width = GDALGetRasterXSize(dataset_);
    const int height = GDALGetRasterYSize(dataset_);
    std::vector<double> values(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    EXPECT_EQ(GDALRasterIO(band, GF_Read, 0, 0, width, height, values.data(), width, height, GDT_Float64, 0, 0),
              CE_None);
    return values;
  }

  GDALDatasetH dataset_ = nullptr;
};

}  // namespace tessera::testing
