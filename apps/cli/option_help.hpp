#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include <tessera/error.hpp>

// Options that explain themselves when something is wrong.
namespace tessera::cli {

/// Every value of the option must read KEY=VALUE.
void require_key_values(CLI::Option* option);

/// The option must not be given as an empty text, which would read as if it were absent.
void require_text(CLI::Option* option);

/// Does `action`; an error of this code also says which option is the way out.
template <class Action>
decltype(auto) with_advice(ErrorCode code, const char* advice, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    if (error.code() != code) throw;
    ErrorDetail detail = error.detail();
    detail.values += (detail.values.empty() ? "" : "; ") + std::string(advice);
    throw Error(code, detail);
  }
}

}  // namespace tessera::cli
