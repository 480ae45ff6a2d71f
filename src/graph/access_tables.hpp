#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/testing.hpp"
#include "graph/compiled_state.hpp"

// In builds that check accesses: the memory that each dispatch declared, by device address, for its kernel to compare
// with. Addresses follow the bindings, so the tables are written at every encoding.
namespace tessera::detail {

/// Places one table per dispatch.
void plan_access_tables(Program& program);
/// Writes all tables, `Program::access_bytes` bytes. `block` is the binding block of the encoding.
void write_access_tables(const CompiledGraph::State& graph, std::span<const ImportBinding> bindings,
                         std::span<const std::uint64_t> block, std::byte* bytes);

}  // namespace tessera::detail
