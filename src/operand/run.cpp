#include <tessera/graph/graph.hpp>

#include <memory>
#include <utility>

#include <tessera/error.hpp>

#include "device/device_companions.hpp"
#include "graph/graph_state.hpp"
#include "operand/operation_cache.hpp"

namespace tessera {
namespace {

void encode_and_wait(Device& device, CompiledGraph& graph, std::span<const Rebinding> rebindings) {
  Encoder encoder = device.encoder();
  graph.encode(encoder, rebindings);
  device.submit(std::move(encoder)).wait();
}

void run_once(Device& device, const Operation& operation) {
  Graph graph(device);
  graph.add(operation);
  CompiledGraph compiled = graph.compile();
  encode_and_wait(device, compiled, {});
}

detail::CachedOperation compile(const Device& device, const Operation& operation, detail::RequestShape shape) {
  // Without the handle's companions: the cache is one of them and must not keep itself.
  Graph graph(Device{device.state()});
  graph.add(operation);
  std::vector<std::uint32_t> imports;
  for (const Vector* vector : shape.vectors) imports.push_back(graph.state().import_vector(*vector, {}));
  graph.state().keeps_default_bindings = false;
  CompiledGraph compiled = graph.compile();
  const GraphStatistics& statistics = compiled.statistics();
  const std::uint64_t bytes = statistics.physical_transient_bytes + statistics.argument_bytes + statistics.table_bytes;
  return {.key = std::move(shape.key), .graph = std::move(compiled), .imports = std::move(imports), .bytes = bytes};
}

detail::CachedOperation compile_within_memory(const Device& device, const Operation& operation,
                                              const detail::RequestShape& shape, detail::OperationCache& cache) {
  try {
    return compile(device, operation, shape);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::memory_limit && error.code() != ErrorCode::out_of_memory) throw;
    cache.clear();
    return compile(device, operation, shape);
  }
}

}  // namespace

void run(Device& device, const Operation& operation) {
  const Request* request = operation.lowering()->request();
  const std::shared_ptr<detail::DeviceCompanions>& companions = device.companions();
  const auto shape =
      request != nullptr && companions != nullptr ? detail::shape_of(*request) : std::optional<detail::RequestShape>();
  if (!shape) return run_once(device, operation);

  const auto cache = companions->get<detail::OperationCache>();
  std::optional<detail::CachedOperation> cached = cache->take(shape->key);
  if (!cached) cached = compile_within_memory(device, operation, *shape, *cache);
  std::vector<Rebinding> rebindings;
  for (std::size_t index = 0; index < shape->vectors.size(); ++index)
    rebindings.push_back({.import_index = cached->imports[index], .vector = *shape->vectors[index]});
  encode_and_wait(device, cached->graph, rebindings);
  cache->put(std::move(*cached));
}

}  // namespace tessera
