#include <tessera/operand/request.hpp>

namespace tessera {

Request& Request::input(std::string_view name, const Source& source) {
  inputs.emplace_back(name, source);
  return *this;
}

Request& Request::input(std::string_view name, const std::optional<Source>& source) {
  if (source) inputs.emplace_back(name, *source);
  return *this;
}

Request& Request::input(std::string_view name, const std::vector<Source>& sources) {
  for (const Source& source : sources) inputs.emplace_back(name, source);
  return *this;
}

Request& Request::output(std::string_view name, const Target& target) {
  outputs.emplace_back(name, target);
  return *this;
}

Request& Request::output(std::string_view name, const std::optional<Target>& target) {
  if (target) outputs.emplace_back(name, *target);
  return *this;
}

Request& Request::option(std::string_view name, OptionValue value) {
  options.emplace_back(name, std::move(value));
  return *this;
}

}  // namespace tessera
