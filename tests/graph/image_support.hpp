#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tessera/graph/image_nodes.hpp>

#include "graph_support.hpp"

namespace tessera::test {

/// Every usage that the device allows.
ImageUsage every_usage(const Device& device);

/// Writes `column + 100 * row + base` to each texel of an r32_float image.
TestOperation paint(const GraphImage& target, float base, std::string id = {});
/// Stores `(source + summand, column, row, 1)` for each texel; r32_float to rgba32_float.
TestOperation spread(const GraphImage& source, const GraphImage& target, float summand, std::string id = {});

/// An application's own graphics pipeline: a triangle whose corners come from memory, each pixel
/// `(texel * tint[0], column, row, tint[1])` of a sampled r32_float image.
class TrianglePipeline {
 public:
  explicit TrianglePipeline(const Device& device);
  TrianglePipeline(const TrianglePipeline&) = delete;
  TrianglePipeline& operator=(const TrianglePipeline&) = delete;
  ~TrianglePipeline();

  struct Handles;
  const Handles& handles() const noexcept { return *handles_; }

 private:
  std::unique_ptr<Handles> handles_;
};

/// What a triangle is drawn from and into.
struct TriangleScene {
  GraphImage source;  ///< r32_float
  DataView corners;   ///< six floats
  DataView tint;      ///< two floats
  GraphImage target;  ///< rgba32_float
  LoadOperation load = LoadOperation::clear;
  std::string id{};
};
RenderNode draw_triangle(std::shared_ptr<const TrianglePipeline> pipeline, const TriangleScene& scene);

/// Corners that cover every pixel.
inline const std::vector<float> all_pixels{-1, -1, 3, -1, -1, 3};

class ImageFixture : public GraphFixture {
 protected:
  static constexpr std::uint32_t width = 24;
  static constexpr std::uint32_t height = 16;

  void SetUp() override {
    GraphFixture::SetUp();
    if (device().limits().color_attachments == 0) GTEST_SKIP() << "the device's queue can't render";
  }
  static ImageDescription described(ImageFormat format) {
    return {.format = format, .width = width, .height = height, .usage = every_usage(device())};
  }
  static Image make(ImageFormat format, std::string_view name = {}) {
    return device().create_image(described(format), name);
  }
  template <class T>
  static std::vector<T> texels(const Image& image) {
    std::vector<T> values(image.bytes() / sizeof(T));
    image.device().read(image, std::as_writable_bytes(std::span(values)));
    return values;
  }
  template <class T>
  static void fill(const Image& image, T value) {
    const std::vector<T> values(image.bytes() / sizeof(T), value);
    image.device().write(image, std::as_bytes(std::span(values)));
  }
  using Texel = std::array<float, 4>;
  /// The picture that a function of column and row describes.
  template <class Function>
  static auto picture(const Function& function) {
    std::vector<decltype(function(0U, 0U))> values;
    for (std::uint32_t row = 0; row < height; ++row) {
      for (std::uint32_t column = 0; column < width; ++column) values.push_back(function(column, row));
    }
    return values;
  }
  /// What `paint` writes.
  static float painted(std::uint32_t column, std::uint32_t row, float base) {
    return static_cast<float>(column) + 100 * static_cast<float>(row) + base;
  }
  static std::shared_ptr<const TrianglePipeline> triangle_pipeline() {
    return std::make_shared<const TrianglePipeline>(device());
  }
};

}  // namespace tessera::test
