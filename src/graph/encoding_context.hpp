#pragma once

#include <any>
#include <span>
#include <vector>

#include "graph/compiled_state.hpp"

namespace tessera::detail {

/// Answers the questions of a node with a callback.
class EncodingContext final : public NodeContext {
 public:
  EncodingContext(const CompiledGraph::State& graph, std::span<const ImportBinding> bindings,
                  const std::any& parameters, std::span<const ResourceUse> uses)
      : graph_(graph), bindings_(bindings), parameters_(parameters), uses_(uses) {}

  std::vector<Chunk> chunks(const VectorView& view) const override;
  Image image(const GraphImage& image) const override;
  ImageLayout layout(const GraphImage& image) const override;
  const std::any& parameters() const noexcept override { return parameters_; }

 private:
  Chunk located(const GraphChunk& chunk, Format format, std::uint64_t first, std::uint64_t rows) const;

  const CompiledGraph::State& graph_;
  std::span<const ImportBinding> bindings_;
  const std::any& parameters_;
  std::span<const ResourceUse> uses_;
};

}  // namespace tessera::detail
