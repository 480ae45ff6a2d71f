#include "graph/compiled_images.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "device/internal.hpp"
#include "graph/image_values.hpp"

namespace tessera::detail {
namespace {

bool is_transient(const GraphResource& resource) noexcept {
  return resource.kind == ResourceKind::transient || resource.kind == ResourceKind::transient_image;
}

ImageLayout layout_in(const GraphDispatch& dispatch, std::uint32_t resource) {
  const auto use = std::find_if(dispatch.uses.begin(), dispatch.uses.end(),
                                [&](const ResourceUse& each) { return each.resource == resource; });
  return use->layout.value_or(ImageLayout::general);
}

VkDescriptorSet make_set(const CompiledGraph::State& graph, std::span<const ImportBinding> imports,
                         const GraphDispatch& dispatch, ImageDescriptors& descriptors) {
  std::vector<ImageDescriptor> images;
  for (const ImageUse& use : dispatch.dispatch.image_uses) {
    const std::uint32_t resource = use.image.resource();
    images.push_back({.binding = use.binding,
                      .image = image_of(graph, imports, resource).state().get(),
                      .layout = vulkan_layout(layout_in(dispatch, resource))});
  }
  return descriptors.make(images);
}

bool all_bound(const Program& program, const GraphDispatch& dispatch, std::span<const ImportBinding> imports) {
  return std::all_of(dispatch.dispatch.image_uses.begin(), dispatch.dispatch.image_uses.end(),
                     [&](const ImageUse& use) {
                       const std::uint32_t import = program.parts.resources[use.image.resource()].import;
                       return import == no_index || imports[import].bound();
                     });
}

bool names_any(const Program& program, const GraphDispatch& dispatch, std::span<const std::uint32_t> imports) {
  return std::any_of(dispatch.dispatch.image_uses.begin(), dispatch.dispatch.image_uses.end(),
                     [&](const ImageUse& use) {
                       const std::uint32_t import = program.parts.resources[use.image.resource()].import;
                       return std::find(imports.begin(), imports.end(), import) != imports.end();
                     });
}

/// The layout of each imported image behind the commands before `command`, where it is not at rest.
std::map<std::uint32_t, ImageLayout> layouts_at(const Program& program, std::uint32_t command) {
  std::map<std::uint32_t, ImageLayout> layouts;
  const Schedule& schedule = program.schedule;
  if (schedule.image_barriers.empty() || command == 0 || command == schedule.commands.size()) return layouts;
  for (std::uint32_t place = 0; place < command; ++place) {
    if (schedule.commands[place].kind != ScheduleCommand::Kind::barrier) continue;
    for (const ImageBarrier& barrier : schedule.image_barriers[schedule.commands[place].index]) {
      if (program.parts.resources[barrier.resource].import == no_index) continue;
      layouts[barrier.resource] = barrier.after;
    }
  }
  std::erase_if(layouts, [](const auto& entry) { return entry.second == resting_image_layout; });
  return layouts;
}

}  // namespace

std::vector<ScheduleResource> schedule_resources(const GraphParts& parts) {
  std::vector<ScheduleResource> resources;
  resources.reserve(parts.resources.size());
  std::map<std::tuple<ImageFormat, std::uint32_t, std::uint32_t>, std::uint32_t> classes;
  for (const GraphResource& resource : parts.resources) {
    ScheduleResource entry{.id = resource.id, .transient = is_transient(resource), .bytes = resource.bytes};
    if (resource.is_image()) {
      const ImageDescription& image = parts.images[resource.image];
      const auto number = static_cast<std::uint32_t>(classes.size() + 1);
      entry.image_class = classes.try_emplace({image.format, image.width, image.height}, number).first->second;
      entry.bytes = image.bytes();
    }
    resources.push_back(std::move(entry));
  }
  return resources;
}

std::vector<ImageDescription> physical_images(const GraphParts& parts, const Schedule& schedule) {
  std::vector<ImageDescription> images;
  for (const std::uint32_t resource : schedule.physical_images) {
    images.push_back(parts.images[parts.resources[resource].image]);
  }
  for (std::uint32_t resource = 0; resource < parts.resources.size(); ++resource) {
    if (!parts.resources[resource].is_image() || !schedule.placement[resource]) continue;
    ImageDescription& image = images[*schedule.placement[resource]];
    image.usage = image.usage | parts.images[parts.resources[resource].image].usage;
  }
  return images;
}

void summarize_images(const GraphParts& parts, const Schedule& schedule, GraphStatistics& statistics) {
  for (const GraphImport& import : parts.imports) {
    if (import.image) statistics.imported_image_bytes += import.image.bytes();
  }
  for (std::uint32_t resource = 0; resource < parts.resources.size(); ++resource) {
    if (!parts.resources[resource].is_image() || !schedule.placement[resource]) continue;
    ++statistics.logical_transient_image_count;
    statistics.logical_transient_image_bytes += parts.images[parts.resources[resource].image].bytes();
  }
  for (const ImageDescription& image : physical_images(parts, schedule)) {
    ++statistics.physical_transient_image_count;
    statistics.physical_transient_image_bytes += image.bytes();
  }
}

void make_images(CompiledGraph::State& graph) {
  const Program& program = *graph.program;
  for (const ImageDescription& description : program.physical_images) {
    graph.images.push_back(
        graph.device().create_image(description, "graph image " + std::to_string(graph.images.size())));
  }
  if (program.image_dispatches.empty()) return;
  graph.descriptors = std::make_shared<ImageDescriptors>(program.device.state(),
                                                         static_cast<std::uint32_t>(program.image_dispatches.size()));
  graph.image_sets.resize(program.parts.dispatches.size());
  for (const std::uint32_t index : program.image_dispatches) {
    const GraphDispatch& dispatch = program.parts.dispatches[index];
    if (!all_bound(program, dispatch, program.defaults)) continue;
    graph.image_sets[index] = make_set(graph, program.defaults, dispatch, *graph.descriptors);
  }
}

const Image& image_of(const CompiledGraph::State& graph, std::span<const ImportBinding> imports,
                      std::uint32_t resource) {
  const std::uint32_t import = graph.program->parts.resources[resource].import;
  if (import != no_index) return *imports[import].image;
  return graph.images[graph.program->schedule.placement[resource].value()];
}

ReboundImages rebind_image_sets(const CompiledGraph::State& graph, const CheckedBindings& bindings) {
  const Program& program = *graph.program;
  std::vector<std::uint32_t> affected;
  for (const std::uint32_t index : program.image_dispatches) {
    if (names_any(program, program.parts.dispatches[index], bindings.changed)) affected.push_back(index);
  }
  if (affected.empty()) return {};
  ReboundImages rebound{.descriptors = std::make_shared<ImageDescriptors>(program.device.state(),
                                                                          static_cast<std::uint32_t>(affected.size())),
                        .sets = graph.image_sets};
  for (const std::uint32_t index : affected) {
    rebound.sets[index] = make_set(graph, bindings.imports, program.parts.dispatches[index], *rebound.descriptors);
  }
  return rebound;
}

std::vector<std::uint32_t> fixed_imports(const Program& program, const Segment& segment) {
  const GraphParts& parts = program.parts;
  std::vector<std::uint32_t> imports;
  if (parts.images.empty()) return imports;
  const auto add = [&](std::uint32_t resource) {
    if (resource != no_index && parts.resources[resource].import != no_index) {
      imports.push_back(parts.resources[resource].import);
    }
  };
  for (std::uint32_t place = segment.first_command; place < segment.last_command; ++place) {
    const ScheduleCommand& command = program.schedule.commands[place];
    if (command.kind == ScheduleCommand::Kind::barrier) {
      if (program.schedule.image_barriers.empty()) continue;
      for (const ImageBarrier& barrier : program.schedule.image_barriers[command.index]) add(barrier.resource);
      continue;
    }
    const GraphNode& node = parts.nodes[command.index];
    if (node.transfer != no_index) {
      add(parts.transfers[node.transfer].source);
      add(parts.transfers[node.transfer].target);
    } else {
      for (const ImageUse& use : parts.dispatches[node.dispatch].dispatch.image_uses) add(use.image.resource());
    }
  }
  std::sort(imports.begin(), imports.end());
  imports.erase(std::unique(imports.begin(), imports.end()), imports.end());
  return imports;
}

std::vector<ImageBarrier> images_resumed_at(const Program& program, std::uint32_t command) {
  std::vector<ImageBarrier> barriers;
  for (const auto& [resource, layout] : layouts_at(program, command)) {
    barriers.push_back({.resource = resource, .before = resting_image_layout, .after = layout, .masks = full_barrier});
  }
  return barriers;
}

std::vector<ImageBarrier> images_paused_at(const Program& program, std::uint32_t command) {
  std::vector<ImageBarrier> barriers = images_resumed_at(program, command);
  for (ImageBarrier& barrier : barriers) std::swap(barrier.before, barrier.after);
  return barriers;
}

}  // namespace tessera::detail
