#include "pages/completion.hpp"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "option_tree.hpp"
#include "pages/text_file.hpp"

namespace tessera::cli {
namespace {

std::vector<std::string> names_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const OptionEntry& entry : options_of(command))
    if (!entry.positional) names.insert(names.end(), entry.names.begin(), entry.names.end());
  return names;
}

/// Text inside single quotes of any of the three shells.
std::string shell_quoted(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\'')
      result += "'\\''";
    else
      result += letter;
  }
  return "'" + result + "'";
}

std::string first_sentence(const std::string& text) { return text.substr(0, text.find_first_of(":;\n")); }

std::string bash_completion(const CLI::App& app) {
  std::vector<std::string> commands;
  std::string cases;
  std::string choices;
  for (const CLI::App* command : subcommands_of(app)) {
    commands.push_back(command->get_name());
    cases += fmt::format("    {}) words='{}' ;;\n", command->get_name(), fmt::join(names_of(*command), " "));
    for (const OptionEntry& entry : options_of(*command)) {
      if (entry.choices.empty()) continue;
      choices +=
          fmt::format("    {0}:{1}) COMPREPLY=($(compgen -W '{2}' -- \"$current\")); return ;;\n", command->get_name(),
                      fmt::join(entry.names, fmt::format("|{}:", command->get_name())), fmt::join(entry.choices, " "));
    }
  }
  return fmt::format(
      "# bash completion for tessera\n"
      "_tessera() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local command=${{COMP_WORDS[1]}} words=''\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} {}' -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command:$previous\" in\n{}  esac\n"
      "  case \"$command\" in\n{}  esac\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$current\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _tessera tessera\n",
      fmt::join(commands, " "), fmt::join(names_of(app), " "), choices, cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : subcommands_of(app)) {
    commands +=
        fmt::format("    {}\n", shell_quoted(command->get_name() + ":" + first_sentence(command->get_description())));
    std::string arguments;
    for (const OptionEntry& entry : options_of(*command)) {
      if (entry.positional) continue;
      for (const std::string& name : entry.names) {
        std::string help = first_sentence(entry.description);
        std::erase_if(help, [](char letter) { return letter == '[' || letter == ']'; });
        std::string specification = fmt::format("{}{}[{}]", entry.repeatable ? "*" : "", name, help);
        if (!entry.choices.empty())
          specification += fmt::format(":{}:({})", entry.value, fmt::join(entry.choices, " "));
        else if (!entry.value.empty())
          specification += fmt::format(":{}:_files", entry.value);
        arguments += fmt::format("        {} \\\n", shell_quoted(specification));
      }
    }
    cases +=
        fmt::format("      {})\n        _arguments \\\n{}        '*:file:_files' ;;\n", command->get_name(), arguments);
  }
  return fmt::format(
      "#compdef tessera\n"
      "_tessera() {{\n"
      "  local -a commands\n"
      "  commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "  else\n"
      "    local command=$words[2]\n"
      "    shift words\n"
      "    (( CURRENT-- ))\n"
      "    case $command in\n{}    esac\n"
      "  fi\n"
      "}}\n"
      "_tessera \"$@\"\n",
      commands, cases);
}

std::string fish_completion(const CLI::App& app) {
  std::string text = "# fish completion for tessera\n";
  for (const CLI::App* command : subcommands_of(app))
    text += fmt::format("complete -c tessera -n __fish_use_subcommand -f -a {} -d {}\n", command->get_name(),
                        shell_quoted(first_sentence(command->get_description())));
  for (const CLI::App* command : subcommands_of(app)) {
    for (const OptionEntry& entry : options_of(*command)) {
      if (entry.positional) continue;
      text += fmt::format("complete -c tessera -n '__fish_seen_subcommand_from {}'", command->get_name());
      for (const std::string& name : entry.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!entry.choices.empty())
        text += fmt::format(" -x -a '{}'", fmt::join(entry.choices, " "));
      else if (!entry.value.empty())
        text += " -r";
      text += " -d " + shell_quoted(first_sentence(entry.description)) + "\n";
    }
  }
  return text;
}

}  // namespace

void write_completions(const CLI::App& app, const std::filesystem::path& folder) {
  write_text_file(folder / "tessera", bash_completion(app));
  write_text_file(folder / "_tessera", zsh_completion(app));
  write_text_file(folder / "tessera.fish", fish_completion(app));
}

}  // namespace tessera::cli
