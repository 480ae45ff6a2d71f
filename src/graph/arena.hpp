#pragma once

#include "graph/compiled_state.hpp"

// The argument arena: where records, tables and constants lie, and what is in them.
namespace tessera::detail {

/// Places tables and records; notes which tables hold chunks of which import.
void plan_arena(Program& program);
/// Puts constants into device memory.
void upload_constants(Program& program);
/// One address per chunk.
void write_addresses(const CompiledGraph::State& graph, const ChunkList& list, std::span<const ImportBinding> bindings,
                     std::uint64_t* addresses);
/// Fills an arena: records, tables, and the binding block of the default bindings on the host.
void fill_arena(CompiledGraph::State& graph);

}  // namespace tessera::detail
