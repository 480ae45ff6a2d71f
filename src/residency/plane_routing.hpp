#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tessera/residency/tile_source.hpp>

namespace tessera::residency::detail {

/// Validity planes that a derived source makes of those of its inner source: each inner plane is read once, straight
/// into the first destination that starts from it, and copied to the others.
class PlaneRouting {
 public:
  /// The inner plane that a plane of the derived source starts from; none when it starts with all pixels accepted.
  using InnerPlane = std::function<std::optional<std::uint32_t>(std::uint32_t plane)>;

  PlaneRouting(std::span<ValidityDestination> outer, const InnerPlane& inner_plane_of);

  /// What the inner source is to read.
  std::span<ValidityDestination> inner() noexcept { return inner_; }
  /// After the inner read: fills all outer destinations, bytes and counts.
  void distribute() const;

 private:
  std::span<ValidityDestination> outer_;
  std::vector<std::optional<std::size_t>> routes_;  ///< per outer destination: index into `inner_`
  std::vector<ValidityDestination> inner_;
};

}  // namespace tessera::residency::detail
