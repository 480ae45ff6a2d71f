#include "operand/context.hpp"

#include <algorithm>
#include <charconv>

#include <tessera/error.hpp>

namespace tessera::detail {
namespace {

VectorView resolve(const Rows& rows, NodeSink& sink) {
  if (const auto* view = std::get_if<VectorView>(&rows)) return *view;
  return sink.import(std::get<Vector>(rows));
}

Input resolve(const Source& source, NodeSink& sink) {
  Input input{.values = resolve(source.rows(), sink),
              .validity = std::nullopt,
              .validity_bits = nullptr,
              .no_data = source.no_data(),
              .calibration = source.calibration(),
              .observations = source.observations()};
  if (const auto& validity = source.validity()) {
    input.validity = resolve(validity->rows, sink);
    if (validity->kind == ValidityKind::bit)
      input.validity_bits = std::make_shared<const std::vector<BitRange>>(validity->bits);
  }
  return input;
}

}  // namespace

Format compute_format(Format storage) noexcept {
  switch (storage) {
    case Format::uint8:
    case Format::uint16:
      return Format::uint32;
    case Format::sint8:
    case Format::sint16:
      return Format::sint32;
    case Format::float64:
      return Format::float32;
    default:
      return storage;
  }
}

std::string_view variant_of(Format storage) noexcept { return name_of(compute_format(storage)); }

OperationContext::OperationContext(const OperationDescription& description, const Request& request, NodeSink& sink)
    : description_(&description), request_(&request), sink_(&sink) {
  for (const auto& [name, source] : request.inputs) {
    const PortDescription* port = description.port(name);
    if (port == nullptr || port->direction != PortDirection::input)
      reject(ErrorCode::surplus_operand, name, "is not an input of this operation");
    inputs_.emplace_back(port->name, resolve(source, sink));
    if (port->length == LengthRule::any) rows_ = inputs_.back().second.length();
  }
  for (const auto& [name, target] : request.outputs) {
    const PortDescription* port = description.port(name);
    if (port == nullptr || port->direction != PortDirection::output)
      reject(ErrorCode::surplus_operand, name, "is not an output of this operation");
    outputs_.emplace_back(port->name, resolve(target.rows(), sink));
  }
}

const Input* OperationContext::optional_input(std::string_view port) const noexcept {
  for (const auto& [name, input] : inputs_)
    if (name == port) return &input;
  return nullptr;
}

const Input& OperationContext::input(std::string_view port) const {
  if (const Input* found = optional_input(port)) return *found;
  reject(ErrorCode::missing_operand, port, "is required");
}

std::vector<Input> OperationContext::inputs(std::string_view port) const {
  std::vector<Input> list;
  for (const auto& [name, input] : inputs_)
    if (name == port) list.push_back(input);
  return list;
}

const VectorView* OperationContext::optional_output(std::string_view port) const noexcept {
  for (const auto& [name, output] : outputs_)
    if (name == port) return &output;
  return nullptr;
}

const VectorView& OperationContext::output(std::string_view port) const {
  if (const VectorView* found = optional_output(port)) return *found;
  reject(ErrorCode::missing_operand, port, "is required");
}

const OptionValue* OperationContext::find_option(std::string_view option) const noexcept {
  for (const auto& [name, value] : request_->options)
    if (name == option) return &value;
  return nullptr;
}

bool OperationContext::given(std::string_view option) const noexcept { return find_option(option) != nullptr; }

void OperationContext::require_numbers_or_rows(std::string_view name) const {
  const bool resident = optional_input(name) != nullptr;
  if (!resident && !given(name)) reject(ErrorCode::missing_operand, name, "is given as numbers or on the device");
  if (resident && given(name)) reject(ErrorCode::surplus_operand, name, "is given once: as numbers or on the device");
}

namespace {

const OptionDescription& described(const OperationContext& context, std::string_view option) {
  for (const OptionDescription& description : context.description().options)
    if (description.name == option) return description;
  context.reject(ErrorCode::internal, option, "is not described");
}

}  // namespace

std::uint32_t OperationContext::choice(std::string_view option) const {
  const OptionDescription& description = described(*this, option);
  std::string_view text = description.initial;
  if (const OptionValue* value = find_option(option)) {
    const auto* name = std::get_if<std::string>(value);
    if (name == nullptr) reject(ErrorCode::invalid_option, option, "is the name of an enumerator");
    text = *name;
  }
  const auto found = std::find(description.enumerators.begin(), description.enumerators.end(), text);
  if (found == description.enumerators.end())
    reject(text.empty() ? ErrorCode::missing_operand : ErrorCode::invalid_option, option,
           text.empty() ? "is required" : "has no such enumerator", std::string(text));
  return static_cast<std::uint32_t>(found - description.enumerators.begin());
}

std::int64_t OperationContext::integer(std::string_view option) const {
  if (const OptionValue* value = find_option(option)) {
    if (const auto* integer = std::get_if<std::int64_t>(value)) return *integer;
    reject(ErrorCode::invalid_option, option, "is an integer");
  }
  const std::string_view text = described(*this, option).initial;
  std::int64_t number = 0;
  if (text.empty()) reject(ErrorCode::missing_operand, option, "is required");
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

double OperationContext::number(std::string_view option) const {
  if (const OptionValue* value = find_option(option)) {
    if (const auto* number = std::get_if<double>(value)) return *number;
    if (const auto* integer = std::get_if<std::int64_t>(value)) return static_cast<double>(*integer);
    reject(ErrorCode::invalid_option, option, "is a number");
  }
  const std::string_view text = described(*this, option).initial;
  double number = 0;
  if (text.empty()) reject(ErrorCode::missing_operand, option, "is required");
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

const std::vector<double>* OperationContext::numbers(std::string_view option) const {
  const OptionValue* value = find_option(option);
  if (value == nullptr) return nullptr;
  const auto* list = std::get_if<std::vector<double>>(value);
  if (list == nullptr) reject(ErrorCode::invalid_option, option, "is a list of numbers");
  return list;
}

void OperationContext::reject(ErrorCode code, std::string_view operand, std::string rule, std::string values) const {
  std::string operation(description_->name);
  if (!request_->id.empty()) operation = request_->id + " (" + operation + ")";
  throw Error(code, {std::move(operation), std::string(operand), std::move(rule), std::move(values)});
}

}  // namespace tessera::detail
