#include "option_help.hpp"

namespace tessera::cli {

void require_key_values(CLI::Option* option) {
  const auto check = [](std::string& text) {
    const auto equals = text.find('=');
    return equals == std::string::npos || equals == 0 ? "not KEY=VALUE: " + text : std::string();
  };
  option->check(CLI::Validator(check, "", "KEY=VALUE"));
}

void require_text(CLI::Option* option) {
  const auto check = [](std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); };
  option->check(CLI::Validator(check, "", "TEXT"));
}

}  // namespace tessera::cli
