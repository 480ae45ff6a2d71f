#include <tessera/io/alignment.hpp>

#include <cpl_conv.h>
#include <cpl_string.h>
#include <gdalwarper.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include <tessera/error.hpp>

#include "creation.hpp"
#include "raster_file_state.hpp"
#include "reference_system.hpp"

namespace tessera::io {

namespace {

using raster::BandInfo;
using raster::NoData;
using raster::RasterMetadata;
using raster::SampleType;
using raster::ValiditySource;

[[noreturn]] void fail(ErrorCode code, const std::string& name, const char* rule, std::string values = {}) {
  throw Error(code, {"align", name, rule, std::move(values)});
}

/// What every handle of an aligned file is made from.
struct Plan {
  std::string name;
  std::function<detail::Dataset()> open_source;
  std::vector<BandInfo> bands;
  std::array<double, 6> geotransform = {};
  int width = 0;
  int height = 0;
  std::string target_reference;  ///< empty: that of the source
  GDALResampleAlg resampling = GRA_NearestNeighbour;
  int source_alpha = 0;
  int target_alpha = 0;  ///< a band of the source, or one behind its bands
};

struct WarpOptionsDeleter {
  void operator()(GDALWarpOptions* options) const { GDALDestroyWarpOptions(options); }
};
using WarpOptions = std::unique_ptr<GDALWarpOptions, WarpOptionsDeleter>;

/// A nodata value for a band that has none, where others have one: it matches no sample that isn't missing anyway.
double unused_no_data(SampleType type) {
  return raster::is_floating_point(type) ? std::numeric_limits<double>::quiet_NaN() : -1.1e20;
}

void set_no_data(GDALWarpOptions& options, const std::vector<const BandInfo*>& bands) {
  const auto is_declared = [](const BandInfo* band) {
    return band->no_data.needs_comparison() || band->no_data.kind() == NoData::Kind::not_a_number;
  };
  if (std::none_of(bands.begin(), bands.end(), is_declared)) {
    return;
  }
  const std::size_t bytes = sizeof(double) * bands.size();
  options.padfSrcNoDataReal = static_cast<double*>(CPLMalloc(bytes));
  options.padfDstNoDataReal = static_cast<double*>(CPLMalloc(bytes));
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const double value = is_declared(bands[i]) ? bands[i]->no_data.declared() : unused_no_data(bands[i]->type);
    options.padfSrcNoDataReal[i] = options.padfDstNoDataReal[i] = value;
  }
  options.papszWarpOptions = CSLSetNameValue(options.papszWarpOptions, "INIT_DEST", "NO_DATA");
  options.papszWarpOptions = CSLSetNameValue(options.papszWarpOptions, "UNIFIED_SRC_NODATA", "NO");
}

WarpOptions warp_options(const Plan& plan, GDALDatasetH source, void* transformer) {
  WarpOptions options(GDALCreateWarpOptions());
  std::vector<int> numbers;
  std::vector<const BandInfo*> bands;
  for (std::size_t i = 0; i < plan.bands.size(); ++i) {
    if (static_cast<int>(i + 1) != plan.source_alpha) {
      numbers.push_back(static_cast<int>(i + 1));
      bands.push_back(&plan.bands[i]);
    }
  }
  options->hSrcDS = source;
  options->eResampleAlg = plan.resampling;
  options->pfnTransformer = &GDALGenImgProjTransform;
  options->pTransformerArg = transformer;
  options->nBandCount = static_cast<int>(numbers.size());
  options->panSrcBands = static_cast<int*>(CPLMalloc(sizeof(int) * numbers.size()));
  options->panDstBands = static_cast<int*>(CPLMalloc(sizeof(int) * numbers.size()));
  std::copy(numbers.begin(), numbers.end(), options->panSrcBands);
  std::copy(numbers.begin(), numbers.end(), options->panDstBands);
  options->nSrcAlphaBand = plan.source_alpha;
  options->nDstAlphaBand = plan.target_alpha;
  // GDAL's own choice follows the nodata values and may not hold all integers.
  const bool is_uniform =
      std::all_of(bands.begin(), bands.end(), [&](const BandInfo* band) { return band->type == bands.front()->type; });
  options->eWorkingDataType = is_uniform ? detail::gdal_type_of(bands.front()->type) : GDT_Float64;
  options->papszWarpOptions = CSLSetNameValue(options->papszWarpOptions, "INIT_DEST", "0");
  set_no_data(*options, bands);
  return options;
}

detail::Dataset open_aligned(const Plan& plan) {
  detail::Dataset source = plan.open_source();
  detail::MessageCollector messages;
  char** transformer_options = nullptr;
  if (!plan.target_reference.empty()) {
    transformer_options = CSLSetNameValue(transformer_options, "DST_SRS", plan.target_reference.c_str());
  }
  void* transformer = GDALCreateGenImgProjTransformer2(source.get(), nullptr, transformer_options);
  CSLDestroy(transformer_options);
  if (transformer == nullptr) {
    fail(ErrorCode::invalid_argument, plan.name, "there must be a transformation to the other grid", messages.text());
  }
  std::array<double, 6> geotransform = plan.geotransform;
  GDALSetGenImgProjTransformerDstGeoTransform(transformer, geotransform.data());
  const WarpOptions options = warp_options(plan, source.get(), transformer);
  // Owns the transformer from here on, and a share of the source.
  detail::Dataset aligned(
      GDALCreateWarpedVRT(source.get(), plan.width, plan.height, geotransform.data(), options.get()));
  if (!aligned) {
    fail(ErrorCode::file_unreadable, plan.name, "can't be aligned", messages.text());
  }
  GDALReleaseDataset(source.release());
  return aligned;
}

/// The one alpha band of a file, or 0.
int alpha_of(const RasterFile& file) {
  int number = 0;
  for (const BandInfo& band : file.bands()) {
    ++number;
    if (band.color_interpretation == "Alpha") {
      return number;
    }
  }
  return 0;
}

void require_alignable(const RasterFile& file, const residency::TileSource& reference,
                       const std::vector<detail::ValidityPlane>& planes, Resampling resampling) {
  if (file.metadata().georeferencing != raster::Georeferencing::present) {
    fail(ErrorCode::invalid_argument, file.name(), "only georeferenced rasters can be aligned");
  }
  if (reference.metadata().georeferencing != raster::Georeferencing::present) {
    fail(ErrorCode::invalid_argument, reference.name(), "a grid to align to must be georeferenced");
  }
  for (const detail::ValidityPlane& plane : planes) {
    if (plane.mask_of_band > 1 || (plane.mask_of_band != 0 && plane.alpha_band != 0)) {
      fail(ErrorCode::file_unsupported, file.name(), "masks of single bands and masks beside alpha can't be aligned");
    }
  }
  int number = 0;
  for (const BandInfo& band : file.bands()) {
    ++number;
    const bool is_exact = band.type != SampleType::uint64 && band.type != SampleType::sint64;
    // GDAL before 3.7 calculates with signed bytes as if they were unsigned.
    const bool is_understood = band.type != SampleType::sint8 || resampling == Resampling::nearest ||
                               detail::gdal_type_of(SampleType::sint8) != GDT_Byte;
    if (!is_exact || !is_understood) {
      fail(ErrorCode::file_unsupported, file.name(), "the samples' type can't be resampled exactly",
           "band " + std::to_string(number) + " is " + std::string(name_of(band.type)));
    }
  }
}

/// The file's description on the other grid: its bands, and one plane for all that is missing besides nodata.
detail::RasterDescription aligned_description(const detail::RasterDescription& file, const RasterMetadata& grid,
                                              const Plan& plan, GDALDatasetH aligned) {
  detail::RasterDescription description = file;
  description.metadata = grid;
  description.band_count = GDALGetRasterCount(aligned);
  description.bands_decode_alone = false;
  description.planes.clear();
  detail::ValidityPlane plane;
  (plan.source_alpha != 0 ? plane.alpha_band : plane.mask_band) = plan.target_alpha;
  description.planes.push_back(plane);
  std::uint64_t sample_bytes = 0;
  for (std::size_t i = 0; i < description.bands.size(); ++i) {
    BandInfo& band = description.bands[i];
    sample_bytes += raster::size_of(band.type);
    const bool is_alpha = static_cast<int>(i + 1) == plan.source_alpha;
    band.validity = is_alpha                 ? ValiditySource::none
                    : plan.source_alpha != 0 ? ValiditySource::alpha
                                             : ValiditySource::mask;
    band.validity_plane = 0;
  }
  int width = 0;
  int height = 0;
  GDALGetBlockSize(GDALGetRasterBand(aligned, 1), &width, &height);
  description.info.block = {width, height};
  description.info.overviews.clear();
  const std::uint64_t block_bytes =
      static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * sample_bytes;
  description.block_bytes = std::max(file.block_bytes, block_bytes);
  return description;
}

std::string definition_of(const raster::CoordinateReferenceSystem& identity) {
  return identity.well_known_text.empty() ? identity.authority : identity.well_known_text;
}

GDALResampleAlg gdal_resampling_of(Resampling resampling) {
  switch (resampling) {
    case Resampling::nearest:
      return GRA_NearestNeighbour;
    case Resampling::bilinear:
      return GRA_Bilinear;
    case Resampling::average:
      return GRA_Average;
  }
  return GRA_NearestNeighbour;
}

/// Area of the middle pixel, in units of the reference system of `first`.
double pixel_area_in(const RasterFile& file, const RasterFile& first) {
  const RasterMetadata& metadata = file.metadata();
  const auto column = static_cast<double>(metadata.width / 2);
  const auto row = static_cast<double>(metadata.height / 2);
  std::array<double, 3> x = {};
  std::array<double, 3> y = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto at = metadata.world_position(column + (i == 1 ? 1.0 : 0.0), row + (i == 2 ? 1.0 : 0.0));
    x[i] = at[0];
    y[i] = at[1];
  }
  const auto& from = metadata.coordinate_reference_system;
  const auto& to = first.metadata().coordinate_reference_system;
  if (from && to && !(*from == *to)) {
    const detail::MessageCollector messages;
    const detail::Reference source = detail::reference_of(*from);
    const detail::Reference target = detail::reference_of(*to);
    const detail::Transformation transformation = source == nullptr || target == nullptr
                                                      ? detail::Transformation()
                                                      : detail::transformation_between(source, target);
    if (transformation == nullptr || OCTTransform(transformation.get(), 3, x.data(), y.data(), nullptr) == FALSE) {
      fail(ErrorCode::invalid_argument, file.name(), "there must be a transformation to the first grid",
           messages.text());
    }
  }
  return std::abs((x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0]));
}

}  // namespace

