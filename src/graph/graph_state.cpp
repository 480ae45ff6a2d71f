#include "graph/graph_state.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "graph/layout.hpp"
#include "graph/reject.hpp"

namespace tessera {
namespace {

constexpr std::string_view operation_name = "graph";
/// Longer lists are recognised by identity only.
constexpr std::size_t longest_compared_list = 1024;

std::uint64_t next_graph_identity() {
  static std::atomic<std::uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

template <class Map>
void erase_indexes_from(Map& map, std::size_t first) {
  for (auto entry = map.begin(); entry != map.end();) {
    entry = entry->second >= first ? map.erase(entry) : std::next(entry);
  }
}

void require_device(const Device& expected, const std::shared_ptr<detail::DeviceState>& actual,
                    std::string_view operand) {
  if (actual != expected.state()) {
    detail::reject(ErrorCode::foreign_device, operation_name, operand, "imports lie on the graph's device");
  }
}

/// A one-chunk list's content, as a key.
std::string content_key(const detail::ChunkList& list) {
  const detail::GraphChunk& chunk = list.chunks.front();
  const std::uint64_t words[] = {chunk.resource, chunk.import_chunk, chunk.byte_offset,
                                 chunk.length,   chunk.byte_stride,  static_cast<std::uint64_t>(list.format)};
  std::string key(sizeof(words), '\0');
  std::memcpy(key.data(), words, sizeof(words));
  return key;
}

}  // namespace

bool detail::is_same_import(const Vector& left, const Vector& right) {
  const bool same_list = left.chunk_list() == right.chunk_list();
  if (!same_list && right.chunks().size() > longest_compared_list) return false;
  return left.same_chunks(right) && left.count() == right.count();
}

Graph::State::State(Device owner) : device(std::move(owner)), identity(next_graph_identity()) {}

Graph::State::Checkpoint Graph::State::checkpoint() const noexcept {
  return {.resources = resources.size(),
          .imports = imports.size(),
          .tables = tables.size(),
          .constants = constants.size(),
          .dispatches = dispatches.size(),
          .customs = customs.size(),
          .nodes = nodes.size(),
          .operations = operations.size(),
          .host_scopes = host_scopes.size(),
          .images = images.size(),
          .renders = renders.size(),
          .transfers = transfers.size(),
          .names = names.journal_size()};
}

void Graph::State::roll_back(const Checkpoint& checkpoint) {
  for (std::size_t index = checkpoint.resources; index < resources.size(); ++index)
    resource_ids_.erase(resources[index].id);
  erase_indexes_from(imports_by_memory_, checkpoint.imports);
  erase_indexes_from(tables_by_list_, checkpoint.tables);
  erase_indexes_from(tables_by_content_, checkpoint.tables);
  checked_lists_.clear();  // a rolled back list's address may come again for another list
  for (const auto& list : tables) checked_lists_.insert(list.get());
  resources.resize(checkpoint.resources);
  imports.resize(checkpoint.imports);
  tables.resize(checkpoint.tables);
  constants.resize(checkpoint.constants);
  dispatches.resize(checkpoint.dispatches);
  customs.resize(checkpoint.customs);
  nodes.resize(checkpoint.nodes);
  operations.resize(checkpoint.operations);
  host_scopes.resize(checkpoint.host_scopes);
  images.resize(checkpoint.images);
  renders.resize(checkpoint.renders);
  transfers.resize(checkpoint.transfers);
  names.roll_back(checkpoint.names);
}

void Graph::State::require_mutable(std::string_view declaration) const {
  if (frozen) {
    detail::reject(ErrorCode::graph_frozen, operation_name, declaration, "nothing is declared after compilation");
  }
}

std::string Graph::State::claim_resource_id(std::string_view id, std::string_view prefix) {
  std::string name(id);
  if (name.empty()) {
    do {
      name = std::string(prefix) + "-" + std::to_string(next_resource_number_++);
    } while (resource_ids_.contains(name));
  }
  if (!resource_ids_.insert(name).second) {
    detail::reject(ErrorCode::duplicate_id, operation_name, name, "every resource has an id of its own");
  }
  return name;
}

std::string Graph::State::unused_resource_id(std::string id) const {
  if (!resource_ids_.contains(id)) return id;
  std::uint64_t suffix = 2;
  while (resource_ids_.contains(id + "-" + std::to_string(suffix))) ++suffix;
  return id + "-" + std::to_string(suffix);
}

std::uint32_t Graph::State::add_resource(detail::GraphResource resource) {
  resources.push_back(std::move(resource));
  return static_cast<std::uint32_t>(resources.size() - 1);
}

std::uint32_t Graph::State::find_vector_import(const Vector& vector) const {
  const auto matches = [&](const detail::GraphImport& import) {
    return import.vector && detail::is_same_import(*import.vector, vector);
  };
  const auto found = imports_by_memory_.find(vector.chunk_list().get());
  if (found != imports_by_memory_.end() && matches(imports[found->second])) return found->second;
  for (std::uint32_t index = 0; index < imports.size(); ++index) {
    if (matches(imports[index])) return index;
  }
  return detail::no_index;
}

std::uint32_t Graph::State::add_vector_import(Format format, std::vector<detail::GraphChunk> chunks,
                                              std::string_view id, std::string_view prefix) {
  auto shape = std::make_shared<detail::ChunkList>();
  shape->graph = identity;
  shape->format = format;
  shape->first_row.reserve(chunks.size() + 1);
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  const auto resource = static_cast<std::uint32_t>(resources.size());
  for (std::size_t index = 0; index < chunks.size(); ++index) {
    chunks[index].resource = resource;
    chunks[index].import_chunk = static_cast<std::uint32_t>(index);
    shape->first_row.push_back(rows);
    rows += chunks[index].length;
    bytes += detail::occupied_bytes(chunks[index].length, chunks[index].byte_stride, format);
  }
  shape->first_row.push_back(rows);
  shape->chunks = std::move(chunks);
  const auto import = static_cast<std::uint32_t>(imports.size());
  add_resource({.id = claim_resource_id(id, prefix),
                .kind = detail::ResourceKind::imported_vector,
                .bytes = bytes,
                .import = import});
  imports.push_back({.resource = resource, .shape = std::move(shape), .vector = {}, .buffer = {}});
  return import;
}

std::uint32_t Graph::State::import_vector(const Vector& vector, std::string_view id) {
  require_mutable("import");
  if (const std::optional<Device> owner = vector.device()) require_device(device, owner->state(), "vector");
  if (const std::uint32_t known = find_vector_import(vector); known != detail::no_index) return known;
  std::vector<detail::GraphChunk> chunks;
  chunks.reserve(vector.chunks().size());
  for (const Chunk& chunk : vector.chunks()) {
    chunks.push_back(
        {.resource = 0, .import_chunk = 0, .byte_offset = 0, .length = chunk.length, .byte_stride = chunk.byte_stride});
  }
  const std::uint32_t import = add_vector_import(vector.format(), std::move(chunks), id, "vector");
  imports[import].vector = vector;
  imports_by_memory_.try_emplace(vector.chunk_list().get(), import);
  if (vector.count()) {
    // Never shared with other imports: rebinding the vector rebinds its count word.
    const std::uint32_t count = add_vector_import(
        Format::uint32, {{.resource = 0, .import_chunk = 0, .byte_offset = 0, .length = 1, .byte_stride = 4}},
        resources[imports[import].resource].id + ".count", {});
    imports[count].vector = Vector(Format::uint32, {{.buffer = vector.count()->buffer,
                                                     .byte_offset = vector.count()->byte_offset,
                                                     .length = 1,
                                                     .byte_stride = 4}});
    imports[import].count_import = count;
  }
  return import;
}

std::uint32_t Graph::State::import_buffer(const Buffer& buffer, std::string_view id) {
  require_mutable("import");
  if (!buffer) detail::reject(ErrorCode::missing_operand, operation_name, "buffer", "an imported buffer has memory");
  require_device(device, buffer.device().state(), "buffer");
  if (const auto known = imports_by_memory_.find(buffer.state().get()); known != imports_by_memory_.end())
    return known->second;
  const auto import = static_cast<std::uint32_t>(imports.size());
  const std::uint32_t resource = add_resource({.id = claim_resource_id(id, "buffer"),
                                               .kind = detail::ResourceKind::imported_buffer,
                                               .bytes = buffer.size(),
                                               .import = import});
  imports.push_back({.resource = resource, .shape = {}, .vector = {}, .buffer = buffer});
  imports_by_memory_.emplace(buffer.state().get(), import);
  return import;
}

std::uint32_t Graph::State::declare_vector(const VectorDeclaration& declaration) {
  require_mutable("declare");
  const std::uint64_t stride = detail::stride_or_packed(declaration.byte_stride, declaration.format);
  detail::require_layout("declare", declaration.id, declaration.format, 0, stride);
  std::vector<detail::GraphChunk> chunks;
  chunks.reserve(declaration.chunk_lengths.size());
  for (const std::uint64_t length : declaration.chunk_lengths) {
    if (length > std::numeric_limits<std::uint32_t>::max()) {
      detail::reject(ErrorCode::limit_exceeded, "declare", declaration.id, "a chunk has fewer than 2^32 rows",
                     detail::values_of("rows", length));
    }
    chunks.push_back({.resource = 0, .import_chunk = 0, .byte_offset = 0, .length = length, .byte_stride = stride});
  }
  return add_vector_import(declaration.format, std::move(chunks), declaration.id, "declared");
}

std::uint32_t Graph::State::declare_buffer(std::string_view id, std::uint64_t bytes) {
  require_mutable("declare");
  const auto import = static_cast<std::uint32_t>(imports.size());
  const std::uint32_t resource = add_resource({.id = claim_resource_id(id, "declared"),
                                               .kind = detail::ResourceKind::imported_buffer,
                                               .bytes = bytes,
                                               .import = import});
  imports.push_back({.resource = resource, .shape = {}, .vector = {}, .buffer = {}});
  return import;
}

GraphBuffer Graph::State::transient(std::uint64_t bytes, std::string_view id) {
  require_mutable("transient");
  if (bytes > device.limits().largest_buffer_bytes) {
    detail::reject(ErrorCode::limit_exceeded, operation_name, id.empty() ? "transient" : id,
                   "scratch memory fits the device's largest buffer",
                   detail::values_of("bytes", bytes, "largest", device.limits().largest_buffer_bytes));
  }
  const std::uint32_t resource =
      add_resource({.id = claim_resource_id(id, "transient"), .kind = detail::ResourceKind::transient, .bytes = bytes});
  return GraphBuffer(identity, resource, bytes);
}

VectorView Graph::State::view_of_import(std::uint32_t import) const {
  const detail::GraphImport& entry = imports[import];
  VectorView view(entry.shape, 0, entry.shape->first_row.back(), std::nullopt);
  if (entry.count_import == detail::no_index) return view;
  return view.with_count({.buffer = GraphBuffer(identity, imports[entry.count_import].resource, 4),
                          .format = Format::uint32,
                          .length = 1,
                          .byte_offset = 0,
                          .byte_stride = 4});
}

void Graph::State::require_view(const VectorView& view, std::string_view operation, std::string_view operand) {
  if (view.graph() != identity) {
    detail::reject(ErrorCode::foreign_graph, operation, operand, "views belong to the graph they are used in");
  }
  if (view.count()) require_view(VectorView(*view.count()), operation, "count");
  const detail::ChunkList& list = *view.chunk_list();
  if (view.first_row() > list.first_row.back() || view.length() > list.first_row.back() - view.first_row()) {
    detail::reject(ErrorCode::range_out_of_bounds, operation, operand, "a view stays inside its chunk list",
                   detail::values_of("first row", view.first_row(), "rows", view.length()));
  }
  if (checked_lists_.contains(&list)) return;
  for (const detail::GraphChunk& chunk : list.chunks) {
    if (chunk.resource >= resources.size()) {
      detail::reject(ErrorCode::unknown_id, operation, operand, "views name resources of their graph",
                     detail::values_of("resource", chunk.resource));
    }
    const detail::GraphResource& resource = resources[chunk.resource];
    const bool whole_chunk = resource.kind == detail::ResourceKind::imported_vector;
    const detail::GraphImport* import = whole_chunk ? &imports[resource.import] : nullptr;
    if (import != nullptr && import->shape.get() == &list) break;  // the import's own list is right by construction
    detail::require_layout(operation, operand, list.format, chunk.byte_offset, chunk.byte_stride);
    std::uint64_t size = resource.bytes;
    if (import != nullptr) {
      const auto& chunks = import->shape->chunks;
      if (chunk.import_chunk >= chunks.size()) {
        detail::reject(ErrorCode::unknown_id, operation, operand, "views name chunks of their import",
                       detail::values_of("chunk", chunk.import_chunk, "chunks", chunks.size()));
      }
      const detail::GraphChunk& whole = chunks[chunk.import_chunk];
      size = detail::occupied_bytes(whole.length, whole.byte_stride, import->shape->format);
    }
    detail::require_range(operation, operand, list.format, chunk.byte_offset, chunk.byte_stride, chunk.length, size);
  }
}

void Graph::State::require_range(const detail::BufferUse& use, std::string_view operation,
                                 std::string_view operand) const {
  if (use.buffer.graph() != identity) {
    detail::reject(ErrorCode::foreign_graph, operation, operand, "buffers belong to the graph they are used in");
  }
  if (use.buffer.resource() >= resources.size()) {
    detail::reject(ErrorCode::unknown_id, operation, operand, "buffers name resources of their graph");
  }
  const std::uint64_t size = resources[use.buffer.resource()].bytes;
  if (use.offset > size || use.bytes > size - use.offset) {
    detail::reject(ErrorCode::range_out_of_bounds, operation, operand, "bytes stay inside their buffer",
                   detail::values_of("offset", use.offset, "bytes", use.bytes, "buffer bytes", size));
  }
}

detail::TableReference Graph::State::table(const std::shared_ptr<const detail::ChunkList>& chunks) {
  if (const auto known = tables_by_list_.find(chunks.get()); known != tables_by_list_.end()) return {known->second};
  const auto index = static_cast<std::uint32_t>(tables.size());
  if (chunks->chunks.size() == 1) {
    const auto [entry, inserted] = tables_by_content_.try_emplace(content_key(*chunks), index);
    if (!inserted) return {entry->second};
  }
  tables.push_back(chunks);
  tables_by_list_.emplace(chunks.get(), index);
  checked_lists_.insert(chunks.get());  // the table keeps the list alive, so its address stays its own
  return {index};
}

}  // namespace tessera
