#include <algorithm>
#include <any>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <vulkan/vulkan.h>

#include <tessera/interop/vulkan.hpp>

#include "image_support.hpp"

namespace tessera::test {
namespace {

using Color = std::array<float, 4>;

class GraphImages : public ImageFixture {
 protected:
  /// Paints a value image, draws it into a picture through a triangle.
  struct RenderScene {
    Graph graph;
    ImportedImage value;
    ImportedImage target;
  };
  static RenderScene render_scene(const Image& value, const Image& target, const std::vector<float>& corners,
                                  float base) {
    Graph graph(device());
    const ImportedImage value_import = graph.import(value, "value");
    const ImportedImage target_import = graph.import(target, "target");
    const DataView corner_view = graph.import(upload(corners), "corners").view<float>(6);
    const DataView tint = graph.import(upload(std::vector<float>{2, 5}), "tint").view<float>(2);
    graph.add(paint(value_import, base, "paint"));
    graph.add(draw_triangle(
        triangle_pipeline(),
        {.source = value_import, .corners = corner_view, .tint = tint, .target = target_import, .id = "draw"}));
    return {.graph = std::move(graph), .value = value_import, .target = target_import};
  }
  static Color tinted(std::uint32_t column, std::uint32_t row, float base) {
    return {2 * painted(column, row, base), static_cast<float>(column), static_cast<float>(row), 5};
  }
};

TEST_F(GraphImages, ARenderNodeReadsWhatAKernelWrote) {
  const Image value = make(ImageFormat::r32_float);
  const Image target = make(ImageFormat::rgba32_float);
  CompiledGraph compiled = render_scene(value, target, all_pixels, 3).graph.compile();
  for (int repetition = 0; repetition < 2; ++repetition) {
    fill(target, 77.0F);
    const Encoding encoding = execute(compiled);
    EXPECT_EQ(encoding.executed_nodes(), 2U);
    EXPECT_EQ(texels<float>(value), picture([](auto column, auto row) { return painted(column, row, 3); }));
    EXPECT_EQ(texels<Color>(target), picture([](auto column, auto row) { return tinted(column, row, 3); }));
  }
}

TEST_F(GraphImages, ATriangleCoversItsPixelsAndTheRestIsCleared) {
  const Image target = make(ImageFormat::rgba32_float);
  // The corner of the picture in which column + row <= 9, its edge halfway between pixel centers.
  const float right = -1 + 2 * 10.5F / width;
  const float bottom = -1 + 2 * 10.5F / height;
  CompiledGraph compiled =
      render_scene(make(ImageFormat::r32_float), target, {-1, -1, right, -1, -1, bottom}, 0).graph.compile();
  execute(compiled);
  EXPECT_EQ(texels<Color>(target), picture([](auto column, auto row) {
              return column + row <= 9 ? tinted(column, row, 0) : Color{-1, -2, -3, -4};
            }));
}

TEST_F(GraphImages, KernelsSampleAndStore) {
  const Image target = make(ImageFormat::rgba32_float);
  Graph graph(device());
  const GraphImage value = graph.transient_image(described(ImageFormat::r32_float), "value");
  const ImportedImage result = graph.import(target);
  graph.add(paint(value, 1));
  graph.add(spread(value, result, 0.5F));
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(texels<Color>(target), picture([](auto column, auto row) {
              return Color{painted(column, row, 1.5F), static_cast<float>(column), static_cast<float>(row), 1};
            }));
}

TEST_F(GraphImages, TransfersMoveRegions) {
  constexpr std::uint64_t pitch = 64;  // 16 texels a row, of which 5 are used
  std::vector<std::uint32_t> words_in(16 * 3 + 4);
  for (std::uint32_t index = 0; index < words_in.size(); ++index) words_in[index] = 1000 + index;
  const Buffer source = words(words_in);
  const Buffer result = words(std::vector<std::uint32_t>(60, 7));
  const Image first = make(ImageFormat::r32_uint);
  const Image second = make(ImageFormat::r32_uint);
  Graph graph(device());
  const ImportedImage one = graph.import(first);
  const ImportedImage two = graph.import(second);
  const std::array<std::uint32_t, 4> nine{9, 0, 0, 0};
  graph.add(ClearImageNode{.target = one, .value = ImageValue(nine)});
  graph.add(ClearImageNode{.target = two});
  graph.add(CopyToImageNode{.source = graph.import(source),
                            .source_offset = 16,
                            .bytes_per_row = pitch,
                            .target = one,
                            .region = ImageRegion{.x = 2, .y = 1, .width = 5, .height = 3}});
  graph.add(CopyImageNode{.source = one,
                          .region = ImageRegion{.x = 1, .y = 1, .width = 4, .height = 2},
                          .target = two,
                          .target_x = 20,
                          .target_y = 14});
  graph.add(CopyFromImageNode{.source = two,
                              .region = ImageRegion{.x = 19, .y = 13, .width = 5, .height = 3},
                              .target = graph.import(result),
                              .target_offset = 8,
                              .bytes_per_row = 40});
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  const auto in_first = [&](std::uint32_t column, std::uint32_t row) {
    const bool inside = column >= 2 && column < 7 && row >= 1 && row < 4;
    return inside ? words_in[4 + (row - 1) * 16 + column - 2] : 9U;
  };
  const auto in_second = [&](std::uint32_t column, std::uint32_t row) {
    return column >= 20 && row >= 14 ? in_first(column - 19, row - 13) : 0U;
  };
  EXPECT_EQ(texels<std::uint32_t>(first), picture(in_first));
  EXPECT_EQ(texels<std::uint32_t>(second), picture(in_second));
  std::vector<std::uint32_t> expected(60, 7);
  for (std::uint32_t row = 0; row < 3; ++row) {
    for (std::uint32_t column = 0; column < 5; ++column) {
      expected[2 + row * 10 + column] = in_second(19 + column, 13 + row);
    }
  }
  EXPECT_EQ(read(result), expected);
}

TEST_F(GraphImages, AttachmentsAreClearedLoadedAndKept) {
  const Image colors = make(ImageFormat::rgba32_float);
  const Image labels = make(ImageFormat::r32_sint);
  Graph graph(device());
  const auto nothing = [](RenderPass&, const NodeContext&) {};
  const ImportedImage color_target = graph.import(colors);
  const ImportedImage label_target = graph.import(labels);
  const std::array<std::int32_t, 4> minus_six{-6, 0, 0, 0};
  graph.add(
      RenderNode{.attachments = {{.image = color_target, .load = LoadOperation::clear},
                                 {.image = label_target, .load = LoadOperation::clear, .clear = ImageValue(minus_six)}},
                 .record = nothing});
  graph.add(RenderNode{.attachments = {{.image = label_target}}, .record = nothing});
  CompiledGraph compiled = graph.compile();
  fill(colors, 3.0F);
  execute(compiled);
  EXPECT_EQ(texels<float>(colors), std::vector<float>(width * height * 4, 0.0F));
  EXPECT_EQ(texels<std::int32_t>(labels), std::vector<std::int32_t>(width * height, -6));
}

TEST_F(GraphImages, ImportsAreRebound) {
  const Image value = make(ImageFormat::r32_float);
  const Image target = make(ImageFormat::rgba32_float);
  RenderScene scene = render_scene(value, target, all_pixels, 4);
  const Buffer buffer = words(std::vector<std::uint32_t>(width * height));
  const ImportedBuffer copy = scene.graph.import(buffer);
  scene.graph.add(CopyFromImageNode{.source = scene.value, .target = copy});
  CompiledGraph compiled = scene.graph.compile();
  const Image other_value = make(ImageFormat::r32_float);
  const Image other_target = make(ImageFormat::rgba32_float);
  const Buffer other_buffer = words(std::vector<std::uint32_t>(width * height + 8));
  const auto tinted_picture = picture([](auto column, auto row) { return tinted(column, row, 4); });
  const auto painted_picture = picture([](auto column, auto row) { return painted(column, row, 4); });
  const std::vector<float> zeros(width * height, 0.0F);
  for (const bool rebound : {true, false, true}) {
    for (const Image& each : {value, other_value}) fill(each, 0.0F);
    for (const Image& each : {target, other_target}) fill(each, 0.0F);
    if (rebound) {
      execute(compiled, {rebind(scene.value, other_value), rebind(scene.target, other_target)});
    } else {
      execute(compiled, {rebind(copy, other_buffer)});
    }
    EXPECT_EQ(texels<float>(rebound ? other_value : value), painted_picture);
    EXPECT_EQ(texels<float>(rebound ? value : other_value), zeros);
    EXPECT_EQ(texels<Color>(rebound ? other_target : target), tinted_picture);
    EXPECT_EQ(download<float>(rebound ? buffer : other_buffer, 0, width * height), painted_picture);
  }
}

TEST_F(GraphImages, DeclaredImagesAreBoundAtEveryEncoding) {
  Graph graph(device());
  const ImportedImage declared = graph.declare_image("later", described(ImageFormat::r32_float));
  const ImportedImage unused = graph.declare_image("unused", described(ImageFormat::r32_float));
  graph.add(paint(declared, 2));
  graph.add(CopyImageNode{.source = declared, .target = graph.transient_image(described(ImageFormat::r32_float))});
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::unbound_import, [&] { compiled.encode(encoder); });
  for (int repetition = 0; repetition < 2; ++repetition) {
    const Image image = make(ImageFormat::r32_float);
    execute(compiled, {rebind(declared, image), rebind(unused, image)});
    EXPECT_EQ(texels<float>(image), picture([](auto column, auto row) { return painted(column, row, 2); }));
  }
}

TEST_F(GraphImages, ReplacementsAreChecked) {
  const Image value = make(ImageFormat::r32_float);
  const Image target = make(ImageFormat::rgba32_float);
  RenderScene scene = render_scene(value, target, all_pixels, 0);
  const ImportedBuffer buffer = scene.graph.import(words({1, 2}));
  scene.graph.add(add_word(word(buffer), 1));
  CompiledGraph compiled = scene.graph.compile();
  const auto rejected = [&](ErrorCode code, std::vector<Rebinding> rebindings) {
    Encoder encoder = device().encoder();
    expect_error(code, [&] { compiled.encode(encoder, rebindings); });
  };
  ImageDescription wrong = described(ImageFormat::r32_float);
  rejected(ErrorCode::format_mismatch, {rebind(scene.value, make(ImageFormat::r32_uint))});
  wrong.width += 1;
  rejected(ErrorCode::extent_mismatch, {rebind(scene.value, device().create_image(wrong))});
  wrong = described(ImageFormat::r32_float);
  wrong.usage = ImageUsage::storage | ImageUsage::sampled;
  rejected(ErrorCode::usage_mismatch, {rebind(scene.value, device().create_image(wrong))});
  rejected(ErrorCode::duplicate_id, {rebind(scene.value, value), rebind(scene.value, value)});
  rejected(ErrorCode::format_mismatch, {Rebinding{.import_index = buffer.import_index(), .image = value}});
  rejected(ErrorCode::format_mismatch, {Rebinding{.import_index = scene.value.import_index(), .buffer = words({1})}});
  Graph other(device());
  rejected(ErrorCode::foreign_graph, {rebind(other.import(value), value)});
  const Device own = open_device();
  rejected(ErrorCode::foreign_device,
           {rebind(scene.value, Device(own).create_image(described(ImageFormat::r32_float)))});
}

TEST_F(GraphImages, OneImageIsNoTwoImports) {
  const Image first = make(ImageFormat::r32_float);
  const Image second = make(ImageFormat::r32_float);
  Graph graph(device());
  const ImportedImage one = graph.import(first);
  const ImportedImage two = graph.import(second);
  EXPECT_EQ(graph.import(first).import_index(), one.import_index());
  graph.add(CopyImageNode{.source = one, .target = graph.transient_image(described(ImageFormat::r32_float))});
  graph.add(CopyImageNode{.source = two, .target = graph.transient_image(described(ImageFormat::r32_float))});
  CompiledGraph compiled = graph.compile();
  Encoder encoder = device().encoder();
  expect_error(ErrorCode::alias, [&] { compiled.encode(encoder, {rebind(two, first)}); });
  execute(compiled, {rebind(one, second), rebind(two, first)});  // exchanged
}

TEST_F(GraphImages, TransientsOfOneShapeShareMemory) {
  const Image target = make(ImageFormat::rgba32_float);
  Graph graph(device());
  ImageDescription plain = described(ImageFormat::r32_float);
  const ImportedImage result = graph.import(target);
  std::vector<GraphImage> values;
  for (int index = 0; index < 4; ++index) {
    plain.usage = ImageUsage::storage | (index % 2 == 0 ? ImageUsage::sampled : ImageUsage::copy_source);
    if (index == 2) plain.usage = plain.usage | ImageUsage::copy_target;
    values.push_back(graph.transient_image(plain, "value " + std::to_string(index)));
  }
  graph.transient_image(plain, "unused");
  // 0, then 1 while 2 begins, then 2 alone, then 3 when the result is done.
  graph.add(paint(values[0], 1));
  graph.add(spread(values[0], result, 0));
  graph.add(CustomNode{.id = "wait", .depends_on = {"spread/texels"}, .record = [](Encoder&, const NodeContext&) {}});
  CustomNode again{.id = "again", .depends_on = {"wait"}, .record = [](Encoder&, const NodeContext&) {}};
  again.image_uses = {{.image = values[1], .access = ImageAccess::storage_write}};
  graph.add(again);
  graph.add(CopyImageNode{.source = values[1], .target = values[2]});
  graph.add(spread(values[2], result, 10));
  CustomNode last{.id = "last", .depends_on = {"spread-2/texels"}, .record = [](Encoder&, const NodeContext&) {}};
  last.image_uses = {{.image = values[3], .access = ImageAccess::storage_write}};
  graph.add(last);
  CompiledGraph compiled = graph.compile();
  const GraphStatistics& statistics = compiled.statistics();
  const std::uint64_t bytes = std::uint64_t{width} * height * 4;
  EXPECT_EQ(statistics.logical_transient_image_count, 4U);
  EXPECT_EQ(statistics.logical_transient_image_bytes, 4 * bytes);
  EXPECT_EQ(statistics.physical_transient_image_count, 2U);
  EXPECT_EQ(statistics.physical_transient_image_bytes, 2 * bytes);
  EXPECT_EQ(statistics.imported_image_bytes, 4 * bytes);
  execute(compiled);
  execute(compiled);
}

TEST_F(GraphImages, CustomNodesFindImagesInTheLayoutTheyAreTold) {
  const Image target = make(ImageFormat::r32_float);
  Graph graph(device());
  const ImportedImage image = graph.import(target);
  graph.add(paint(image, 0));
  CustomNode clear{.id = "clear", .record = [image](Encoder& encoder, const NodeContext& context) {
                     const VkImageSubresourceRange all{VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
                     VkClearColorValue value{};
                     value.float32[0] = 4.5F;
                     EXPECT_EQ(context.layout(image), ImageLayout::copy_target);
                     vkCmdClearColorImage(interop::command_buffer(encoder),
                                          interop::handles(context.image(image)).image,
                                          interop::vulkan_layout(context.layout(image)), &value, 1, &all);
                   }};
  clear.image_uses = {{.image = image, .access = ImageAccess::copy_target}};
  graph.add(clear);
  const ImportedImage other = graph.import(make(ImageFormat::r32_float));
  CustomNode mixed{.id = "mixed", .record = [image, other](Encoder&, const NodeContext& context) {
                     EXPECT_EQ(context.layout(image), ImageLayout::general);
                     expect_error(ErrorCode::unknown_id, [&] { context.image(other); });
                   }};
  mixed.image_uses = {{.image = image, .access = ImageAccess::sampled},
                      {.image = image, .access = ImageAccess::copy_source}};
  graph.add(mixed);
  CompiledGraph compiled = graph.compile();
  execute(compiled);
  EXPECT_EQ(texels<float>(target), std::vector<float>(width * height, 4.5F));
}

TEST_F(GraphImages, HostConditionsAndLoopsHoldImageNodes) {
  const Image value = make(ImageFormat::r32_float);
  const Image target = make(ImageFormat::rgba32_float);
  Graph graph(device());
  const ImportedImage values = graph.import(value);
  const TriangleScene scene{.source = values,
                            .corners = graph.import(upload(all_pixels)).view<float>(6),
                            .tint = graph.import(upload(std::vector<float>{2, 5})).view<float>(2),
                            .target = graph.import(target)};
  const auto asked = [](const std::any& parameters) { return std::any_cast<bool>(parameters); };
  graph.add(HostConditional{.evaluate = asked, .body = {paint(values, 6)}});
  graph.add(Loop{
      .maximum_iterations = 2,
      .body = {draw_triangle(triangle_pipeline(), scene),
               CopyImageNode{.source = values, .target = graph.transient_image(described(ImageFormat::r32_float))}}});
  graph.add(HostConditional{.evaluate = asked, .body = {ClearImageNode{.target = values}}});
  CompiledGraph compiled = graph.compile();
  fill(value, 1.0F);
  for (const bool runs : {false, true, false}) {
    const float before = texels<float>(value).front();
    const Encoding encoding = execute(compiled, {}, {.parameters = runs});
    EXPECT_EQ(encoding.skipped_nodes(), runs ? 0U : 2U);
    EXPECT_EQ(texels<Color>(target), picture([&](auto column, auto row) {
                if (runs) return tinted(column, row, 6);
                return Color{2 * before, static_cast<float>(column), static_cast<float>(row), 5};
              }));
    EXPECT_EQ(texels<float>(value), std::vector<float>(width * height, runs ? 0.0F : before));
  }
}

TEST_F(GraphImages, ConditionsOnTheDeviceRejectThem) {
  Graph graph(device());
  const ImportedImage value = graph.import(make(ImageFormat::r32_float));
  const ImportedImage target = graph.import(make(ImageFormat::rgba32_float));
  const DataView word_view = word(graph.import(words({1})));
  const auto nothing = [](RenderPass&, const NodeContext&) {};
  CustomNode custom{.record = [](Encoder&, const NodeContext&) {}};
  custom.image_uses = {{.image = value}};
  for (const Operation& operation : OperationList{paint(value, 1), ClearImageNode{.target = value}, custom,
                                                  RenderNode{.attachments = {{.image = target}}, .record = nothing}}) {
    expect_error(ErrorCode::unsupported_operation,
                 [&] { graph.add(Conditional{.predicate = word_view, .body = {operation}}); });
    expect_error(ErrorCode::unsupported_operation,
                 [&] { graph.add(Loop{.maximum_iterations = 2, .predicate = word_view, .body = {operation}}); });
  }
  EXPECT_EQ(graph.compile().statistics().node_count, 0U);
}

TEST_F(GraphImages, RestBetweenSteps) {
  const Image value = make(ImageFormat::r32_float);
  const Image target = make(ImageFormat::rgba32_float);
  RenderScene scene = render_scene(value, target, all_pixels, 8);
  scene.graph.add(
      CopyImageNode{.source = scene.value, .target = scene.graph.transient_image(described(ImageFormat::r32_float))});
  scene.graph.add(ClearImageNode{.target = scene.value});
  CompiledGraph compiled = scene.graph.compile();
  Execution execution = compiled.execute_in_steps({.invocations = 1000000, .nodes = 1});
  ASSERT_EQ(execution.steps().size(), 4U);
  EXPECT_EQ(execution.steps().back().write_bytes, value.bytes());
  const auto painted_picture = picture([](auto column, auto row) { return painted(column, row, 8); });
  while (!execution.done()) {
    Encoder encoder = device().encoder();
    execution.encode_next(encoder);
    device().submit(std::move(encoder)).wait();
    if (execution.done()) break;
    EXPECT_EQ(texels<float>(value), painted_picture);
  }
  EXPECT_EQ(texels<float>(value), std::vector<float>(width * height, 0.0F));
  EXPECT_EQ(texels<Color>(target), picture([](auto column, auto row) { return tinted(column, row, 8); }));
}

TEST_F(GraphImages, ClonesHaveTransientsOfTheirOwn) {
  const Image first = make(ImageFormat::rgba32_float);
  const Image second = make(ImageFormat::rgba32_float);
  Graph graph(device());
  const ImportedImage source = graph.import(make(ImageFormat::r32_float));
  const ImportedImage result = graph.import(first);
  const GraphImage value = graph.transient_image(described(ImageFormat::r32_float));
  graph.add(paint(source, 5));
  graph.add(CopyImageNode{.source = source, .target = value});
  graph.add(spread(value, result, 1));
  CompiledGraph compiled = graph.compile();
  const std::uint64_t images = device().memory().image_count;
  CompiledGraph clone = compiled.clone();
  EXPECT_EQ(device().memory().image_count, images + 1);
  Encoder one = device().encoder();
  Encoder two = device().encoder();
  compiled.encode(one);
  clone.encode(two, {rebind(result, second), rebind(source, make(ImageFormat::r32_float))});
  device().submit(std::move(two));
  device().submit(std::move(one));
  const auto expected = picture([](auto column, auto row) {
    return Color{painted(column, row, 6), static_cast<float>(column), static_cast<float>(row), 1};
  });
  EXPECT_EQ(texels<Color>(first), expected);
  EXPECT_EQ(texels<Color>(second), expected);
}

TEST_F(GraphImages, AreTimedAndInspected) {
  RenderScene scene = render_scene(make(ImageFormat::r32_float), make(ImageFormat::rgba32_float), all_pixels, 0);
  const GraphImage scratch = scene.graph.transient_image(described(ImageFormat::r32_float), "scratch");
  scene.graph.add(CopyImageNode{.id = "keep", .source = scene.value, .target = scratch});
  CompiledGraph compiled = scene.graph.compile();
  const auto json = nlohmann::json::parse(compiled.inspect_json());
  EXPECT_EQ(json["schema"], 1);
  const auto named = [&](const char* list, const std::string& id) {
    return *std::find_if(json[list].begin(), json[list].end(), [&](const auto& entry) { return entry["id"] == id; });
  };
  EXPECT_EQ(named("resources", "value")["kind"], "imported_image");
  EXPECT_EQ(named("resources", "value")["format"], "r32_float");
  EXPECT_EQ(named("resources", "value")["width"], width);
  EXPECT_EQ(named("resources", "value")["height"], height);
  EXPECT_EQ(named("resources", "value")["bytes"], width * height * 4);
  EXPECT_EQ(named("resources", "scratch")["kind"], "transient_image");
  EXPECT_EQ(named("resources", "scratch")["physical_image"], 0);
  EXPECT_EQ(named("nodes", "paint/texels")["kind"], "dispatch");
  EXPECT_EQ(named("nodes", "draw")["kind"], "render");
  EXPECT_EQ(named("nodes", "keep")["kind"], "image_transfer");
  const nlohmann::json use = named("nodes", "draw")["uses"].back();
  EXPECT_EQ(use["resource"], "target");
  EXPECT_EQ(use["unit"], "image");
  EXPECT_EQ(use["stage"], "color");
  EXPECT_EQ(use["layout"], "attachment");
  EXPECT_EQ(json["statistics"]["logical_transient_image_count"], 1);
  std::vector<std::string> changes;
  for (const auto& barrier : json["barriers"]) {
    for (const auto& image : barrier["images"]) {
      changes.push_back(image["image"].get<std::string>() + ": " + image["before"].get<std::string>() + " to " +
                        image["after"].get<std::string>());
    }
  }
  EXPECT_THAT(changes,
              testing::UnorderedElementsAre("value: general to shader_read", "target: general to attachment",
                                            "value: shader_read to copy_source", "scratch: undefined to copy_target",
                                            "value: copy_source to general", "target: attachment to general"));
  EXPECT_NE(compiled.inspect_dot().find("value: general to shader_read"), std::string::npos);
  if (device().limits().timestamp_nanoseconds > 0) {
    const Encoding encoding = execute(compiled, {}, {.timing = Timing::per_node});
    EXPECT_EQ(encoding.node_nanoseconds().size(), 3U);
    EXPECT_NE(compiled.chrome_trace(encoding).find("draw"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::test
