#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tessera/error.hpp>

#include "graph/schedule.hpp"
#include "support/barrier_oracle.hpp"
#include "support/image_oracle.hpp"
#include "support/random_data.hpp"
#include "support/random_graphs.hpp"

// Images in the oracle, and random graphs with images and render nodes.
namespace tessera::test {
namespace {

using detail::Access;
using detail::bit_of;
using detail::full_barrier;
using detail::ImageBarrier;
using detail::make_schedule;
using detail::RecordedCommand;
using detail::ResourceUse;
using detail::Schedule;
using detail::ScheduleBarrier;
using detail::ScheduleNode;
using detail::ScheduleResource;
using detail::Stage;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint32_t compute = bit_of(Stage::compute);
constexpr std::uint32_t transfer = bit_of(Stage::transfer);
constexpr std::uint32_t fragment = bit_of(Stage::fragment);
constexpr std::uint32_t color = bit_of(Stage::color);

ResourceUse image_use(std::uint32_t resource, Access access, ImageLayout layout, Stage stage) {
  return {resource, 0, 1, access, stage, layout};
}

// A kernel writes an image that a render node samples.
struct SampledScene {
  std::vector<ScheduleNode> nodes{
      {"write", {image_use(0, Access::write, ImageLayout::general, Stage::compute)}, {}},
      {"sample", {image_use(0, Access::read, ImageLayout::shader_read, Stage::fragment)}, {}}};
  std::vector<ScheduleResource> resources{{"image", false, 64, 1}};
  std::vector<std::optional<std::uint64_t>> placement{std::nullopt};
  ImageBarrier change{0, ImageLayout::general, ImageLayout::shader_read,
                      ScheduleBarrier{compute, compute, fragment, fragment, 0}};
  ImageBarrier back{0, ImageLayout::shader_read, ImageLayout::general, ScheduleBarrier{fragment, 0, fragment, 0, 0}};

