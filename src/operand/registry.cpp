#include <algorithm>
#include <mutex>
#include <vector>

#include <tessera/error.hpp>
#include <tessera/graph/operation.hpp>

#include "operand/context.hpp"
#include "operand/validate.hpp"

namespace tessera {
namespace detail {

// The core's list, defined by the layer above.
std::span<const OperationImplementation* const> core_operations();

namespace {

class Registry {
 public:
  static Registry& instance() {
    static Registry registry;
    return registry;
  }
  void add(std::span<const OperationImplementation* const> operations) {
    const std::scoped_lock lock(mutex_);
    for (const OperationImplementation* operation : operations) {
      if (std::find(operations_.begin(), operations_.end(), operation) != operations_.end()) continue;
      operations_.push_back(operation);
      descriptions_.push_back(&operation->description());
    }
  }
  const OperationImplementation* find(std::string_view name) const noexcept {
    const std::scoped_lock lock(mutex_);
    for (const OperationImplementation* operation : operations_)
      if (operation->description().name == name) return operation;
    return nullptr;
  }
  std::span<const OperationDescription* const> descriptions() const noexcept {
    const std::scoped_lock lock(mutex_);
    return descriptions_;
  }

 private:
  Registry() {
    // So many that a list handed out stays valid while libraries add theirs.
    operations_.reserve(largest_operation_count);
    descriptions_.reserve(largest_operation_count);
    add(core_operations());
  }
  static constexpr std::size_t largest_operation_count = 512;
  mutable std::mutex mutex_;
  std::vector<const OperationImplementation*> operations_;
  std::vector<const OperationDescription*> descriptions_;
};

/// All operands by port; a source's validity is `<port>.validity`.
std::vector<OperandUse> operands_of(const OperationContext& context) {
  std::vector<OperandUse> operands;
  context.for_each_input([&](std::string_view port, const Input& input) {
    operands.push_back({.port = std::string(port), .view = input.values, .access = Access::read});
    if (input.validity)
      operands.push_back({.port = std::string(port) + ".validity", .view = *input.validity, .access = Access::read});
  });
  context.for_each_output([&](std::string_view port, const VectorView& output) {
    operands.push_back({.port = std::string(port), .view = output, .access = Access::write});
  });
  return operands;
}

class RequestLowering final : public Lowering {
 public:
  RequestLowering(Request request, const OperationImplementation& implementation)
      : request_(std::move(request)), implementation_(&implementation) {}

  std::string name() const override { return request_.id.empty() ? request_.operation : request_.id; }
  std::string id() const override { return request_.id; }
  const Request* request() const noexcept override { return &request_; }
  void lower(NodeSink& sink) const override {
    const OperationContext context(implementation_->description(), request_, sink);
    validate_request(context, request_);
    implementation_->validate(context);
    sink.describe_operands(operands_of(context));
    implementation_->record(context);
  }

 private:
  Request request_;
  const OperationImplementation* implementation_;
};

}  // namespace

void register_operations(std::span<const OperationImplementation* const> operations) {
  Registry::instance().add(operations);
}
const OperationImplementation* find_implementation(std::string_view name) noexcept {
  return Registry::instance().find(name);
}

}  // namespace detail

std::span<const OperationDescription* const> operation_descriptions() {
  return detail::Registry::instance().descriptions();
}

const OperationDescription* find_operation(std::string_view name) noexcept {
  const detail::OperationImplementation* implementation = detail::find_implementation(name);
  return implementation == nullptr ? nullptr : &implementation->description();
}

Operation Operation::from_request(const Request& request) {
  const detail::OperationImplementation* implementation = detail::find_implementation(request.operation);
  if (implementation == nullptr)
    throw Error(ErrorCode::unsupported_operation, {request.operation, {}, "no operation has this name", {}});
  return Operation(std::make_shared<detail::RequestLowering>(request, *implementation));
}

}  // namespace tessera
