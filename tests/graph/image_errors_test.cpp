#include <any>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "device/internal.hpp"
#include "graph/compiled_images.hpp"
#include "graph/encoding_state.hpp"
#include "image_support.hpp"
#include "support/barrier_oracle.hpp"

// What graphs reject of images, and what they record of those they take.
namespace tessera::test {
namespace {

class GraphImageErrors : public ImageFixture {
 protected:
  void SetUp() override {
    ImageFixture::SetUp();
    if (IsSkipped()) return;
    graph_.emplace(device());
  }
  Graph& graph() { return *graph_; }
  GraphImage image(ImageFormat format, ImageUsage usage, std::uint32_t columns = width) {
    return graph().transient_image({.format = format, .width = columns, .height = height, .usage = usage});
  }
  GraphImage value() { return image(ImageFormat::r32_float, every_usage(device())); }
  void rejected(ErrorCode code, const Operation& operation) {
    expect_error(code, [&] { graph().add(operation); });
  }
  static RenderNode render(std::vector<RenderAttachment> attachments) {
    return {.attachments = std::move(attachments), .record = [](RenderPass&, const NodeContext&) {}};
  }
  void TearDown() override {
    // Whatever was rejected left nothing behind.
    if (graph_) {
      EXPECT_EQ(graph_->compile().statistics().node_count, 0U);
      graph_.reset();
    }
    ImageFixture::TearDown();
  }

