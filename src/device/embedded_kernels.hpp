#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tessera/export.hpp>

namespace tessera::detail {

/// One SPIR-V module that the build compiled and embedded. `name` is the kernel file's stem, followed by `.<variant>`
/// where the kernel declares variants. Both members view storage that lives as long as the library.
struct EmbeddedModule {
  std::string_view name;
  std::span<const std::uint32_t> words;
};

/// Adds a library's modules to what `find_module` knows. Registering a table again changes nothing; a name that another
/// table already took is rejected (`duplicate_id`). Thread-safe.
TESSERA_EXPORT void register_modules(std::span<const EmbeddedModule> modules);

/// The module of that name, or null where no registered table has it. The core's own modules are always registered.
/// The pointer stays valid as long as the library. Thread-safe.
TESSERA_EXPORT const EmbeddedModule* find_module(std::string_view name);

/// Every registered module, ordered by name. Thread-safe.
TESSERA_EXPORT std::vector<EmbeddedModule> embedded_modules();

/// The core's own table, in the source that the build generates.
std::span<const EmbeddedModule> core_modules();

}  // namespace tessera::detail
