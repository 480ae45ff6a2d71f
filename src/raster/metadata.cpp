#include <tessera/raster/metadata.hpp>

#include <charconv>
#include <cmath>
#include <limits>

#include <tessera/error.hpp>

namespace tessera::raster {

namespace {

constexpr const char* operation_name = "raster_metadata";

std::string number(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

template <std::size_t count>
std::string list(const std::array<double, count>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "" : ", ") + number(values[i]);
  }
  return text + "]";
}

std::string text_of(PixelInterpretation interpretation) {
  switch (interpretation) {
    case PixelInterpretation::area:
      return "area";
    case PixelInterpretation::point:
      return "point";
    case PixelInterpretation::unspecified:
      break;
  }
  return "unspecified";
}

std::string text_of(const std::optional<CoordinateReferenceSystem>& system) {
  if (!system) {
    return "none";
  }
  if (!system->authority.empty()) {
    return system->authority;
  }
  return system->well_known_text.empty() ? system->projection_json : system->well_known_text;
}

std::string text_of(const std::optional<std::uint32_t>& level) { return level ? std::to_string(*level) : "none"; }

std::string text_of(const std::optional<std::array<double, 2>>& origin) { return origin ? list(*origin) : "none"; }

template <std::size_t count>
bool all_finite(const std::array<double, count>& values) {
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return false;
    }
  }
  return true;
}

double determinant(const std::array<double, 6>& affine) { return affine[0] * affine[4] - affine[1] * affine[3]; }

[[noreturn]] void reject(const char* field, const char* rule, std::string values) {
  throw Error(ErrorCode::invalid_argument, {operation_name, field, rule, std::move(values)});
}

void require_equal(const char* field, bool equal, const std::string& left, const std::string& right) {
  if (!equal) {
    throw Error(ErrorCode::grid_mismatch, {operation_name, field, "grids must be the same", left + " and " + right});
  }
}

}  // namespace

void RasterMetadata::validate() const {
  if (width <= 0) {
    reject("width", "must be positive", std::to_string(width));
  }
  if (height <= 0) {
    reject("height", "must be positive", std::to_string(height));
  }
  if (width > std::numeric_limits<std::int64_t>::max() / height) {
    reject("width", "the pixel count must stay below 2^63", std::to_string(width) + " x " + std::to_string(height));
  }
  if (!all_finite(affine)) {
    reject("affine", "coefficients must be finite", list(affine));
  }
  const double area = determinant(affine);
  if (!std::isfinite(area) || area == 0.0) {
    reject("affine", "the determinant must be finite and not 0", list(affine));
  }
  if (pixel_interpretation != PixelInterpretation::area && pixel_interpretation != PixelInterpretation::point) {
    reject("pixel_interpretation", "must be area or point",
           std::to_string(static_cast<unsigned>(pixel_interpretation)));
  }
  if (level_zero_origin && !all_finite(*level_zero_origin)) {
    reject("level_zero_origin", "must be finite", list(*level_zero_origin));
  }
}

std::array<double, 2> RasterMetadata::world_position(double column, double row) const noexcept {
  const double shift = pixel_interpretation == PixelInterpretation::area ? 0.5 : 0.0;
  const double x = column + shift;
  const double y = row + shift;
  return {affine[0] * x + affine[1] * y + affine[2], affine[3] * x + affine[4] * y + affine[5]};
}

double RasterMetadata::pixel_area() const noexcept { return std::abs(determinant(affine)); }

bool RasterMetadata::is_compatible_with(const RasterMetadata& other) const noexcept {
  return width == other.width && height == other.height && pixel_interpretation == other.pixel_interpretation &&
         level == other.level && affine == other.affine &&
         coordinate_reference_system == other.coordinate_reference_system &&
         level_zero_origin == other.level_zero_origin;
}

void RasterMetadata::assert_compatible_with(const RasterMetadata& other) const {
  require_equal("width", width == other.width, std::to_string(width), std::to_string(other.width));
  require_equal("height", height == other.height, std::to_string(height), std::to_string(other.height));
  require_equal("pixel_interpretation", pixel_interpretation == other.pixel_interpretation,
                text_of(pixel_interpretation), text_of(other.pixel_interpretation));
  require_equal("level", level == other.level, text_of(level), text_of(other.level));
  require_equal("affine", affine == other.affine, list(affine), list(other.affine));
  require_equal("coordinate_reference_system", coordinate_reference_system == other.coordinate_reference_system,
                text_of(coordinate_reference_system), text_of(other.coordinate_reference_system));
  require_equal("level_zero_origin", level_zero_origin == other.level_zero_origin, text_of(level_zero_origin),
                text_of(other.level_zero_origin));
}

}  // namespace tessera::raster
