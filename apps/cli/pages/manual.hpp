#pragma once

#include <filesystem>

#include <CLI/CLI.hpp>

namespace tessera::cli {

/// Writes `tessera.1` and `tessera-SUBCOMMAND.1`. Throws `std::runtime_error` for a file that can't be written.
void write_manual_pages(const CLI::App& app, const std::filesystem::path& folder);

}  // namespace tessera::cli
