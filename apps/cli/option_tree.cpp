#include "option_tree.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include <tessera/version.hpp>

#include "commands.hpp"
#include "run.hpp"

namespace tessera::cli {
namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, int& exit_code);
};
constexpr std::array commands{Command{"devices", add_devices},  Command{"info", add_info},
                              Command{"stats", add_stats},      Command{"histogram", add_histogram},
                              Command{"ndvi", add_ndvi},        Command{"threshold", add_threshold},
                              Command{"selftest", add_selftest}};

/// CLI11 keeps the choices of `IsMember` only in the text it adds to the type's name: `TEXT:{a,b}`.
void split_type(const std::string& type, OptionEntry& entry) {
  const auto open = type.find('{');
  const auto close = type.rfind('}');
  entry.value = type.substr(0, type.find(':'));
  if (open == std::string::npos || close == std::string::npos) return;
  std::istringstream list(type.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(list, choice, ',');) entry.choices.push_back(choice);
}

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry entry;
  entry.positional = option.get_positional();
  if (entry.positional) {
    entry.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
  }
  entry.description = option.get_description();
  entry.group = option.get_group();
  entry.required = option.get_required();
  if (option.get_items_expected_max() == 0) return entry;  // a flag
  split_type(option.get_type_name(), entry);
  if (entry.value.empty()) entry.value = "TEXT";
  entry.default_text = option.get_default_str();
  entry.repeatable = option.get_items_expected_max() > 4;
  return entry;
}

nlohmann::ordered_json option_json(const OptionEntry& entry) {
  nlohmann::ordered_json json{
      {"names", entry.names},
      {"positional", entry.positional},
      {"value", entry.value.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(entry.value)},
      {"required", entry.required},
      {"repeatable", entry.repeatable},
      {"default", entry.default_text},
      {"description", entry.description}};
  if (!entry.choices.empty()) json["choices"] = entry.choices;
  return json;
}

nlohmann::ordered_json command_json(const CLI::App& command) {
  nlohmann::ordered_json json{{"command", command.get_name()},
                              {"description", command.get_description()},
                              {"notes", command.get_footer()},
                              {"options", nlohmann::ordered_json::array()}};
  for (const OptionEntry& entry : options_of(command)) json["options"].push_back(option_json(entry));
  const std::vector<const CLI::App*> subcommands = subcommands_of(command);
  if (subcommands.empty()) return json;
  json["subcommands"] = nlohmann::ordered_json::array();
  for (const CLI::App* subcommand : subcommands) json["subcommands"].push_back(command_json(*subcommand));
  return json;
}

}  // namespace

void build_command(CLI::App& app, int& exit_code, std::string_view only) {
  app.name("tessera");
  app.description("Analysis of rasters on the GPU, with missing data that stays missing.");
  // Both are seen before the arguments are parsed: they need no subcommand.
  app.add_flag("--version")->description("Print the version (with --json as a document) and leave");
  app.add_flag("--json-usage")
      ->description("Print the options as a JSON document and leave; after a subcommand, its options");
  app.require_subcommand(1);
  app.footer("Example: tessera ndvi scene.tif --red 1 --nir 2 -o ndvi.tif");
  const auto chosen = std::ranges::find(commands, only, &Command::name);
  for (const Command& command : commands)
    if (chosen == commands.end() || command.name == only) command.add(app, exit_code);
}

std::vector<OptionEntry> options_of(const CLI::App& command) {
  std::vector<OptionEntry> entries;
  for (const CLI::Option* option : command.get_options()) entries.push_back(entry_of(*option));
  return entries;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

nlohmann::ordered_json usage_json(const CLI::App& app) {
  nlohmann::ordered_json document{{"schema", 1}, {"version", version()}};
  document.update(command_json(app));
  return document;
}

int print_version(bool json) {
  if (json)
    print_json({{"schema", 1}, {"name", "tessera"}, {"version", version()}});
  else
    fmt::print("tessera {}\n", version());
  return static_cast<int>(ExitCode::done);
}

int print_json_usage(const CLI::App& app, const char* const* arguments, int argument_count) {
  const CLI::App* chosen = &app;
  for (const CLI::App* subcommand : subcommands_of(app))
    if (std::any_of(arguments + 1, arguments + argument_count,
                    [&](std::string_view text) { return text == subcommand->get_name(); }))
      chosen = subcommand;
  print_json(usage_json(*chosen));
  return static_cast<int>(ExitCode::done);
}

}  // namespace tessera::cli
