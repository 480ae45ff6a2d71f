#pragma once

#include <vector>

#include "graph/schedule.hpp"

// The passes of make_schedule, in this order.
namespace tessera::detail {

constexpr bool reads(Access access) noexcept { return access != Access::write; }
constexpr bool writes(Access access) noexcept { return access != Access::read; }

/// Rejects what no graph may declare.
void validate_schedule_input(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources);

/// Per node, ascending and without repetition: the nodes that must be done before it. Explicit ones may be declared
/// later than it.
std::vector<std::vector<std::uint32_t>> find_dependencies(const std::vector<ScheduleNode>& nodes,
                                                          std::size_t resource_count);

/// Fills `round` and `order` from `dependencies`.
void order_in_rounds(const std::vector<ScheduleNode>& nodes, Schedule& schedule);

/// Fills `lifetimes`, `placement` and the byte counts.
void place_transients(const std::vector<ScheduleNode>& nodes, const std::vector<ScheduleResource>& resources,
                      Schedule& schedule);

/// Fills `commands` and `barriers`.
void derive_barriers(const std::vector<ScheduleNode>& nodes, Schedule& schedule);

}  // namespace tessera::detail
