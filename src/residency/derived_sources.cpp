#include <tessera/residency/derived_sources.hpp>

#include <cmath>
#include <utility>

#include <tessera/error.hpp>

namespace tessera::residency {
namespace {

bool lies_inside(const Window& window, Extent extent) {
  return window.width > 0 && window.height > 0 && window.column >= 0 && window.row >= 0 &&
         window.width <= extent.width && window.height <= extent.height &&
         window.column <= extent.width - window.width && window.row <= extent.height - window.height;
}

raster::RasterMetadata metadata_of(const raster::RasterMetadata& whole, const Window& window) {
  raster::RasterMetadata part = whole;
  part.width = window.width;
  part.height = window.height;
  const auto column = static_cast<double>(window.column);
  const auto row = static_cast<double>(window.row);
  // Without georeferencing the affine stays the identity.
  if (whole.georeferencing == raster::Georeferencing::present) {
    part.affine[2] += whole.affine[0] * column + whole.affine[1] * row;
    part.affine[5] += whole.affine[3] * column + whole.affine[4] * row;
  }
  // Pixels of a reduced level have no known size in pixels of level zero.
  if (whole.level.value_or(0) != 0)
    part.level_zero_origin.reset();
  else if (part.level_zero_origin)
    part.level_zero_origin = {(*whole.level_zero_origin)[0] + column, (*whole.level_zero_origin)[1] + row};
  return part;
}

}  // namespace

SubsetSource::SubsetSource(const TileSource& source, const Window& window) : source_(&source), window_(window) {
  const Extent extent = source.extent();
  if (!lies_inside(window, extent)) {
    throw Error(
        ErrorCode::range_out_of_bounds,
        {"subset_source", source.name(), "the window must be non-empty and inside the raster",
         "window " + window.text() + " of " + std::to_string(extent.width) + " x " + std::to_string(extent.height)});
  }
  metadata_ = metadata_of(source.metadata(), window);
}

void SubsetSource::read_checked(const ReadRequest& request, const std::stop_token& stop) const {
  ReadRequest moved = request;
  moved.window.column += window_.column;
  moved.window.row += window_.row;
  source_->read(moved, stop);
}

bool SubsetSource::is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                                    std::span<const std::uint32_t> planes) const {
  Window moved = window;
  moved.column += window_.column;
  moved.row += window_.row;
  return source_->is_blank(moved, bands, planes);
}

RedescribedSource::RedescribedSource(const TileSource& source, std::vector<raster::BandInfo> bands)
    : source_(&source), bands_(std::move(bands)) {
  const std::span<const raster::BandInfo> inner = source.bands();
  const auto reject = [&](ErrorCode code, const char* rule, const std::string& values) {
    throw Error(code, {"redescribed_source", source.name(), rule, values});
  };
  if (bands_.size() != inner.size()) {
    reject(ErrorCode::length_mismatch, "there must be one description for each band",
           std::to_string(bands_.size()) + " for " + std::to_string(inner.size()));
  }
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    raster::BandInfo& band = bands_[i];
    const std::string which = "band " + std::to_string(i + 1) + ": ";
    if (band.type != inner[i].type) {
      reject(ErrorCode::format_mismatch, "the sample type can't change",
             which + std::string(name_of(inner[i].type)) + " and " + std::string(name_of(band.type)));
    }
    if (band.no_data.kind() != raster::NoData::Kind::none && band.no_data.type() != band.type) {
      reject(ErrorCode::format_mismatch, "the nodata value must be of the band's type",
             which + std::string(name_of(band.no_data.type())) + " and " + std::string(name_of(band.type)));
    }
    if (!std::isfinite(band.scale_or_default()) || !std::isfinite(band.offset_or_default()))
      reject(ErrorCode::invalid_argument, "scale and offset must be finite", which + "not finite");
    if (band.scale == 0.0) band.scale.reset();
    band.validity = inner[i].validity;
    band.validity_plane = inner[i].validity_plane;
  }
}

void RedescribedSource::read_checked(const ReadRequest& request, const std::stop_token& stop) const {
  source_->read(request, stop);
}

bool RedescribedSource::is_blank_checked(const Window& window, std::span<const std::uint32_t> bands,
                                         std::span<const std::uint32_t> planes) const {
  return source_->is_blank(window, bands, planes);
}

}  // namespace tessera::residency