  std::vector<Violation> check() const {
    const std::vector<RecordedCommand> commands{{RecordedCommand::Kind::node, 0, {}},
                                                {RecordedCommand::Kind::barrier, 0, {}, {change}},
                                                {RecordedCommand::Kind::node, 1, {}},
                                                {RecordedCommand::Kind::barrier, 0, {}, {back}}};
    return check_recording({nodes, resources, placement}, commands);
  }
};

TEST(ImageOracle, DemandsStagesAccessesAndLayouts) {
  EXPECT_THAT(SampledScene().check(), IsEmpty());
  const auto rejects = [](const auto& spoil) {
    SampledScene scene;
    spoil(scene);
    EXPECT_THAT(scene.check(), Not(IsEmpty()));
  };
  rejects([](SampledScene& scene) { scene.change.masks.source_stages = transfer; });
  rejects([](SampledScene& scene) { scene.change.masks.source_writes = 0; });
  rejects([](SampledScene& scene) { scene.change.masks.destination_stages = compute; });
  rejects([](SampledScene& scene) { scene.change.masks.destination_reads = 0; });
  rejects([](SampledScene& scene) { scene.change.before = ImageLayout::undefined; });
  rejects([](SampledScene& scene) { scene.change.before = ImageLayout::copy_source; });
  rejects([](SampledScene& scene) { scene.change.after = ImageLayout::general; });
  rejects([](SampledScene& scene) { scene.back.masks.source_stages = compute; });
  rejects([](SampledScene& scene) { scene.back.after = ImageLayout::copy_target; });
}

TEST(ImageOracle, ABarrierOfAnotherImageOrdersButMakesNothingVisible) {
  SampledScene scene;
  scene.nodes[1].uses = {image_use(0, Access::read, ImageLayout::general, Stage::compute)};
  scene.resources.push_back({"other", false, 64, 1});
  scene.placement.emplace_back();
  scene.change = {1, ImageLayout::general, ImageLayout::copy_source,
                  ScheduleBarrier{compute, compute, compute, compute, compute}};
  scene.back = {1, ImageLayout::copy_source, ImageLayout::general, ScheduleBarrier{compute, 0, compute, 0, 0}};
  EXPECT_THAT(scene.check(), Not(IsEmpty()));
  scene.nodes[0].uses[0].access = Access::read;
  scene.nodes[1].uses[0].access = Access::write;
  EXPECT_THAT(scene.check(), IsEmpty());  // a write after a read needs execution only
}

TEST(ImageSchedules, ReadersInOneLayoutShareABarrierAndOtherLayoutsWait) {
  const std::vector<ScheduleResource> resources{{"image", false, 64, 1}, {"order", false, 8}};
  const auto reader = [](const char* id, ImageLayout layout, Stage stage) {
    return ScheduleNode{id, {image_use(0, Access::read, layout, stage)}, {}};
  };
  std::vector<ScheduleNode> nodes{
      {"draw", {image_use(0, Access::read_write, ImageLayout::attachment, Stage::color)}, {}},
      reader("sample", ImageLayout::shader_read, Stage::fragment),
      reader("sample later", ImageLayout::shader_read, Stage::compute),
      reader("copy", ImageLayout::copy_source, Stage::transfer),
      reader("sample again", ImageLayout::shader_read, Stage::compute)};
  nodes[1].uses.push_back({1, 0, 8, Access::read, Stage::fragment});
  nodes[2].uses.push_back({1, 0, 8, Access::write, Stage::compute});
  const Schedule schedule = make_schedule(nodes, resources);
  EXPECT_EQ(schedule.order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(schedule.round, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  ASSERT_EQ(schedule.image_barriers.size(), 6U);  // in front of every round, and behind the last
  EXPECT_EQ(schedule.image_barriers[0], (std::vector<ImageBarrier>{{0, ImageLayout::general, ImageLayout::attachment,
                                                                    ScheduleBarrier{color, 0, color, color, color}}}));
  EXPECT_EQ(schedule.image_barriers[1],
            (std::vector<ImageBarrier>{{0, ImageLayout::attachment, ImageLayout::shader_read,
                                        ScheduleBarrier{color, color, fragment | compute, fragment | compute, 0}}}));
  EXPECT_THAT(schedule.image_barriers[2], IsEmpty());
  EXPECT_EQ(schedule.image_barriers[3],
            (std::vector<ImageBarrier>{{0, ImageLayout::shader_read, ImageLayout::copy_source,
                                        ScheduleBarrier{fragment | compute, 0, transfer, transfer, 0}}}));
  EXPECT_EQ(schedule.image_barriers[5], (std::vector<ImageBarrier>{{0, ImageLayout::shader_read, ImageLayout::general,
                                                                    ScheduleBarrier{compute, 0, compute, 0, 0}}}));
  EXPECT_THAT(check_schedule(nodes, resources, schedule), IsEmpty());
}

TEST(ImageSchedules, RejectsAnImageInTwoLayouts) {
  const std::vector<ScheduleResource> resources{{"image", false, 64, 1}};
  const auto code_of = [&](std::vector<ResourceUse> uses) {
    try {
      make_schedule({{"node", std::move(uses), {}}}, resources);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::internal;
  };
  EXPECT_EQ(code_of({image_use(0, Access::read, ImageLayout::general, Stage::compute),
                     image_use(0, Access::read, ImageLayout::shader_read, Stage::compute)}),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({image_use(0, Access::write, ImageLayout::general, Stage::fragment)}), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of({{0, 0, 1, Access::read, Stage::compute}}), ErrorCode::invalid_argument);
}

template <class Check>
void for_random_graphs(std::uint64_t first_seed, std::uint64_t count, const Check& check) {
  for (std::uint64_t seed = first_seed; seed < first_seed + count && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomGraph graph = random_graph(seed, {.images = 3});
    check(graph, make_schedule(graph.nodes, graph.resources), seed);
  }
}

// Encodings one after another, each behind an opening barrier.
std::vector<RecordedCommand> repeated(const std::vector<RecordedCommand>& once, int encodings) {
  std::vector<RecordedCommand> commands;
  for (int encoding = 0; encoding < encodings; ++encoding) {
    commands.push_back(recorded_barrier(full_barrier));
    commands.insert(commands.end(), once.begin(), once.end());
  }
  return commands;
}

TEST(RandomImageSchedules, AreRight) {
  std::size_t barriers = 0;
  std::size_t shared = 0;
  for_random_graphs(0, 3000, [&](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    EXPECT_THAT(check_schedule(graph.nodes, graph.resources, schedule), IsEmpty());
    for (const auto& list : schedule.image_barriers) barriers += list.size();
    const auto placed = std::count_if(graph.resources.begin(), graph.resources.end(), [&](const auto& resource) {
      const auto index = static_cast<std::size_t>(&resource - graph.resources.data());
      return resource.image_class != 0 && schedule.placement[index].has_value();
    });
    shared += static_cast<std::size_t>(placed) > schedule.physical_images.size() ? 1 : 0;
  });
  // The generator makes what there is to get wrong.
  EXPECT_GT(barriers, 20000U);
  EXPECT_GT(shared, 100U);
}

TEST(RandomImageSchedules, StayRightWhenNodesAreSkippedAndEncodingsFollow) {
  for_random_graphs(10000, 400, [](const RandomGraph& graph, const Schedule& schedule, std::uint64_t seed) {
    RandomBits bits(seed);
    std::vector<bool> skipped;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) skipped.push_back(bits.below(3) == 0);
    const DeclaredGraph declared{graph.nodes, graph.resources, schedule.placement};
    std::vector<RecordedCommand> commands = repeated(record(schedule), 1);
    for (const RecordedCommand& command : repeated(record(schedule, skipped), 2)) commands.push_back(command);
    EXPECT_THAT(check_recording(declared, commands), IsEmpty());
  });
}

// The barriers of one image alone must do for it, and every bit of theirs is needed.
std::vector<RecordedCommand> only_for(const std::vector<RecordedCommand>& commands, const RandomGraph& graph,
                                      const Schedule& schedule, std::uint32_t resource) {
  const auto same = [&](std::uint32_t other) {
    const bool placed = schedule.placement[resource].has_value() && graph.resources[other].image_class != 0;
    return other == resource || (placed && schedule.placement[other] == schedule.placement[resource]);
  };
  std::vector<RecordedCommand> kept = commands;
  for (RecordedCommand& command : kept) {
    if (command.barrier != full_barrier) command.barrier = {};
    std::erase_if(command.images, [&](const ImageBarrier& part) { return !same(part.resource); });
  }
  return kept;
}

std::vector<ScheduleBarrier> weakened(const ScheduleBarrier& masks) {
  std::vector<ScheduleBarrier> weaker;
  for (std::uint32_t stage = 0; stage < detail::stage_count; ++stage) {
    const std::uint32_t keep = ~(1U << stage);
    const auto add = [&](ScheduleBarrier changed) {
      if (changed != masks && changed.source_stages != 0 && changed.destination_stages != 0) weaker.push_back(changed);
    };
    ScheduleBarrier changed = masks;
    changed.source_stages &= keep;
    changed.source_writes &= keep;
    add(changed);
    changed = masks;
    changed.source_writes &= keep;
    add(changed);
    changed = masks;
    changed.destination_stages &= keep;
    changed.destination_reads &= keep;
    changed.destination_writes &= keep;
    add(changed);
    changed = masks;
    changed.destination_reads &= keep;
    add(changed);
    changed = masks;
    changed.destination_writes &= keep;
    add(changed);
  }
  return weaker;
}

/// Nodes with all uses but those of one physical image left out.
std::vector<ScheduleNode> only_uses_of(const RandomGraph& graph, const Schedule& schedule, std::uint32_t resource) {
  std::vector<ScheduleNode> nodes = graph.nodes;
  for (ScheduleNode& node : nodes) {
    std::erase_if(node.uses, [&](const ResourceUse& use) {
      const bool same_place =
          schedule.placement[resource] && schedule.placement[use.resource] == schedule.placement[resource];
      return !use.layout || (use.resource != resource && !same_place);
    });
    node.depends_on.clear();
  }
  return nodes;
}

TEST(RandomImageSchedules, NeedEveryBitOfEveryImageBarrier) {
  std::size_t mutations = 0;
  for_random_graphs(20000, 60, [&](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    for (std::size_t barrier = 0; barrier < schedule.image_barriers.size(); ++barrier) {
      for (std::size_t part = 0; part < schedule.image_barriers[barrier].size(); ++part) {
        const ImageBarrier& image = schedule.image_barriers[barrier][part];
        const std::vector<ScheduleNode> nodes = only_uses_of(graph, schedule, image.resource);
        const auto check = [&](const Schedule& recorded) {
          const auto commands = only_for(repeated(record(recorded), 2), graph, schedule, image.resource);
          std::vector<Violation> violations;
          check_images({nodes, graph.resources, schedule.placement}, commands, violations);
          return violations;
        };
        EXPECT_THAT(check(schedule), IsEmpty());
        for (const ScheduleBarrier& masks : weakened(image.masks)) {
          Schedule mutated = schedule;
          mutated.image_barriers[barrier][part].masks = masks;
          EXPECT_THAT(check(mutated), Not(IsEmpty())) << "barrier " << barrier << " of " << image.resource;
          ++mutations;
        }
        Schedule without = schedule;
        without.image_barriers[barrier].erase(without.image_barriers[barrier].begin() +
                                              static_cast<std::ptrdiff_t>(part));
        EXPECT_THAT(check(without), Not(IsEmpty()));
      }
    }
  });
  EXPECT_GT(mutations, 500U);
}

TEST(RandomImageSchedules, AreDeterministic) {
  for_random_graphs(30000, 100, [](const RandomGraph& graph, const Schedule& schedule, std::uint64_t) {
    const Schedule again = make_schedule(graph.nodes, graph.resources);
    EXPECT_EQ(schedule.order, again.order);
    EXPECT_EQ(schedule.commands, again.commands);
    EXPECT_EQ(schedule.image_barriers, again.image_barriers);
    EXPECT_EQ(schedule.placement, again.placement);
  });
}

}  // namespace
}  // namespace tessera::test
