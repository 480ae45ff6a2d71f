#include "operand/operation_cache.hpp"

#include <algorithm>
#include <type_traits>

#include "graph/graph_state.hpp"

namespace tessera::detail {
namespace {

constexpr std::size_t most_operations = 32;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

class ShapeBuilder {
 public:
  bool add(const Rows& rows) {
    const auto* vector = std::get_if<Vector>(&rows);
    if (vector == nullptr) return false;
    const auto known =
        std::ranges::find_if(shape_.vectors, [&](const Vector* other) { return is_same_import(*other, *vector); });
    value(static_cast<std::uint64_t>(known - shape_.vectors.begin()));
    if (known != shape_.vectors.end()) return true;
    shape_.vectors.push_back(vector);
    value(vector->format());
    value(vector->count().has_value());
    value(std::uint64_t{vector->chunks().size()});
    for (const Chunk& chunk : vector->chunks()) {
      value(chunk.length);
      value(chunk.byte_stride);
    }
    return true;
  }

  bool add(const Source& source) {
    value(source.observations());
    value(source.no_data() ? std::uint64_t{1} : std::uint64_t{0});
    if (source.no_data()) value(source.no_data()->bits);
    value(source.calibration().has_value());
    if (source.calibration()) value(*source.calibration());
    value(source.validity().has_value());
    if (source.validity()) add(*source.validity());
    return add(source.rows()) && (!source.validity() || add(source.validity()->rows));
  }

  void add(const Validity& validity) {
    value(validity.kind);
    value(std::uint64_t{validity.bits.size()});
    for (const BitRange& range : validity.bits) value(range);
  }

  void add(const OptionValue& option) {
    value(std::uint64_t{option.index()});
    std::visit(
        [this]<class Value>(const Value& held) {
          if constexpr (std::is_same_v<Value, std::string>) {
            text(held);
          } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
            value(std::uint64_t{held.size()});
            for (const double number : held) value(number);
          } else {
            value(held);
          }
        },
        option);
  }

  void text(const std::string& text) {
    value(std::uint64_t{text.size()});
    shape_.key += text;
  }

  RequestShape finish() { return std::move(shape_); }

 private:
  template <class Value>
  void value(const Value& value) {
    static_assert(std::is_trivially_copyable_v<Value>);
    shape_.key.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }

  RequestShape shape_;
};

}  // namespace

std::optional<RequestShape> shape_of(const Request& request) {
  ShapeBuilder builder;
  builder.text(request.operation);
  for (const auto& [name, value] : request.options) {
    builder.text(name);
    builder.add(value);
  }
  for (const auto& [name, source] : request.inputs) {
    builder.text(name);
    if (!builder.add(source)) return std::nullopt;
  }
  builder.text({});  // inputs end here
  for (const auto& [name, target] : request.outputs) {
    builder.text(name);
    if (!builder.add(target.rows())) return std::nullopt;
  }
  return builder.finish();
}

std::optional<CachedOperation> OperationCache::take(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(operations_, key, &CachedOperation::key);
  if (found == operations_.end()) return std::nullopt;
  CachedOperation operation = std::move(*found);
  operations_.erase(found);
  bytes_ -= operation.bytes;
  return operation;
}

void OperationCache::put(CachedOperation operation) {
  if (operation.bytes > most_bytes) return;
  std::list<CachedOperation> dropped;  // freed outside the lock
  const std::scoped_lock lock(mutex_);
  bytes_ += operation.bytes;
  operations_.push_front(std::move(operation));
  while (operations_.size() > most_operations || bytes_ > most_bytes) {
    bytes_ -= operations_.back().bytes;
    dropped.splice(dropped.begin(), operations_, std::prev(operations_.end()));
  }
}

void OperationCache::clear() {
  std::list<CachedOperation> dropped;
  const std::scoped_lock lock(mutex_);
  dropped.swap(operations_);
  bytes_ = 0;
}

}  // namespace tessera::detail
