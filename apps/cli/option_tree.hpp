#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

// The command's option tables, for whatever is derived from them: parsing, `--json-usage`, man pages, completion.
namespace tessera::cli {

/// Fills the application with every subcommand, or with only the one of that name, which takes less time. A subcommand
/// that runs leaves its exit code in `exit_code`.
void build_command(CLI::App& app, int& exit_code, std::string_view only = {});

/// One option as its users see it.
struct OptionEntry {
  std::vector<std::string> names;  ///< `-b`, `--band`; of a positional only its name
  std::string value;               ///< what it takes, empty for a flag
  std::string description;
  std::string default_text;
  std::string group;
  std::vector<std::string> choices;
  bool required = false;
  bool repeatable = false;
  bool positional = false;
};

std::vector<OptionEntry> options_of(const CLI::App& command);
std::vector<const CLI::App*> subcommands_of(const CLI::App& app);
/// `{"schema": 1, "command": ..., "options": [...], "subcommands": [...]}`
nlohmann::ordered_json usage_json(const CLI::App& app);

/// Both return the exit code.
int print_version(bool json);
/// The whole command, or the subcommand that the arguments name.
int print_json_usage(const CLI::App& app, const char* const* arguments, int argument_count);

}  // namespace tessera::cli
