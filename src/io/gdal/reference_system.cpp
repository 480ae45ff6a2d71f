#include "reference_system.hpp"

namespace tessera::io::detail {

Reference reference_of(const std::string& definition) {
  Reference reference(OSRNewSpatialReference(nullptr));
  if (reference == nullptr || OSRSetFromUserInput(reference.get(), definition.c_str()) != OGRERR_NONE) {
    return nullptr;
  }
  OSRSetAxisMappingStrategy(reference.get(), OAMS_TRADITIONAL_GIS_ORDER);
  return reference;
}

Reference reference_of(const raster::CoordinateReferenceSystem& identity) {
  return reference_of(identity.well_known_text.empty() ? identity.authority : identity.well_known_text);
}

Transformation transformation_between(const Reference& from, const Reference& to) {
  return Transformation(OCTNewCoordinateTransformation(from.get(), to.get()));
}

}  // namespace tessera::io::detail
