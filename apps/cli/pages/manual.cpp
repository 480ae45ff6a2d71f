#include "pages/manual.hpp"

#include <map>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/version.hpp>

#include "option_tree.hpp"
#include "pages/text_file.hpp"

namespace tessera::cli {
namespace {

/// Text for troff: no macro at the start of a line, hyphens that can be copied.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\\') {
      result += "\\e";
    } else if (letter == '-') {
      result += "\\-";
    } else {
      if ((letter == '.' || letter == '\'') && (result.empty() || result.back() == '\n')) result += "\\&";
      result += letter;
    }
  }
  return result;
}

std::string heading(const std::string& title) { return fmt::format(".SH {}\n", title); }

std::string option_text(const OptionEntry& entry) {
  std::string names;
  for (const std::string& name : entry.names) names += (names.empty() ? "\\fB" : ", \\fB") + escaped(name) + "\\fR";
  if (!entry.positional && !entry.value.empty()) names += " \\fI" + escaped(entry.value) + "\\fR";
  std::string text = entry.description;
  if (!entry.choices.empty()) text += fmt::format(" (one of {})", fmt::join(entry.choices, ", "));
  if (!entry.default_text.empty()) text += fmt::format(" [default: {}]", entry.default_text);
  if (entry.required) text += " (required)";
  return fmt::format(".TP\n{}\n{}\n", names, escaped(text));
}

std::string options_text(const CLI::App& command) {
  std::vector<std::string> order;
  std::map<std::string, std::string> groups;
  std::string positionals;
  for (const OptionEntry& entry : options_of(command)) {
    if (entry.positional) {
      positionals += option_text(entry);
      continue;
    }
    if (groups.find(entry.group) == groups.end()) order.push_back(entry.group);
    groups[entry.group] += option_text(entry);
  }
  std::string text;
  if (!positionals.empty()) text += heading("ARGUMENTS") + positionals;
  text += heading("OPTIONS");
  for (const std::string& group : order) {
    if (group != "Options") text += fmt::format(".SS {}\n", group);
    text += groups[group];
  }
  return text;
}

std::string lines_of(const std::string& text) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += ".PP\n" + escaped(text.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string page(const std::string& title, const std::string& summary, const std::string& synopsis,
                 const std::string& body) {
  return fmt::format(".TH \"{}\" 1 \"\" \"tessera {}\" \"User commands\"\n", title, version()) + heading("NAME") +
         escaped(title) + " \\- " + escaped(summary) + "\n" + heading("SYNOPSIS") + synopsis + body +
         heading("EXIT STATUS") +
         "0 done, 1 failed, 2 the command was called wrongly, 3 done with skipped blocks, 130 interrupted.\n";
}

std::string subcommand_page(const CLI::App& command) {
  std::string synopsis = fmt::format("\\fBtessera {}\\fR", command.get_name());
  for (const OptionEntry& entry : options_of(command))
    if (entry.positional) {
      const std::string name = "\\fI" + escaped(entry.names.front()) + "\\fR";
      synopsis += entry.required ? " " + name : " [" + name + "]";
    }
  synopsis += " [\\fIOPTIONS\\fR]\n";
  const std::string notes = command.get_footer().empty() ? "" : heading("NOTES") + lines_of(command.get_footer());
  const std::string related = heading("SEE ALSO") + "\\fBtessera\\fR(1)\n";
  return page("tessera-" + command.get_name(), command.get_description(), synopsis, options_text(command) + notes) +
         related;
}

std::string main_page(const CLI::App& app) {
  std::string commands = heading("COMMANDS");
  for (const CLI::App* command : subcommands_of(app))
    commands += fmt::format(".TP\n\\fBtessera\\-{}\\fR(1)\n{}\n", escaped(command->get_name()),
                            escaped(command->get_description()));
  return page("tessera", app.get_description(), "\\fBtessera\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n",
              commands + options_text(app) + heading("EXAMPLE") + lines_of(app.get_footer()));
}

}  // namespace

void write_manual_pages(const CLI::App& app, const std::filesystem::path& folder) {
  write_text_file(folder / "tessera.1", main_page(app));
  for (const CLI::App* command : subcommands_of(app))
    write_text_file(folder / ("tessera-" + command->get_name() + ".1"), subcommand_page(*command));
}

}  // namespace tessera::cli
