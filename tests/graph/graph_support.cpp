#include "graph_support.hpp"

#include <cstddef>
#include <utility>

namespace tessera::detail {
void register_graph_test_modules();
}  // namespace tessera::detail

namespace tessera::test {
namespace {

class TestLowering final : public detail::Lowering {
 public:
  explicit TestLowering(TestOperation operation) : operation_(std::move(operation)) {}
  std::string name() const override { return operation_.id.empty() ? operation_.name : operation_.id; }
  std::string id() const override { return operation_.id; }
  void lower(detail::NodeSink& sink) const override { operation_.lower(sink); }

 private:
  TestOperation operation_;
};

struct AddWordRecord {
  std::uint64_t target = 0;
  std::uint32_t summand = 0;
  std::uint32_t reserved = 0;
};

struct FirstWordsRecord {
  std::uint64_t source = 0;
  std::uint64_t target = 0;
  std::uint32_t count = 0;
  std::uint32_t reserved = 0;
};

}  // namespace

std::shared_ptr<const detail::Lowering> make_lowering(const TestOperation& operation) {
  return std::make_shared<const TestLowering>(operation);
}

TestOperation add_word(const DataView& target, std::uint32_t summand, std::string id) {
  const auto lower = [target, summand](detail::NodeSink& sink) {
    detail::Dispatch dispatch{.name = "add", .module = "add_word", .constants = {32}};
    dispatch.arguments = detail::ArgumentRecord(AddWordRecord{.summand = summand});
    dispatch.arguments.relocate(offsetof(AddWordRecord, target), sink.table(VectorView(target)));
    dispatch.view_uses = {{.view = VectorView(target), .access = detail::Access::read_write}};
    dispatch.workload = {.invocations = 32, .read_bytes = 4, .write_bytes = 4};
    sink.dispatch(std::move(dispatch));
  };
  return {.name = "add word", .lower = lower, .id = std::move(id)};
}

TestOperation first_words(const VectorView& source, const DataView& target, std::string id, detail::Gating gating) {
  const auto lower = [source, target, gating](detail::NodeSink& sink) {
    const auto count = static_cast<std::uint32_t>(source.chunk_list()->chunks.size());
    detail::Dispatch dispatch{.name = "collect", .module = "first_words", .constants = {64}};
    dispatch.gating = gating;
    dispatch.arguments = detail::ArgumentRecord(FirstWordsRecord{.count = count});
    dispatch.arguments.relocate(offsetof(FirstWordsRecord, source), sink.table(source));
    dispatch.arguments.relocate(offsetof(FirstWordsRecord, target), sink.table(VectorView(target)));
    dispatch.groups = detail::fold_workgroups((count + 63) / 64, sink.device().limits(), "first words");
    dispatch.view_uses = {{.view = source, .access = detail::Access::read},
                          {.view = VectorView(target), .access = detail::Access::write}};
    sink.dispatch(std::move(dispatch));
  };
  return {.name = "first words", .lower = lower, .id = std::move(id)};
}

FillNode set_word(const DataView& target, std::uint32_t word, std::string id) {
  return {.id = std::move(id), .target = target.buffer, .offset = target.byte_offset, .bytes = 4, .word = word};
}

void GraphFixture::SetUp() { detail::register_graph_test_modules(); }

Encoding GraphFixture::execute(CompiledGraph& graph, std::vector<Rebinding> rebindings, const EncodeOptions& options) {
  Encoder encoder = device().encoder();
  Encoding encoding = graph.encode(encoder, rebindings, options);
  device().submit(std::move(encoder)).wait();
  return encoding;
}

}  // namespace tessera::test