 private:
  std::optional<Graph> graph_;
};

TEST_F(GraphImageErrors, Declarations) {
  expect_error(ErrorCode::missing_operand, [&] { graph().import(Image()); });
  Device own = open_device();
  expect_error(ErrorCode::foreign_device, [&] { graph().import(own.create_image(described(ImageFormat::r32_float))); });
  expect_error(ErrorCode::invalid_argument, [&] { graph().transient_image({.width = 0, .height = 1}); });
  expect_error(ErrorCode::invalid_argument, [&] { graph().declare_image("none", {.width = 1, .height = 1}); });
  const std::uint32_t largest = device().limits().largest_image_extent;
  expect_error(ErrorCode::limit_exceeded, [&] {
    graph().declare_image("large", {.width = largest + 1, .height = 1, .usage = ImageUsage::storage});
  });
  const Image known = make(ImageFormat::r32_float);
  graph().import(known, "same");
  expect_error(ErrorCode::duplicate_id, [&] { graph().declare_image("same", described(ImageFormat::r32_float)); });
  expect_error(ErrorCode::duplicate_id, [&] { graph().transient_image(described(ImageFormat::r32_float), "same"); });
}

TEST_F(GraphImageErrors, UsagesAndOwners) {
  const GraphImage storage = image(ImageFormat::r32_float, ImageUsage::storage);
  const GraphImage colors = image(ImageFormat::rgba32_float, every_usage(device()));
  rejected(ErrorCode::usage_mismatch, spread(storage, colors, 0));
  rejected(ErrorCode::usage_mismatch, ClearImageNode{.target = storage});
  rejected(ErrorCode::usage_mismatch, CopyImageNode{.source = storage, .target = value()});
  rejected(ErrorCode::usage_mismatch, CopyImageNode{.source = value(), .target = storage});
  rejected(ErrorCode::usage_mismatch, render({{.image = storage}}));
  CustomNode custom{.record = [](Encoder&, const NodeContext&) {}};
  custom.image_uses = {{.image = storage, .access = ImageAccess::attachment}};
  rejected(ErrorCode::usage_mismatch, custom);
  Graph other(device());
  const GraphImage foreign = other.transient_image(described(ImageFormat::r32_float));
  rejected(ErrorCode::foreign_graph, paint(foreign, 0));
  rejected(ErrorCode::foreign_graph, ClearImageNode{.target = foreign});
  rejected(ErrorCode::foreign_graph, render({{.image = foreign}}));
  const GraphBuffer buffer = graph().transient(64);
  rejected(ErrorCode::unknown_id,
           ClearImageNode{.target = GraphImage(graph().identity(), buffer.resource(), storage.description())});
  rejected(ErrorCode::unknown_id, ClearImageNode{.target = GraphImage(graph().identity(), 99, {})});
}

TEST_F(GraphImageErrors, Transfers) {
  const GraphImage source = value();
  const GraphImage target = image(ImageFormat::r32_uint, every_usage(device()));
  const GraphBuffer buffer = graph().transient(std::uint64_t{width} * height * 4);
  rejected(ErrorCode::alias, CopyImageNode{.source = source, .target = source});
  rejected(ErrorCode::format_mismatch, CopyImageNode{.source = source, .target = target});
  const std::array<float, 4> ones{1, 1, 1, 1};
  rejected(ErrorCode::format_mismatch, ClearImageNode{.target = target, .value = ImageValue(ones)});
  const ImageRegion outside{.x = width, .y = 0, .width = 1, .height = 1};
  rejected(ErrorCode::range_out_of_bounds, CopyImageNode{.source = source, .region = outside, .target = value()});
  rejected(ErrorCode::range_out_of_bounds, CopyImageNode{.source = source, .target = value(), .target_x = 1});
  rejected(ErrorCode::range_out_of_bounds,
           CopyToImageNode{.source = buffer, .target = source, .region = ImageRegion{}});
  rejected(ErrorCode::range_out_of_bounds, CopyToImageNode{.source = buffer, .source_offset = 4, .target = source});
  rejected(ErrorCode::range_out_of_bounds,
           CopyFromImageNode{.source = source, .target = buffer, .bytes_per_row = 4 * width + 4});
  rejected(ErrorCode::layout_mismatch, CopyToImageNode{.source = buffer, .source_offset = 2, .target = source});
  rejected(ErrorCode::layout_mismatch,
           CopyFromImageNode{.source = source, .target = buffer, .bytes_per_row = 4 * width - 4});
  rejected(ErrorCode::layout_mismatch,
           CopyFromImageNode{.source = source, .target = buffer, .bytes_per_row = 4 * width + 2});
  Graph other(device());
  rejected(ErrorCode::foreign_graph, CopyToImageNode{.source = other.transient(4096), .target = source});
}

TEST_F(GraphImageErrors, RenderNodes) {
  const GraphImage target = value();
  const GraphImage narrow = image(ImageFormat::r32_float, every_usage(device()), width - 1);
  rejected(ErrorCode::missing_operand, render({}));
  rejected(ErrorCode::missing_operand, RenderNode{.attachments = {{.image = target}}});
  rejected(ErrorCode::extent_mismatch, render({{.image = target}, {.image = narrow}}));
  rejected(ErrorCode::alias, render({{.image = target}, {.image = target}}));
  const std::array<std::uint32_t, 4> ones{1, 1, 1, 1};
  rejected(ErrorCode::format_mismatch, render({{.image = target, .clear = ImageValue(ones)}}));
  std::vector<RenderAttachment> many;
  for (std::uint32_t index = 0; index <= device().limits().color_attachments; ++index) {
    many.push_back({.image = value()});
  }
  rejected(ErrorCode::limit_exceeded, render(many));
  RenderNode reading = render({{.image = target}});
  reading.images = {{.image = target}};
  rejected(ErrorCode::alias, reading);
  reading.images = {{.image = value(), .access = ImageAccess::storage_write}};
  rejected(ErrorCode::invalid_argument, reading);
  reading.images = {{.image = value(), .stage = RenderStage::indirect}};
  rejected(ErrorCode::invalid_argument, reading);
  reading.images = {};
  Graph other(device());
  reading.reads = {{.view = other.transient(64).view<float>(2)}};
  rejected(ErrorCode::foreign_graph, reading);
  RenderNode waiting = render({{.image = target}});
  waiting.depends_on = {"nobody"};
  Graph lonely(device());
  waiting.attachments[0].image = lonely.transient_image(described(ImageFormat::r32_float));
  lonely.add(waiting);
  expect_error(ErrorCode::unknown_id, [&] { lonely.compile(); });
}

TEST_F(GraphImageErrors, Kernels) {
  const GraphImage target = value();
  const auto kernel = [](std::vector<detail::ImageUse> uses) {
    return TestOperation{.name = "kernel", .lower = [uses](detail::NodeSink& sink) {
                           detail::Dispatch dispatch{.name = "pass", .module = "paint_image", .constants = {64}};
                           dispatch.image_uses = uses;
                           sink.dispatch(std::move(dispatch));
                         }};
  };
  using detail::ImageUse;
  rejected(ErrorCode::invalid_argument, kernel({{.image = target, .access = ImageAccess::attachment}}));
  rejected(ErrorCode::limit_exceeded, kernel({{.image = target, .access = ImageAccess::storage_write, .binding = 8}}));
  rejected(ErrorCode::limit_exceeded, kernel({{.image = target, .access = ImageAccess::sampled, .binding = 7}}));
  rejected(ErrorCode::limit_exceeded, kernel({{.image = target, .access = ImageAccess::sampled, .binding = 16}}));
  rejected(ErrorCode::duplicate_id, kernel({ImageUse{.image = target}, ImageUse{.image = value()}}));
  rejected(ErrorCode::alias, kernel({{.image = target, .access = ImageAccess::storage_write, .binding = 0},
                                     {.image = target, .access = ImageAccess::storage_read, .binding = 1}}));
  rejected(ErrorCode::alias, kernel({{.image = target, .access = ImageAccess::sampled, .binding = 8},
                                     {.image = target, .access = ImageAccess::storage_read_write, .binding = 1}}));
}

class GraphImageRecordings : public ImageFixture {};

TEST_F(GraphImageRecordings, SatisfyTheOracle) {
  Graph graph(device());
  const ImportedImage value = graph.import(make(ImageFormat::r32_float), "value");
  const ImportedImage target = graph.import(make(ImageFormat::rgba32_float), "target");
  const DataView corners = graph.transient_view(Format::float32, 6);
  const DataView tint = graph.transient_view(Format::float32, 2);
  graph.add(CopyNode{.source = graph.import(upload(all_pixels)), .target = corners.buffer, .bytes = 24});
  graph.add(CopyNode{.source = graph.import(upload(std::vector<float>{2, 5})), .target = tint.buffer, .bytes = 8});
  const auto asked = [](const std::any& parameters) { return std::any_cast<bool>(parameters); };
  graph.add(paint(value, 0));
  graph.add(HostConditional{
      .evaluate = asked,
      .body = {draw_triangle(triangle_pipeline(),
                             {.source = value, .corners = corners, .tint = tint, .target = target, .id = "draw"})}});
  for (int round = 0; round < 3; ++round) {
    const GraphImage scratch = graph.transient_image(described(ImageFormat::r32_float));
    graph.add(CopyImageNode{.source = value, .target = scratch});
    graph.add(spread(scratch, target, 1));
    graph.add(CopyFromImageNode{.source = target, .target = graph.transient(target.description().bytes())});
  }
  CompiledGraph compiled = graph.compile();
  const detail::Program& program = *compiled.state().program;
  const std::vector<detail::ScheduleResource> resources = detail::schedule_resources(program.parts);
  std::vector<detail::RecordedCommand> recorded;
  const auto note = [&](const Encoding& encoding) {
    for (const auto& command : detail::recorded_commands(encoding.state())) recorded.push_back(command);
  };
  for (const bool drawn : {true, false}) {
    note(execute(compiled, {}, {.parameters = drawn}));
    Execution execution = compiled.execute_in_steps({.invocations = 1000000, .nodes = drawn ? 1U : 3U});
    while (!execution.done()) {
      Encoder encoder = device().encoder();
      note(execution.encode_next(encoder, {}, {.parameters = drawn}));
      device().submit(std::move(encoder)).wait();
    }
  }
  const DeclaredGraph declared{program.schedule_nodes, resources, program.schedule.placement};
  for (const Violation& violation : check_recording(declared, recorded)) ADD_FAILURE() << violation;
  for (const Violation& violation : check_schedule(program.schedule_nodes, resources, program.schedule)) {
    ADD_FAILURE() << violation;
  }
  for (detail::RecordedCommand& command : recorded) command.images.clear();
  EXPECT_FALSE(check_recording(declared, recorded).empty());
}

TEST_F(GraphImageRecordings, FailuresOfTheDriverLeaveTheGraphAsItWas) {
  Device own = open_device();
  Graph graph(own);
  const ImportedImage image = graph.import(own.create_image(described(ImageFormat::r32_float)));
  const GraphImage scratch = graph.transient_image(described(ImageFormat::r32_float));
  graph.add(paint(scratch, 1));
  graph.add(CopyImageNode{.source = scratch, .target = image});
  bool failed = false;
  for (std::uint64_t call = 1; call < 40; ++call) {
    detail::fail_allocation_after(*own.state(), call);
    try {
      CompiledGraph compiled = graph.compile();
      detail::fail_allocation_after(*own.state(), 0);
      Encoder encoder = own.encoder();
      compiled.encode(encoder);
      own.submit(std::move(encoder)).wait();
      EXPECT_TRUE(failed);
      return;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      failed = true;
    }
  }
  ADD_FAILURE() << "compiling never succeeded";
}

}  // namespace
}  // namespace tessera::test
