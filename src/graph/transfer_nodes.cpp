#include <tessera/graph/operation.hpp>

#include <algorithm>
#include <cstddef>

#include "graph/node_records.h"
#include "graph/node_sink.hpp"
#include "graph/reject.hpp"

// Copies and fills are kernels: under a condition they must be, elsewhere rebinding would change the buffers that a
// recorded copy command names, and on large devices kernels are faster.
namespace tessera {
namespace detail {
namespace {

/// The bytes as words. Throws `layout_mismatch`, `range_out_of_bounds`.
VectorView words_of(const GraphBuffer& buffer, std::uint64_t offset, std::uint64_t bytes, std::string_view operation,
                    std::string_view operand) {
  if (offset % 4 != 0 || bytes % 4 != 0) {
    reject(ErrorCode::layout_mismatch, operation, operand, "offsets and sizes are multiples of 4",
           values_of("offset", offset, "bytes", bytes));
  }
  return VectorView(DataView{
      .buffer = buffer, .format = Format::uint32, .length = bytes / 4, .byte_offset = offset, .byte_stride = 4});
}

Dispatch word_dispatch(NodeSink& sink, std::string module, std::uint64_t words, std::string_view operation) {
  const std::uint32_t workgroup_size = std::min(256U, sink.device().limits().largest_workgroup_size);
  // CPU-type devices want scalar access and long turns; on GPUs one 16-byte access an invocation is fastest.
  const bool scalar = sink.device().info().type == DeviceType::cpu;
  const std::uint32_t words_per_workgroup = scalar ? 4096 : 4 * workgroup_size;
  Dispatch dispatch{.name = module,
                    .module = module,
                    .constants = {workgroup_size, scalar ? 0U : 1U, words_per_workgroup},
                    .arguments = {}};
  dispatch.groups =
      fold_workgroups((words + words_per_workgroup - 1) / words_per_workgroup, sink.device().limits(), operation);
  dispatch.workload.invocations = words;
  dispatch.workload.write_bytes = words * 4;
  return dispatch;
}

class CopyLowering final : public Lowering {
 public:
  explicit CopyLowering(const CopyNode& node) : node_(node) {}
  std::string name() const override { return node_.id.empty() ? "copy" : node_.id; }
  std::string id() const override { return node_.id; }
  void lower(NodeSink& sink) const override {
    const VectorView source = words_of(node_.source, node_.source_offset, node_.bytes, name(), "source");
    const VectorView target = words_of(node_.target, node_.target_offset, node_.bytes, name(), "target");
    CopyWordsRecord record{.source = 0, .target = 0, .count = node_.bytes / 4};
    ArgumentRecord arguments(record);
    arguments.relocate(offsetof(CopyWordsRecord, source), sink.table(source));
    arguments.relocate(offsetof(CopyWordsRecord, target), sink.table(target));
    const bool apart = node_.source_offset + node_.bytes <= node_.target_offset ||
                       node_.target_offset + node_.bytes <= node_.source_offset;
    if (node_.source.resource() == node_.target.resource() && !apart) {
      reject(
          ErrorCode::alias, name(), "target", "source and target do not overlap",
          values_of("source offset", node_.source_offset, "target offset", node_.target_offset, "bytes", node_.bytes));
    }
    if (node_.bytes == 0) return;
    Dispatch dispatch = word_dispatch(sink, "copy_words", record.count, name());
    dispatch.arguments = std::move(arguments);
    dispatch.view_uses = {{.view = source, .access = Access::read}, {.view = target, .access = Access::write}};
    dispatch.workload.read_bytes = node_.bytes;
    sink.describe_operands({{.port = "source", .view = source, .access = Access::read},
                            {.port = "target", .view = target, .access = Access::write}});
    sink.dispatch(std::move(dispatch));
  }

 private:
  CopyNode node_;
};

class FillLowering final : public Lowering {
 public:
  explicit FillLowering(const FillNode& node) : node_(node) {}
  std::string name() const override { return node_.id.empty() ? "fill" : node_.id; }
  std::string id() const override { return node_.id; }
  void lower(NodeSink& sink) const override {
    const VectorView target = words_of(node_.target, node_.offset, node_.bytes, name(), "target");
    FillWordsRecord record{.target = 0, .count = node_.bytes / 4, .word = node_.word, .reserved = 0};
    ArgumentRecord arguments(record);
    arguments.relocate(offsetof(FillWordsRecord, target), sink.table(target));
    if (node_.bytes == 0) return;
    Dispatch dispatch = word_dispatch(sink, "fill_words", record.count, name());
    dispatch.arguments = std::move(arguments);
    dispatch.view_uses = {{.view = target, .access = Access::write}};
    sink.describe_operands({{.port = "target", .view = target, .access = Access::write}});
    sink.dispatch(std::move(dispatch));
  }

 private:
  FillNode node_;
};

}  // namespace
}  // namespace detail

std::shared_ptr<const detail::Lowering> make_lowering(const CopyNode& node) {
  return std::make_shared<const detail::CopyLowering>(node);
}
std::shared_ptr<const detail::Lowering> make_lowering(const FillNode& node) {
  return std::make_shared<const detail::FillLowering>(node);
}

}  // namespace tessera