RasterFile align(const RasterFile& file, const residency::TileSource& reference, Resampling resampling) {
  const RasterFile::Implementation& source = *file.implementation_;
  const detail::RasterDescription& described = source.description();
  require_alignable(file, reference, described.planes, resampling);
  const RasterMetadata& grid = reference.metadata();
  constexpr std::int64_t most = std::numeric_limits<int>::max();
  if (grid.width > most || grid.height > most) {
    fail(ErrorCode::limit_exceeded, reference.name(), "GDAL's rasters have at most 2147483647 columns and rows",
         std::to_string(grid.width) + " x " + std::to_string(grid.height));
  }
  Plan plan;
  plan.name = file.name();
  plan.open_source = source.opener();
  plan.bands = described.bands;
  plan.geotransform = detail::geotransform_of(grid);
  plan.width = static_cast<int>(grid.width);
  plan.height = static_cast<int>(grid.height);
  const auto& own = file.metadata().coordinate_reference_system;
  if (own && grid.coordinate_reference_system) {
    plan.target_reference = definition_of(*grid.coordinate_reference_system);
  }
  plan.resampling = gdal_resampling_of(resampling);
  plan.source_alpha = alpha_of(file);
  plan.target_alpha = plan.source_alpha != 0 ? plan.source_alpha : static_cast<int>(described.bands.size()) + 1;
  if (plan.source_alpha != 0 && described.bands.size() == 1) {
    fail(ErrorCode::file_unsupported, file.name(), "an alpha band alone can't be aligned");
  }
  detail::Dataset first = open_aligned(plan);
  detail::RasterDescription description = aligned_description(described, grid, plan, first.get());
  return RasterFile(std::make_unique<RasterFile::Implementation>(
      file.name(), source.options(), std::move(description), std::move(first),
      [plan = std::move(plan)] { return open_aligned(plan); }));
}

std::size_t choose_grid(std::span<const RasterFile* const> files, GridChoice choice) {
  if (files.empty()) {
    throw Error(ErrorCode::missing_operand, {"choose_grid", "files", "there must be at least one", ""});
  }
  std::size_t chosen = 0;
  double chosen_area = 0.0;
  for (std::size_t i = 0; i < files.size() && choice != GridChoice::first; ++i) {
    if (files[i]->metadata().georeferencing != raster::Georeferencing::present) {
      fail(ErrorCode::invalid_argument, files[i]->name(), "only georeferenced rasters can be aligned");
    }
    const double area = pixel_area_in(*files[i], *files.front());
    if (i == 0 || (choice == GridChoice::finest ? area < chosen_area : area > chosen_area)) {
      chosen = i;
      chosen_area = area;
    }
  }
  return chosen;
}

}  // namespace tessera::io
