#include <algorithm>
#include <string_view>

#include <cpl_error.h>
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "option_tree.hpp"
#include "run.hpp"

namespace {

using tessera::cli::ExitCode;

/// CLI11 has an exit code for each kind of mistake; here they are all one.
int usage_exit(const CLI::App& app, const CLI::ParseError& error, bool json) {
  if (json && error.get_exit_code() != 0)
    return tessera::cli::run_reported("tessera", true,
                                      [&]() -> ExitCode { throw tessera::cli::UsageError{error.what()}; });
  const int code = app.exit(error);
  return code == 0 ? 0 : static_cast<int>(ExitCode::usage);
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto has_argument = [&](std::string_view wanted) {
    return std::any_of(arguments + 1, arguments + std::max(argument_count, 1),
                       [&](std::string_view text) { return text == wanted; });
  };
  int exit_code = 0;
  CLI::App app;
  const bool lists_options = has_argument("--json-usage");
  tessera::cli::build_command(app, exit_code, argument_count > 1 && !lists_options ? arguments[1] : "");
  // What only asks about the command itself needs neither a subcommand nor threads.
  if (has_argument("--version")) return tessera::cli::print_version(has_argument("--json"));
  if (lists_options) return tessera::cli::print_json_usage(app, arguments, argument_count);
  // What GDAL's own threads have to say: their failures come back through the calls that they belong to.
  CPLSetErrorHandler(CPLQuietErrorHandler);
  const tessera::cli::Interruption interruption;
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return usage_exit(app, error, has_argument("--json"));
  }
  return exit_code;
}
