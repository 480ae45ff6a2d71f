#include "residency/plane_routing.hpp"

#include <algorithm>

namespace tessera::residency::detail {

PlaneRouting::PlaneRouting(std::span<ValidityDestination> outer, const InnerPlane& inner_plane_of) : outer_(outer) {
  for (const ValidityDestination& destination : outer) {
    const std::optional<std::uint32_t> plane = inner_plane_of(destination.plane);
    routes_.emplace_back();
    if (!plane) continue;
    const auto found =
        std::find_if(inner_.begin(), inner_.end(), [&](const auto& known) { return known.plane == *plane; });
    routes_.back() = static_cast<std::size_t>(found - inner_.begin());
    if (found == inner_.end()) inner_.push_back({.plane = *plane, .bytes = destination.bytes});
  }
}

void PlaneRouting::distribute() const {
  for (std::size_t i = 0; i < outer_.size(); ++i) {
    const std::uint32_t plane = outer_[i].plane;
    const std::span<std::uint8_t> bytes = outer_[i].bytes;
    outer_[i] = routes_[i] ? inner_[*routes_[i]] : ValidityDestination{};
    if (!routes_[i])
      std::ranges::fill(bytes, std::uint8_t{1});
    else if (outer_[i].bytes.data() != bytes.data())
      std::ranges::copy(outer_[i].bytes, bytes.begin());
    outer_[i].plane = plane;
    outer_[i].bytes = bytes;
  }
}

}  // namespace tessera::residency::detail
