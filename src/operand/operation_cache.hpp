#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tessera/graph/graph.hpp>
#include <tessera/operand/request.hpp>

// Compiled graphs of single operations, for `run`.
namespace tessera::detail {

/// Everything of a request that its graph is built from: operation, options, and of each operand its format, chunk
/// lengths, strides and which other operand is the same vector. Memory is not part of it.
struct RequestShape {
  std::string key;
  std::vector<const Vector*> vectors;  ///< each different one once
};

/// None where an operand is a view, which belongs to some other graph.
std::optional<RequestShape> shape_of(const Request& request);

/// A graph of one operation that keeps none of the operation's memory.
struct CachedOperation {
  std::string key;
  CompiledGraph graph;
  std::vector<std::uint32_t> imports;  ///< of each vector of the shape
  std::uint64_t bytes = 0;             ///< of device memory
};

/// The most recently used graphs, within a number and an amount of memory. One that runs is not inside, so two threads
/// that run the same operation have a graph each. Thread-safe.
class OperationCache {
 public:
  std::optional<CachedOperation> take(const std::string& key);
  void put(CachedOperation operation);
  void clear();

 private:
  std::mutex mutex_;
  std::list<CachedOperation> operations_;  ///< the latest first
  std::uint64_t bytes_ = 0;
};

}  // namespace tessera::detail
