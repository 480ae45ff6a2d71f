#pragma once

#include <memory>
#include <string>

#include <ogr_srs_api.h>

#include <tessera/raster/metadata.hpp>

namespace tessera::io::detail {

struct ReferenceDeleter {
  void operator()(OGRSpatialReferenceH system) const { OSRDestroySpatialReference(system); }
};
/// A coordinate reference system with x before y.
using Reference = std::unique_ptr<void, ReferenceDeleter>;

struct TransformationDeleter {
  void operator()(OGRCoordinateTransformationH transformation) const {
    OCTDestroyCoordinateTransformation(transformation);
  }
};
using Transformation = std::unique_ptr<void, TransformationDeleter>;

/// Anything that GDAL understands as a reference system; null when it doesn't.
Reference reference_of(const std::string& definition);
Reference reference_of(const raster::CoordinateReferenceSystem& identity);

/// Null when PROJ finds none.
Transformation transformation_between(const Reference& from, const Reference& to);

}  // namespace tessera::io::detail
