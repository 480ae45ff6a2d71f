#include "graph/bindings.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device/internal.hpp"
#include "graph/conflicts.hpp"
#include "graph/layout.hpp"
#include "graph/reject.hpp"

namespace tessera::detail {
namespace {

constexpr std::string_view encode_name = "encode";
constexpr std::size_t most_known = 16;

const std::string& id_of(const Program& program, std::uint32_t import) {
  return program.parts.resources[program.parts.imports[import].resource].id;
}

MemoryRange range_of(const Chunk& chunk, Format format) {
  const std::uint64_t begin = chunk.buffer.state()->address + chunk.byte_offset;
  return {.begin = begin,
          .end = begin + occupied_bytes(chunk.length, chunk.byte_stride, format),
          .stride = chunk.byte_stride,
          .row = size_of(format)};
}

/// The bytes that nodes touch, of what is bound to a buffer import or a count word.
MemoryRange touched_bytes(const Program& program, std::uint32_t import, const ImportBinding& binding) {
  const std::uint64_t address = binding.address(0);
  if (binding.count != nullptr) return {.begin = address, .end = address + 4, .stride = 4, .row = 4};
  const ImportUsage& usage = program.usage[import];
  const std::uint64_t bytes = usage.end - usage.begin;
  return {.begin = address + usage.begin, .end = address + usage.end, .stride = bytes, .row = bytes};
}

std::vector<MemoryRange> ranges_of(const Program& program, std::uint32_t import, const ImportBinding& binding) {
  std::vector<MemoryRange> ranges;
  if (binding.chunks == nullptr) {
    if (binding.bound() && binding.image == nullptr) ranges.push_back(touched_bytes(program, import, binding));
    return ranges;
  }
  const Format format = program.parts.imports[import].shape->format;
  for (const Chunk& chunk : *binding.chunks) {
    if (chunk.length > 0) ranges.push_back(range_of(chunk, format));
  }
  return ranges;
}

BoundMemory measure(const Program& program, std::uint32_t import, const ImportBinding& binding) {
  BoundMemory memory;
  std::uint64_t former_end = 0;
  for (const MemoryRange& range : ranges_of(program, import, binding)) {
    memory.hull.add(range.begin, range.end);
    memory.ascending = memory.ascending && range.begin >= former_end;
    former_end = range.end;
  }
  return memory;
}

void require_disjoint_chunks(const Program& program, std::uint32_t import, const ImportBinding& binding,
                             const BoundMemory& memory) {
  if (memory.ascending) return;
  const std::vector<MemoryRange> ranges = ranges_of(program, import, binding);
  if (find_overlap(ranges)) {
    const UsePlace writer = find_writer(program, import);
    reject(ErrorCode::alias, writer.operation, writer.port.empty() ? id_of(program, import) : writer.port,
           "chunks that nodes write do not overlap one another", values_of("import", id_of(program, import)));
  }
}

/// Names the use that writes, and the other with its import.
[[noreturn]] void reject_overlap(const Program& program, std::uint32_t left, std::uint32_t right) {
  Conflict conflict = find_conflict(program, left, right);
  if (!conflict.left.writes) {
    std::swap(conflict.left, conflict.right);
    std::swap(left, right);
  }
  const auto place = [](const UsePlace& use) {
    return (use.port.empty() ? std::string() : use.port + " of ") + use.operation;
  };
  reject(ErrorCode::alias, conflict.left.operation,
         conflict.left.port.empty() ? std::string_view(id_of(program, left)) : std::string_view(conflict.left.port),
         "memory of two imports overlaps only where nodes read both and write neither",
         values_of("written import", id_of(program, left), "overlaps import", id_of(program, right),
                   conflict.right.writes ? "written as" : "read as", place(conflict.right)));
}

void require_apart(const Program& program, std::uint32_t left, const ImportBinding& left_binding, std::uint32_t right,
                   const ImportBinding& right_binding) {
  const auto found = find_overlap(ranges_of(program, left, left_binding), ranges_of(program, right, right_binding));
  if (found) reject_overlap(program, left, right);
}

/// Compares an import with all others. Those for which `skip` says so are left out.
template <class Skip>
void check_aliases_of(const Program& program, std::uint32_t import, std::span<const ImportBinding> bindings,
                      std::span<const BoundMemory> memory, const Skip& skip) {
  const ImportUsage& usage = program.usage[import];
  if (!usage.used || !bindings[import].bound()) return;
  for (std::uint32_t other = 0; other < bindings.size(); ++other) {
    if (other == import || !program.usage[other].used || skip(other)) continue;
    if (!usage.written && !program.usage[other].written) continue;
    if (!memory[import].hull.overlaps(memory[other].hull)) continue;
    require_apart(program, import, bindings[import], other, bindings[other]);
  }
}

void require_device(const Program& program, std::uint32_t import, const std::shared_ptr<BufferState>& buffer) {
  if (buffer->device != program.device.state()) {
    reject(ErrorCode::foreign_device, encode_name, id_of(program, import), "memory lies on the graph's device");
  }
}

[[noreturn]] void reject_chunk(const Program& program, std::uint32_t import, std::size_t index, const Chunk& chunk) {
  const GraphChunk& expected = program.parts.imports[import].shape->chunks[index];
  if (chunk.length != expected.length) {
    reject(ErrorCode::partition_mismatch, encode_name, id_of(program, import),
           "a replacement has the import's chunk lengths",
           values_of("chunk", index, "import rows", expected.length, "replacement rows", chunk.length));
  }
  reject(ErrorCode::layout_mismatch, encode_name, id_of(program, import), "a replacement has the import's strides",
         values_of("chunk", index, "import stride", expected.byte_stride, "replacement stride", chunk.byte_stride));
}

/// Compares a vector with the import's shape and measures its memory, in one pass: long vectors are rebound often.
BoundMemory measure_vector(const Program& program, std::uint32_t import, const Vector& vector) {
  const ChunkList& shape = *program.parts.imports[import].shape;
  const std::string& id = id_of(program, import);
  if (vector.format() != shape.format) {
    reject(ErrorCode::format_mismatch, encode_name, id, "a replacement has the import's format",
           values_of("import", name_of(shape.format), "replacement", name_of(vector.format())));
  }
  const std::vector<Chunk>& chunks = *vector.chunk_list();
  if (chunks.size() != shape.chunks.size()) {
    reject(ErrorCode::partition_mismatch, encode_name, id, "a replacement has the import's chunk lengths",
           values_of("import chunks", shape.chunks.size(), "replacement chunks", chunks.size()));
  }
  BoundMemory memory;
  const std::uint64_t row = size_of(shape.format);
  const BufferState* former = nullptr;
  std::uint64_t address = 0;
  std::uint64_t former_end = 0;
  for (std::size_t index = 0; index < chunks.size(); ++index) {
    const Chunk& chunk = chunks[index];
    const GraphChunk& expected = shape.chunks[index];
    if (chunk.length != expected.length || (chunk.byte_stride != expected.byte_stride && chunk.length > 0)) {
      reject_chunk(program, import, index, chunk);
    }
    if (chunk.length == 0) continue;
    if (chunk.buffer.state().get() != former) {
      former = chunk.buffer.state().get();
      address = former->address;
      if (former->device != program.device.state()) {
        reject(ErrorCode::foreign_device, encode_name, id, "memory lies on the graph's device");
      }
    }
    const std::uint64_t begin = address + chunk.byte_offset;
    const std::uint64_t end = begin + (chunk.length - 1) * chunk.byte_stride + row;
    memory.ascending = memory.ascending && begin >= former_end;
    former_end = end;
    memory.hull.add(begin, end);
  }
  return memory;
}

void bind(CompiledGraph::State& graph, std::uint32_t import, const ImportBinding& binding, const BoundMemory& memory) {
  CheckedBindings& bindings = graph.bindings;
  if (std::find(bindings.changed.begin(), bindings.changed.end(), import) != bindings.changed.end()) {
    reject(ErrorCode::duplicate_id, encode_name, id_of(*graph.program, import),
           "an import is bound once in an encoding");
  }
  bindings.imports[import] = binding;
  bindings.memory[import] = memory;
  bindings.changed.push_back(import);
}

void bind_vector(CompiledGraph::State& graph, std::uint32_t import, const Vector& vector) {
  const Program& program = *graph.program;
  const GraphImport& entry = program.parts.imports[import];
  if (entry.shape == nullptr) {
    reject(ErrorCode::format_mismatch, encode_name, id_of(program, import), "a buffer import is bound to a buffer");
  }
  const ImportBinding binding{.chunks = vector.chunk_list().get(), .buffer = nullptr, .count = nullptr};
  const KnownBinding* known = find_known(graph, import, binding);
  bind(graph, import, binding, known != nullptr ? known->memory : measure_vector(program, import, vector));
  const bool counted = entry.count_import != no_index;
  if (counted && !vector.count()) {
    reject(ErrorCode::missing_operand, encode_name, id_of(program, import),
           "a replacement has a count word where the import has one");
  }
  if (!counted && vector.count()) {
    reject(ErrorCode::surplus_operand, encode_name, id_of(program, import),
           "a replacement has no count word where the import has none");
  }
  if (counted) {
    require_device(program, entry.count_import, vector.count()->buffer.state());
    const ImportBinding count{.chunks = nullptr, .buffer = nullptr, .count = &*vector.count()};
    bind(graph, entry.count_import, count, measure(program, entry.count_import, count));
  }
}

void bind_buffer(CompiledGraph::State& graph, std::uint32_t import, const Buffer& buffer) {
  const Program& program = *graph.program;
  const GraphImport& entry = program.parts.imports[import];
  if (entry.shape != nullptr) {
    reject(ErrorCode::format_mismatch, encode_name, id_of(program, import), "a vector import is bound to a vector");
  }
  if (!buffer) {
    reject(ErrorCode::missing_operand, encode_name, id_of(program, import), "a replacement has memory");
  }
  require_device(program, import, buffer.state());
  const std::uint64_t bytes = program.parts.resources[entry.resource].bytes;
  if (buffer.size() < bytes) {
    reject(ErrorCode::capacity_too_small, encode_name, id_of(program, import), "a replacement is at least as large",
           values_of("import bytes", bytes, "replacement bytes", buffer.size()));
  }
  const ImportBinding binding{.chunks = nullptr, .buffer = &buffer, .count = nullptr};
  bind(graph, import, binding, measure(program, import, binding));
}

void require_kind(const Program& program, std::uint32_t import, bool image) {
  if (program.parts.resources[program.parts.imports[import].resource].is_image() == image) return;
  reject(ErrorCode::format_mismatch, encode_name, id_of(program, import), "an image import is bound to an image");
}

void bind_image(CompiledGraph::State& graph, std::uint32_t import, const Image& image) {
  const Program& program = *graph.program;
  const std::string& id = id_of(program, import);
  const GraphResource& resource = program.parts.resources[program.parts.imports[import].resource];
  const ImageDescription& expected = program.parts.images[resource.image];
  const ImageDescription& given = image.description();
  if (image.state()->device != program.device.state()) {
    reject(ErrorCode::foreign_device, encode_name, id, "images lie on the graph's device");
  }
  if (given.format != expected.format) {
    reject(ErrorCode::format_mismatch, encode_name, id, "a replacement has the import's format",
           values_of("import", name_of(expected.format), "replacement", name_of(given.format)));
  }
  if (given.width != expected.width || given.height != expected.height) {
    reject(ErrorCode::extent_mismatch, encode_name, id, "a replacement has the import's extents",
           values_of("import width", expected.width, "import height", expected.height, "replacement width", given.width,
                     "replacement height", given.height));
  }
  if (!contains(given.usage, expected.usage)) {
    reject(ErrorCode::usage_mismatch, encode_name, id, "a replacement is made for what the import is",
           values_of("import", names_of(expected.usage), "replacement", names_of(given.usage)));
  }
  bind(graph, import, {.image = &image}, {});
}

/// Two imports of one image would each change its layout.
void require_own_image(const Program& program, std::uint32_t import, std::span<const ImportBinding> bindings) {
  if (bindings[import].image == nullptr || !program.usage[import].used) return;
  for (std::uint32_t other = 0; other < bindings.size(); ++other) {
    if (other == import || bindings[other].image == nullptr || !program.usage[other].used) continue;
    if (bindings[other].image->state()->image != bindings[import].image->state()->image) continue;
    reject(ErrorCode::alias, encode_name, id_of(program, import), "imports that nodes use are different images",
           values_of("same as", id_of(program, other)));
  }
}

void require_all_bound(const Program& program, std::span<const ImportBinding> bindings) {
  for (std::uint32_t import = 0; import < bindings.size(); ++import) {
    if (!bindings[import].bound()) {
      reject(ErrorCode::unbound_import, encode_name, id_of(program, import),
             "every import without a default is bound at each encoding");
    }
  }
}

/// Remembers a long vector once it passed every check.
void remember(CompiledGraph::State& graph, std::uint32_t import, const Vector& vector, const BoundMemory& memory) {
  KnownBinding entry{.chunks = vector.chunk_list(), .import = import, .memory = memory, .versions = {}};
  entry.versions.resize(graph.program->usage[import].tables.size());
  if (graph.known.size() < most_known) {
    graph.known.push_back(std::move(entry));
  } else {
    graph.known[graph.next_known++ % most_known] = std::move(entry);
  }
}

}  // namespace

void note_usage(Program& program) {
  program.usage.resize(program.parts.imports.size());
  for (const ScheduleNode& node : program.schedule_nodes) {
    for (const ResourceUse& use : node.uses) {
      const std::uint32_t import = program.parts.resources[use.resource].import;
      if (import == no_index || use.begin >= use.end) continue;
      ImportUsage& usage = program.usage[import];
      usage.begin = usage.used ? std::min(usage.begin, use.begin) : use.begin;
      usage.end = usage.used ? std::max(usage.end, use.end) : use.end;
      usage.used = true;
      usage.written = usage.written || use.access != Access::read;
    }
  }
}

void check_default_bindings(Program& program) {
  const auto& imports = program.parts.imports;
  for (std::uint32_t import = 0; import < imports.size(); ++import) {
    ImportBinding binding;
    if (imports[import].vector) binding.chunks = imports[import].vector->chunk_list().get();
    if (imports[import].buffer) binding.buffer = &imports[import].buffer;
    if (imports[import].image) binding.image = &imports[import].image;
    program.defaults.push_back(binding);
    program.default_memory.push_back(measure(program, import, binding));
  }
  for (std::uint32_t import = 0; import < imports.size(); ++import) {
    check_aliases_of(program, import, program.defaults, program.default_memory,
                     [&](std::uint32_t other) { return other < import; });
    if (program.usage[import].written) {
      require_disjoint_chunks(program, import, program.defaults[import], program.default_memory[import]);
    }
  }
}

void forget_default_bindings(Program& program, CompiledGraph::State& graph) {
  for (GraphImport& import : program.parts.imports) {
    import.vector.reset();
    import.buffer = {};
  }
  program.defaults.assign(program.defaults.size(), {});
  program.default_memory.assign(program.default_memory.size(), {});
  graph.defaults_complete = false;
}

KnownBinding* find_known(CompiledGraph::State& graph, std::uint32_t import, const ImportBinding& binding) {
  if (binding.chunks == nullptr || binding.chunks->size() <= longest_inline_table) return nullptr;
  for (KnownBinding& entry : graph.known) {
    // An expired list's address may be that of a new one, so the pointer is compared while the list lives.
    if (entry.import == import && entry.chunks.lock().get() == binding.chunks) return &entry;
  }
  return nullptr;
}

void check_rebindings(CompiledGraph::State& graph, std::span<const Rebinding> rebindings) {
  const Program& program = *graph.program;
  CheckedBindings& bindings = graph.bindings;
  bindings.imports = program.defaults;
  bindings.memory = program.default_memory;
  bindings.changed.clear();
  for (const Rebinding& rebinding : rebindings) {
    if (rebinding.graph != 0 && rebinding.graph != program.graph) {
      reject(ErrorCode::foreign_graph, encode_name, "rebinding", "an import belongs to the compiled graph");
    }
    if (rebinding.import_index >= program.parts.imports.size()) {
      reject(ErrorCode::unknown_id, encode_name, "rebinding", "the graph has that import",
             values_of("import", rebinding.import_index, "imports", program.parts.imports.size()));
    }
    require_kind(program, rebinding.import_index, static_cast<bool>(rebinding.image));
    if (rebinding.image) {
      bind_image(graph, rebinding.import_index, rebinding.image);
    } else if (rebinding.vector) {
      bind_vector(graph, rebinding.import_index, *rebinding.vector);
    } else {
      bind_buffer(graph, rebinding.import_index, rebinding.buffer);
    }
  }
  require_all_bound(program, bindings.imports);

  for (std::size_t index = 0; index < bindings.changed.size(); ++index) {
    const std::uint32_t import = bindings.changed[index];
    const auto compared = [&](std::uint32_t other) {
      return std::find(bindings.changed.begin(), bindings.changed.begin() + static_cast<std::ptrdiff_t>(index),
                       other) != bindings.changed.begin() + static_cast<std::ptrdiff_t>(index);
    };
    check_aliases_of(program, import, bindings.imports, bindings.memory, compared);
    require_own_image(program, import, bindings.imports);
    const ImportBinding& binding = bindings.imports[import];
    if (program.usage[import].written && find_known(graph, import, binding) == nullptr) {
      require_disjoint_chunks(program, import, binding, bindings.memory[import]);
    }
  }
  for (const Rebinding& rebinding : rebindings) {
    if (!rebinding.vector || rebinding.vector->chunks().size() <= longest_inline_table) continue;
    const std::uint32_t import = rebinding.import_index;
    if (find_known(graph, import, bindings.imports[import]) == nullptr) {
      remember(graph, import, *rebinding.vector, bindings.memory[import]);
    }
  }
}

}  // namespace tessera::detail
