#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/operand/description.hpp>
#include <tessera/operand/request.hpp>

#include "graph/node_sink.hpp"

// What an operation's host code receives: a request that was checked against its description.
namespace tessera::detail {

/// An input whose rows are views of the graph.
struct Input {
  VectorView values;
  std::optional<VectorView> validity;
  std::shared_ptr<const std::vector<BitRange>> validity_bits;  ///< of a bit mask, per chunk of `validity`
  std::optional<RawNoData> no_data;
  std::optional<Calibration> calibration;
  bool observations = false;

  Format format() const noexcept { return values.format(); }
  std::uint64_t length() const noexcept { return values.length(); }
};

/// The format that kernels compute in: narrow integers widen, float64 narrows.
TESSERA_EXPORT Format compute_format(Format storage) noexcept;
/// `uint32`, `sint32` or `float32`: the suffix of a kernel's module.
TESSERA_EXPORT std::string_view variant_of(Format storage) noexcept;

class TESSERA_EXPORT OperationContext {
 public:
  OperationContext(const OperationDescription& description, const Request& request, NodeSink& sink);

  NodeSink& sink() const noexcept { return *sink_; }
  const OperationDescription& description() const noexcept { return *description_; }
  std::string_view name() const noexcept { return description_->name; }

  const Input& input(std::string_view port) const;
  const Input* optional_input(std::string_view port) const noexcept;
  std::vector<Input> inputs(std::string_view port) const;
  template <class Visitor>
  void for_each_input(const Visitor& visit) const {
    for (const auto& [name, input] : inputs_) visit(name, input);
  }
  template <class Visitor>
  void for_each_output(const Visitor& visit) const {
    for (const auto& [name, output] : outputs_) visit(name, output);
  }
  const VectorView& output(std::string_view port) const;
  const VectorView* optional_output(std::string_view port) const noexcept;

  /// Index of the chosen enumerator in the option's description.
  std::uint32_t choice(std::string_view option) const;
  std::int64_t integer(std::string_view option) const;
  double number(std::string_view option) const;
  const std::vector<double>* numbers(std::string_view option) const;
  bool given(std::string_view option) const noexcept;
  /// For what is an option of numbers or an input on the device, under one name: exactly one of them is given.
  void require_numbers_or_rows(std::string_view name) const;

  /// Rows that every port with `LengthRule::any` or `equal` has.
  std::uint64_t rows() const noexcept { return rows_; }

  [[noreturn]] void reject(ErrorCode code, std::string_view operand, std::string rule, std::string values = {}) const;

 private:
  const OptionValue* find_option(std::string_view option) const noexcept;

  const OperationDescription* description_;
  const Request* request_;
  NodeSink* sink_;
  std::vector<std::pair<std::string_view, Input>> inputs_;
  std::vector<std::pair<std::string_view, VectorView>> outputs_;
  std::uint64_t rows_ = 0;
};

/// An operation behind its description.
class TESSERA_EXPORT OperationImplementation {
 public:
  virtual ~OperationImplementation() = default;
  virtual const OperationDescription& description() const noexcept = 0;
  /// Rules that only this operation has; throws through `context.reject`.
  virtual void validate(const OperationContext& context) const { (void)context; }
  /// Plans and puts nodes into the sink.
  virtual void record(const OperationContext& context) const = 0;
};

/// Operations are found by name; libraries above the core add theirs once.
TESSERA_EXPORT void register_operations(std::span<const OperationImplementation* const> operations);
TESSERA_EXPORT const OperationImplementation* find_implementation(std::string_view name) noexcept;

}  // namespace tessera::detail
