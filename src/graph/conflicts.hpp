#pragma once

#include <cstdint>
#include <string>

#include "graph/compiled_state.hpp"

// Which operations would conflict where the memory of two imports overlaps: errors name them, not only the imports.
namespace tessera::detail {

/// Where an import is used: a port of an operation, or a node without ports.
struct UsePlace {
  std::string operation;
  std::string port;  ///< empty where the operation declared none
  bool writes = false;
};

struct Conflict {
  UsePlace left;
  UsePlace right;
};

/// The uses of two imports that can't both stand, at least one of which writes. Ports of one operation come before
/// those of two. Something uses either import.
Conflict find_conflict(const Program& program, std::uint32_t left, std::uint32_t right);
/// The first use that writes an import.
UsePlace find_writer(const Program& program, std::uint32_t import);

}  // namespace tessera::detail
