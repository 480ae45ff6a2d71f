#include <cstdio>
#include <exception>
#include <filesystem>

#include "option_tree.hpp"
#include "pages/completion.hpp"
#include "pages/manual.hpp"

/// generate_pages FOLDER: writes the manual pages and the shell completions from the option tables.
int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fputs("usage: generate_pages FOLDER\n", stderr);
    return 2;
  }
  try {
    const std::filesystem::path folder = arguments[1];
    int exit_code = 0;
    CLI::App app;
    tessera::cli::build_command(app, exit_code);
    tessera::cli::write_manual_pages(app, folder / "man");
    tessera::cli::write_completions(app, folder / "completions");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "generate_pages: %s\n", error.what());
    return 1;
  }
}
