#pragma once

#include <filesystem>

#include <CLI/CLI.hpp>

namespace tessera::cli {

/// Writes completions for bash (`tessera`), zsh (`_tessera`) and fish (`tessera.fish`): subcommands, options, and the
/// values of options that have a list of them. Throws `std::runtime_error` for a file that can't be written.
void write_completions(const CLI::App& app, const std::filesystem::path& folder);

}  // namespace tessera::cli
