#include "operand/histogram_edges.hpp"

#include <bit>

#include "glsl/histogram_edges.h"

namespace tessera::detail {

std::vector<float> uniform_edges(float lo, float hi, std::uint32_t bins) {
  std::vector<float> edges(std::size_t{bins} + 1);
  for (std::size_t k = 0; k < edges.size(); ++k) {
    edges[k] = std::bit_cast<float>(uniform_edge_bits(
        std::bit_cast<std::uint32_t>(lo), std::bit_cast<std::uint32_t>(hi), static_cast<std::uint32_t>(k), bins));
  }
  return edges;
}

}  // namespace tessera::detail
