#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <tessera/export.hpp>
#include <tessera/operand/source.hpp>

namespace tessera {

/// The value of one option. Enumerations travel as the enumerator's name.
using OptionValue = std::variant<std::string, std::int64_t, double, std::vector<double>>;

/// An operation as it crosses the library's boundary: its name, its operands and its options by name. Operation structs
/// turn themselves into one (`to_request`), language bindings fill one directly. Names that the operation does not
/// have, missing operands and wrong option types are rejected when it is added. Not thread-safe to change.
struct TESSERA_EXPORT Request {
  std::string operation;
  std::string id;  ///< base of node names; empty: the operation's name
  std::vector<std::pair<std::string, Source>> inputs;
  std::vector<std::pair<std::string, Target>> outputs;
  std::vector<std::pair<std::string, OptionValue>> options;

  Request& input(std::string_view name, const Source& source);
  Request& input(std::string_view name, const std::optional<Source>& source);
  Request& input(std::string_view name, const std::vector<Source>& sources);
  Request& output(std::string_view name, const Target& target);
  Request& output(std::string_view name, const std::optional<Target>& target);
  Request& option(std::string_view name, OptionValue value);
};

}  // namespace tessera
