#include "graph/arena.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "graph/reject.hpp"

namespace tessera::detail {
namespace {

constexpr std::uint64_t record_alignment = 16;
constexpr std::uint64_t pack_bytes = std::uint64_t{16} << 20;

constexpr std::uint64_t aligned(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool only_transients(const ChunkList& list, const std::vector<GraphResource>& resources) {
  return std::all_of(list.chunks.begin(), list.chunks.end(), [&](const GraphChunk& chunk) {
    return resources[chunk.resource].kind == ResourceKind::transient;
  });
}

/// Gives each table of one kind a slot, and the short ones their addresses behind the slots. Returns the words in use.
std::uint64_t place_tables(Program& program, bool fixed, std::uint64_t word) {
  for (TablePlace& place : program.table_places) {
    if (place.fixed == fixed) place.slot_word = static_cast<std::uint32_t>(word++);
  }
  for (std::uint32_t table = 0; table < program.table_places.size(); ++table) {
    TablePlace& place = program.table_places[table];
    const std::size_t chunks = program.parts.tables[table]->chunks.size();
    if (place.fixed != fixed) continue;
    if (chunks > longest_inline_table) {
      place.external = static_cast<std::uint32_t>(program.external_tables.size());
      program.external_tables.push_back(table);
    } else {
      place.address_word = static_cast<std::uint32_t>(word);
      word += chunks;
    }
  }
  return word;
}

void add_to(std::byte* field, std::uint64_t base) {
  std::uint64_t value = 0;
  std::memcpy(&value, field, sizeof(value));
  value += base;
  std::memcpy(field, &value, sizeof(value));
}

/// A record's bytes with addresses put in.
void write_record(const CompiledGraph::State& graph, const ArgumentRecord& record, std::string_view node,
                  std::byte* bytes) {
  const Program& program = *graph.program;
  std::ranges::copy(record.bytes(), bytes);
  for (const ArgumentRecord::Relocation& relocation : record.relocations()) {
    std::byte* field = bytes + relocation.offset;
    switch (relocation.kind) {
      case ArgumentRecord::AddressKind::table_entries:
        add_to(field, graph.arena.address() + std::uint64_t{8} * program.table_places[relocation.index].address_word);
        break;
      case ArgumentRecord::AddressKind::table_slot:
        add_to(field, graph.arena.address() + std::uint64_t{8} * program.table_places[relocation.index].slot_word);
        break;
      case ArgumentRecord::AddressKind::constant:
        add_to(field, program.constant_addresses[relocation.index]);
        break;
      case ArgumentRecord::AddressKind::transient: {
        const auto& placement = program.schedule.placement[relocation.index];
        if (!placement) {
          reject(ErrorCode::internal, node, program.parts.resources[relocation.index].id,
                 "a record names only scratch that its node uses");
        }
        add_to(field, graph.scratch.address() + *placement);
        break;
      }
    }
  }
}

}  // namespace

std::uint64_t ImportBinding::address(std::uint32_t chunk) const noexcept {
  if (chunks != nullptr) {
    const Chunk& bound_chunk = (*chunks)[chunk];
    return bound_chunk.buffer ? bound_chunk.buffer.state()->address + bound_chunk.byte_offset : 0;
  }
  if (buffer != nullptr) return buffer->state()->address;
  return count != nullptr ? count->buffer.state()->address + count->byte_offset : 0;
}

void plan_arena(Program& program) {
  const GraphParts& parts = program.parts;
  program.table_places.resize(parts.tables.size());
  for (std::uint32_t table = 0; table < parts.tables.size(); ++table) {
    program.table_places[table].fixed = only_transients(*parts.tables[table], parts.resources);
    std::uint32_t former = no_index;
    for (const GraphChunk& chunk : parts.tables[table]->chunks) {
      const std::uint32_t import = parts.resources[chunk.resource].import;
      if (import == no_index || import == former) continue;
      former = import;
      std::vector<std::uint32_t>& tables = program.usage[import].tables;
      if (tables.empty() || tables.back() != table) tables.push_back(table);
    }
  }
  program.block_words = place_tables(program, false, 0);
  program.fixed_words = place_tables(program, true, program.block_words) - program.block_words;
  std::uint64_t offset = aligned((program.block_words + program.fixed_words) * 8, record_alignment);
  for (const GraphDispatch& dispatch : parts.dispatches) {
    program.record_offsets.push_back(offset);
    offset = aligned(offset + dispatch.dispatch.arguments.bytes().size(), record_alignment);
  }
  program.arena_bytes = offset;
}

void upload_constants(Program& program) {
  struct Pack {
    std::vector<std::byte> bytes;
    std::vector<std::pair<std::size_t, std::uint64_t>> constants;  // which, and where in the pack
  };
  Pack pack;
  const auto flush = [&] {
    if (pack.constants.empty()) return;
    const Buffer buffer =
        program.device.allocate(pack.bytes.size(), {.memory = MemoryKind::device, .name = "graph constants"});
    if (!pack.bytes.empty()) program.device.write(buffer, 0, pack.bytes);
    for (const auto& [index, offset] : pack.constants) program.constant_addresses[index] = buffer.address() + offset;
    program.constant_buffers.push_back(buffer);
    pack = {};
  };
  program.constant_addresses.resize(program.parts.constants.size());
  for (std::size_t index = 0; index < program.parts.constants.size(); ++index) {
    const std::vector<std::byte>& constant = program.parts.constants[index];
    if (pack.bytes.size() + constant.size() > pack_bytes) flush();
    pack.constants.emplace_back(index, pack.bytes.size());
    pack.bytes.insert(pack.bytes.end(), constant.begin(), constant.end());
    pack.bytes.resize(aligned(pack.bytes.size(), record_alignment));
    program.constant_bytes.push_back(constant.size());
    program.statistics.table_bytes += constant.size();
  }
  flush();
}

std::shared_ptr<const TableVersion> TableVersionPool::take(std::uint64_t bytes) {
  Buffer buffer;
  {
    const std::lock_guard lock(mutex_);
    const auto fits =
        std::find_if(free_.begin(), free_.end(), [&](const Buffer& candidate) { return candidate.size() == bytes; });
    if (fits != free_.end()) {
      buffer = std::move(*fits);
      free_.erase(fits);
    }
  }
  if (!buffer) buffer = device_.allocate(bytes, {.memory = MemoryKind::device, .name = "chunk table"});
  return {new TableVersion{buffer}, [pool = weak_from_this()](const TableVersion* version) {
            if (const auto owner = pool.lock()) owner->give_back(version->buffer);
            delete version;
          }};
}

void TableVersionPool::give_back(Buffer buffer) {
  constexpr std::size_t most_kept = 8;
  const std::lock_guard lock(mutex_);
  if (free_.size() < most_kept) free_.push_back(std::move(buffer));
}

void write_addresses(const CompiledGraph::State& graph, const ChunkList& list, std::span<const ImportBinding> bindings,
                     std::uint64_t* addresses) {
  const Program& program = *graph.program;
  const GraphParts& parts = program.parts;
  if (list.chunks.empty()) return;
  const std::uint32_t first = parts.resources[list.chunks.front().resource].import;
  if (first != no_index && parts.imports[first].shape.get() == &list && bindings[first].chunks != nullptr) {
    for (const Chunk& chunk : *bindings[first].chunks) {  // a whole import, the usual case of a long table
      *addresses++ = chunk.buffer ? chunk.buffer.state()->address + chunk.byte_offset : 0;
    }
    return;
  }
  for (std::size_t index = 0; index < list.chunks.size(); ++index) {
    const GraphChunk& chunk = list.chunks[index];
    const std::uint32_t import = parts.resources[chunk.resource].import;
    std::uint64_t base = 0;
    if (import != no_index) {
      base = bindings[import].address(chunk.import_chunk);
    } else if (const auto& placement = program.schedule.placement[chunk.resource]) {
      base = graph.scratch.address() + *placement;
    }
    addresses[index] = base == 0 ? 0 : base + chunk.byte_offset;
  }
}

void fill_arena(CompiledGraph::State& graph) {
  const Program& program = *graph.program;
  std::vector<std::uint64_t> image((program.arena_bytes + 7) / 8);
  const std::uint64_t arena = graph.arena.address();
  graph.external.resize(program.external_tables.size());
  for (std::uint32_t table = 0; table < program.table_places.size(); ++table) {
    const TablePlace& place = program.table_places[table];
    const ChunkList& list = *program.parts.tables[table];
    if (place.external == no_index) {
      image[place.slot_word] = arena + std::uint64_t{8} * place.address_word;
      write_addresses(graph, list, program.defaults, image.data() + place.address_word);
      continue;
    }
    std::vector<std::uint64_t> addresses(list.chunks.size());
    write_addresses(graph, list, program.defaults, addresses.data());
    auto version = graph.pool->take(addresses.size() * 8);
    graph.device().write(version->buffer, 0, std::as_bytes(std::span(addresses)));
    image[place.slot_word] = version->buffer.address();
    graph.external[place.external] = std::move(version);
  }
  auto* bytes = reinterpret_cast<std::byte*>(image.data());
  for (std::size_t index = 0; index < program.parts.dispatches.size(); ++index) {
    const Dispatch& dispatch = program.parts.dispatches[index].dispatch;
    write_record(graph, dispatch.arguments, dispatch.name, bytes + program.record_offsets[index]);
  }
  graph.default_block.assign(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(program.block_words));
  if (program.arena_bytes > 0) {
    graph.device().write(graph.arena, 0, std::span<const std::byte>(bytes, program.arena_bytes));
  }
}

}  // namespace tessera::detail
