#pragma once

#include <span>

#include "graph/compiled_state.hpp"

// Memory bound to imports: what fits, and what must not overlap.
namespace tessera::detail {

/// Notes which imports nodes use and how.
void note_usage(Program& program);
/// Checks the default bindings. Throws `alias`.
void check_default_bindings(Program& program);
/// Drops the default bindings: every encoding binds all, and no memory of theirs is kept.
void forget_default_bindings(Program& program, CompiledGraph::State& graph);
/// Checks the rebindings of one encoding, with everything else at its default, into `graph.bindings`. Throws
/// `unbound_import`, `unknown_id`, `foreign_graph`, `duplicate_id`, `foreign_device`, `format_mismatch`,
/// `partition_mismatch`, `layout_mismatch`, `capacity_too_small`, `missing_operand`, `surplus_operand`, `alias`. Leaves
/// everything else as it was.
void check_rebindings(CompiledGraph::State& graph, std::span<const Rebinding> rebindings);
/// What is known of a long vector bound to an import before; null when it is new.
KnownBinding* find_known(CompiledGraph::State& graph, std::uint32_t import, const ImportBinding& binding);

}  // namespace tessera::detail
