#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include <tessera/version.hpp>

#include "commands.hpp"
#include "run.hpp"

namespace {

/// CLI11 has an exit code for each kind of mistake; here they are all one.
int usage_exit(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (json && error.get_exit_code() != 0)
    return tessera::cli::run_reported("tessera", true, [&] { throw tessera::cli::UsageError{error.what()}; });
  const int code = app.exit(error);
  return code == 0 ? 0 : static_cast<int>(tessera::cli::ExitCode::usage);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const tessera::cli::Interruption interruption;
  CLI::App app{"Analysis of rasters on the GPU, with missing data that stays missing.", "tessera"};
  app.set_version_flag("--version", "tessera " + std::string(tessera::version()));
  app.require_subcommand(1);
  app.footer("Example: tessera ndvi scene.tif --red 1 --nir 2 -o ndvi.tif");
  int exit_code = 0;
  tessera::cli::add_devices(app, exit_code);
  tessera::cli::add_info(app, exit_code);
  tessera::cli::add_stats(app, exit_code);
  tessera::cli::add_ndvi(app, exit_code);
  tessera::cli::add_selftest(app, exit_code);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    const bool json =
        std::any_of(arguments, arguments + argument_count, [](std::string_view text) { return text == "--json"; });
    return usage_exit(app, error, json);
  }
  return exit_code;
}
