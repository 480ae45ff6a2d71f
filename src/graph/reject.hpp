#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <tessera/error.hpp>

namespace tessera::detail {

/// Throws an Error; keeps call sites to one line.
[[noreturn]] inline void reject(ErrorCode code, std::string_view operation, std::string_view operand,
                                std::string_view rule, std::string values = {}) {
  throw Error(code, {.operation = std::string(operation),
                     .operand = std::string(operand),
                     .rule = std::string(rule),
                     .values = std::move(values)});
}

/// `name value` pairs for an error's values, for example `rows 3, capacity 2`.
template <class Value, class... Rest>
std::string values_of(std::string_view name, const Value& value, const Rest&... rest) {
  std::string text(name);
  text += ' ';
  if constexpr (std::is_convertible_v<Value, std::string_view>) {
    text += std::string_view(value);
  } else {
    text += std::to_string(value);
  }
  if constexpr (sizeof...(rest) > 0) {
    text += ", ";
    text += values_of(rest...);
  }
  return text;
}

}  // namespace tessera::detail
