#pragma once

#include <CLI/CLI.hpp>

// Every subcommand: adds its options and, when chosen, runs and leaves its exit code.
namespace tessera::cli {

void add_devices(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_stats(CLI::App& app, int& exit_code);
void add_histogram(CLI::App& app, int& exit_code);
void add_ndvi(CLI::App& app, int& exit_code);
void add_threshold(CLI::App& app, int& exit_code);
void add_selftest(CLI::App& app, int& exit_code);

}  // namespace tessera::cli
