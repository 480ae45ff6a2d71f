#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <tessera/graph/graph.hpp>

#include "graph/node_sink.hpp"
#include "support/device_fixture.hpp"

namespace tessera::test {

/// An operation made of whatever a test puts into the sink.
struct TestOperation {
  std::string name;
  std::function<void(detail::NodeSink&)> lower;
  std::string id{};
};
std::shared_ptr<const detail::Lowering> make_lowering(const TestOperation& operation);

/// Adds to the word at a view's first row.
TestOperation add_word(const DataView& target, std::uint32_t summand, std::string id = {});
/// Writes the first word of every chunk of `source` to consecutive rows of `target`.
TestOperation first_words(const VectorView& source, const DataView& target, std::string id = {},
                          detail::Gating gating = detail::Gating::by_graph);
/// Fills the word at a view's first row.
FillNode set_word(const DataView& target, std::uint32_t word, std::string id = {});

/// Tests with graphs on the shared device.
class GraphFixture : public DeviceFixture {
 protected:
  void SetUp() override;

  static Buffer words(const std::vector<std::uint32_t>& values) { return upload(values); }
  static void write(const Buffer& buffer, const std::vector<std::uint32_t>& values) {
    device().write(buffer, 0, std::as_bytes(std::span(values)));
  }
  static std::vector<std::uint32_t> read(const Buffer& buffer) { return download<std::uint32_t>(buffer); }
  static std::uint32_t read_word(const Buffer& buffer, std::uint64_t offset = 0) {
    return download<std::uint32_t>(buffer, offset, 1).front();
  }
  static DataView word(const GraphBuffer& buffer, std::uint64_t index = 0) {
    return buffer.view<std::uint32_t>(1, {.byte_offset = 4 * index});
  }
  /// Encodes, submits and waits.
  static Encoding execute(CompiledGraph& graph, std::vector<Rebinding> rebindings = {},
                          const EncodeOptions& options = {});
};

}  // namespace tessera::test
