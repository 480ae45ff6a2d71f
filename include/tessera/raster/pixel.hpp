#pragma once

#include <array>
#include <optional>
#include <string>

#include <tessera/graph/operation.hpp>
#include <tessera/operand/request.hpp>
#include <tessera/raster/band.hpp>

namespace tessera::raster {

/// Makes the raster operations known by name, for `Operation::from_request` and `operation_descriptions`. Their structs
/// do it by themselves. Thread-safe; later calls do nothing.
TESSERA_EXPORT void register_operations();

/// Normalized difference vegetation index: (near_infrared - red) / (near_infrared + red) of the calibrated values, in
/// float32.
///
/// A pixel is missing when either band's is, when the denominator is not finite or its magnitude is at most `epsilon`,
/// or when the quotient is not finite; finiteness is tested before clamping. Missing pixels hold a quiet NaN
/// (0x7fc00000), and 0 in `output_validity`. The index is not limited to [-1, 1]: negative reflectances leave it;
/// `clamp` limits it where given, and clamped pixels stay valid. Bands of 8-, 16- and 32-bit integers, float32 and
/// float64 (rounded to float32), each with its own nodata, validity and calibration. The same bits on one device
/// whatever the partition; across devices the division differs in the last place. Without pixels nothing is written.
/// One dispatch; no scratch. Errors: `invalid_argument` (epsilon negative or not finite, clamp not an ordered finite
/// pair), `length_mismatch`, `format_mismatch`, `alias`, `foreign_graph`. Source: Rouse, Haas, Schell and Deering,
/// "Monitoring vegetation systems in the Great Plains with ERTS", 1973.
struct Ndvi {
  std::string id = {};
  Source near_infrared;
  Source red;
  Target output;
  std::optional<Target> output_validity = {};
  float epsilon = 0.0F;
  std::optional<std::array<float, 2>> clamp = {};
};

TESSERA_EXPORT Request to_request(const Ndvi& operation);

}  // namespace tessera::raster
