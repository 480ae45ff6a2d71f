#include "graph/access_tables.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "device/access_monitor.hpp"
#include "glsl/access_record.h"
#include "graph/layout.hpp"

namespace tessera::detail {
namespace {

constexpr std::uint32_t access_bits(Access access) {
  if (access == Access::read) return access_read;
  return access == Access::write ? access_write : access_read | access_write;
}

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
  std::uint32_t access;
};

/// Collects what one dispatch may touch.
class RangeCollector {
 public:
  RangeCollector(const CompiledGraph::State& graph, std::span<const ImportBinding> bindings,
                 std::span<const std::uint64_t> block)
      : graph_(graph), program_(*graph.program), bindings_(bindings), block_(block) {}

  std::vector<AccessRange> ranges_of(const Dispatch& dispatch) {
    ranges_.clear();
    for (const ViewUse& use : dispatch.view_uses) {
      add_view(use.view, access_bits(use.access));
      if (use.view.count()) add_view(VectorView(*use.view.count()), access_read);
    }
    for (const BufferUse& use : dispatch.buffer_uses) {
      const std::uint64_t base = address_of(use.buffer.resource(), 0);
      if (base != 0) add(base + use.offset, use.bytes, access_bits(use.access));
    }
    for (const ArgumentRecord::Relocation& relocation : dispatch.arguments.relocations()) add_referenced(relocation);
    join_overlapping();
    std::vector<AccessRange> packed;
    for (const Range& range : ranges_)
      packed.push_back({.begin = range.begin, .end = range.end | std::uint64_t{range.access} << access_shift});
    return packed;
  }

 private:
  void add(std::uint64_t begin, std::uint64_t bytes, std::uint32_t access) {
    if (bytes != 0) ranges_.push_back({.begin = begin, .end = begin + bytes, .access = access});
  }

  std::uint64_t address_of(std::uint32_t resource, std::uint32_t import_chunk) const {
    const std::uint32_t import = program_.parts.resources[resource].import;
    if (import != no_index) return bindings_[import].address(import_chunk);
    const auto& placement = program_.schedule.placement[resource];
    return placement ? graph_.scratch.address() + *placement : 0;
  }

  void add_view(const VectorView& view, std::uint32_t access) {
    const ChunkList& list = *view.chunk_list();
    const std::uint64_t begin = view.first_row();
    const std::uint64_t end = begin + view.length();
    const auto after = std::upper_bound(list.first_row.begin(), list.first_row.end(), begin);
    for (auto i = static_cast<std::size_t>(after - list.first_row.begin()) - 1; i < list.chunks.size(); ++i) {
      if (list.first_row[i] >= end) break;
      const GraphChunk& chunk = list.chunks[i];
      const std::uint64_t from = std::max(begin, list.first_row[i]) - list.first_row[i];
      const std::uint64_t to = std::min(end, list.first_row[i + 1]) - list.first_row[i];
      const std::uint64_t base = address_of(chunk.resource, chunk.import_chunk);
      if (from >= to || base == 0) continue;
      add(base + chunk.byte_offset + from * chunk.byte_stride,
          occupied_bytes(to - from, chunk.byte_stride, list.format), access);
    }
  }

  /// Tables and constants that the record points to. Scratch is in the declared uses.
  void add_referenced(const ArgumentRecord::Relocation& relocation) {
    if (relocation.kind == ArgumentRecord::AddressKind::constant)
      add(program_.constant_addresses[relocation.index], program_.constant_bytes[relocation.index], access_read);
    const bool entries = relocation.kind == ArgumentRecord::AddressKind::table_entries;
    if (!entries && relocation.kind != ArgumentRecord::AddressKind::table_slot) return;
    const TablePlace& place = program_.table_places[relocation.index];
    const std::uint64_t bytes = 8 * program_.parts.tables[relocation.index]->chunks.size();
    if (!entries) add(graph_.arena.address() + std::uint64_t{8} * place.slot_word, 8, access_read);
    if (place.external == no_index)
      add(graph_.arena.address() + std::uint64_t{8} * place.address_word, bytes, access_read);
    else if (place.fixed)
      add(graph_.external[place.external]->buffer.address(), bytes, access_read);
    else
      add(block_[place.slot_word], bytes, access_read);
  }

  /// Operands that share memory (in place, or several that are only read) become one range with the rights of both.
  void join_overlapping() {
    std::sort(ranges_.begin(), ranges_.end(),
              [](const Range& left, const Range& right) { return left.begin < right.begin; });
    std::size_t kept = 0;
    for (const Range& range : ranges_) {
      if (kept != 0 && range.begin < ranges_[kept - 1].end) {
        ranges_[kept - 1].end = std::max(ranges_[kept - 1].end, range.end);
        ranges_[kept - 1].access |= range.access;
      } else {
        ranges_[kept++] = range;
      }
    }
    ranges_.resize(kept);
  }

  const CompiledGraph::State& graph_;
  const Program& program_;
  std::span<const ImportBinding> bindings_;
  std::span<const std::uint64_t> block_;
  std::vector<Range> ranges_;
};

/// No dispatch has more ranges than this, wherever its memory lies.
std::uint64_t most_ranges_of(const Dispatch& dispatch) {
  std::uint64_t count = dispatch.buffer_uses.size() + 2 * dispatch.arguments.relocations().size();
  for (const ViewUse& use : dispatch.view_uses) count += use.view.chunk_list()->chunks.size() + 1;
  return count;
}

}  // namespace

void plan_access_tables(Program& program) {
  for (const GraphDispatch& entry : program.parts.dispatches) {
    program.access_offsets.push_back(program.access_bytes);
    program.access_bytes += sizeof(AccessTable) + most_ranges_of(entry.dispatch) * sizeof(AccessRange);
  }
}

void write_access_tables(const CompiledGraph::State& graph, std::span<const ImportBinding> bindings,
                         std::span<const std::uint64_t> block, std::byte* bytes) {
  const Program& program = *graph.program;
  AccessMonitor& monitor = program.device.state()->accesses();
  RangeCollector collector(graph, bindings, block);
  for (std::size_t index = 0; index < program.parts.dispatches.size(); ++index) {
    const Dispatch& dispatch = program.parts.dispatches[index].dispatch;
    const std::vector<AccessRange> ranges = collector.ranges_of(dispatch);
    const AccessTable table{.report = monitor.report_address(),
                            .kernel = monitor.kernel(dispatch.module),
                            .count = static_cast<std::uint32_t>(ranges.size())};
    std::byte* target = bytes + program.access_offsets[index];
    std::memcpy(target, &table, sizeof(table));
    if (!ranges.empty()) std::memcpy(target + sizeof(table), ranges.data(), ranges.size() * sizeof(AccessRange));
  }
}

}  // namespace tessera::detail
