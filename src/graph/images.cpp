#include <algorithm>
#include <array>

#include "device/internal.hpp"
#include "graph/graph_sink.hpp"
#include "graph/graph_state.hpp"
#include "graph/reject.hpp"

// Images of a graph under construction, and what nodes may do with them.
namespace tessera {
namespace detail {
namespace {

struct AccessTraits {
  ImageUsage usage;
  Access access;
  ImageLayout layout;
};

AccessTraits traits_of(ImageAccess access) noexcept {
  switch (access) {
    case ImageAccess::sampled:
      return {ImageUsage::sampled, Access::read, ImageLayout::shader_read};
    case ImageAccess::storage_read:
      return {ImageUsage::storage, Access::read, ImageLayout::general};
    case ImageAccess::storage_write:
      return {ImageUsage::storage, Access::write, ImageLayout::general};
    case ImageAccess::storage_read_write:
      return {ImageUsage::storage, Access::read_write, ImageLayout::general};
    case ImageAccess::attachment:
      return {ImageUsage::attachment, Access::read_write, ImageLayout::attachment};
    case ImageAccess::copy_source:
      return {ImageUsage::copy_source, Access::read, ImageLayout::copy_source};
    case ImageAccess::copy_target:
      return {ImageUsage::copy_target, Access::write, ImageLayout::copy_target};
  }
  return {ImageUsage::none, Access::read_write, ImageLayout::general};
}

bool writes(ImageAccess access) noexcept { return traits_of(access).access != Access::read; }

}  // namespace

ImageUsage usage_for(ImageAccess access) noexcept { return traits_of(access).usage; }

std::vector<ResourceUse> resolve_image_uses(std::span<const StagedImageUse> uses) {
  std::vector<ResourceUse> resolved;
  for (const StagedImageUse& use : uses) {
    const AccessTraits traits = traits_of(use.access);
    ImageLayout layout = traits.layout;
    for (const StagedImageUse& other : uses) {
      if (other.image.resource() != use.image.resource()) continue;
      if (traits_of(other.access).layout != traits.layout) layout = ImageLayout::general;
    }
    resolved.push_back({.resource = use.image.resource(),
                        .begin = 0,
                        .end = 1,
                        .access = traits.access,
                        .stage = use.stage,
                        .layout = layout});
  }
  return resolved;
}

const std::vector<ResourceUse>& GraphParts::uses_of(const GraphNode& node) const {
  if (node.dispatch != no_index) return dispatches[node.dispatch].uses;
  if (node.custom != no_index) return customs[node.custom].uses;
  if (node.render != no_index) return renders[node.render].uses;
  return transfers[node.transfer].uses;
}

Workload GraphParts::workload_of(const GraphNode& node) const {
  if (node.dispatch != no_index) return dispatches[node.dispatch].dispatch.workload;
  if (node.transfer != no_index) return transfers[node.transfer].workload;
  return {};
}

std::span<const std::string> GraphParts::named_dependencies(const GraphNode& node) const {
  if (node.custom != no_index) return customs[node.custom].node.depends_on;
  if (node.render != no_index) return renders[node.render].node.depends_on;
  return {};
}

void GraphSink::require_no_condition(std::string_view kind) const {
  if (body_ == nullptr) return;
  reject(ErrorCode::unsupported_operation, path_, kind, "a body under a condition on the device holds compute work");
}

void GraphSink::require_kernel_images(const Dispatch& dispatch) const {
  require_no_condition("image node");
  const DeviceLimits& limits = graph_.device.limits();
  for (const ImageUse& use : dispatch.image_uses) {
    const bool sampled = use.access == ImageAccess::sampled;
    const bool storage = usage_for(use.access) == ImageUsage::storage;
    if (!sampled && !storage) {
      reject(ErrorCode::invalid_argument, path_, dispatch.name, "kernels sample images, or load and store texels");
    }
    graph_.require_image(use.image, use.access, path_, dispatch.name);
    const std::uint32_t first = sampled ? first_sampled_binding : 0;
    const std::uint32_t count = sampled ? limits.sampled_images : limits.storage_images;
    if (use.binding < first || use.binding >= first + count) {
      reject(ErrorCode::limit_exceeded, path_, dispatch.name, "bindings are those of the layout of image kernels",
             values_of("binding", use.binding, "first", first, "bindings", count));
    }
    for (const ImageUse& other : dispatch.image_uses) {
      if (&other == &use) break;
      if (other.binding == use.binding) {
        reject(ErrorCode::duplicate_id, path_, dispatch.name, "every image has a binding of its own",
               values_of("binding", use.binding));
      }
      if (other.image.resource() == use.image.resource() && (writes(other.access) || writes(use.access))) {
        reject(ErrorCode::alias, path_, dispatch.name, "an image that a node writes is bound once",
               values_of("image", graph_.resources[use.image.resource()].id));
      }
    }
  }
}

}  // namespace detail

std::uint32_t Graph::State::add_image(detail::ResourceKind kind, const ImageDescription& description,
                                      std::string_view id, std::string_view prefix) {
  const std::uint32_t resource = add_resource({.id = claim_resource_id(id, prefix),
                                               .kind = kind,
                                               .bytes = 0,
                                               .import = detail::no_index,
                                               .image = static_cast<std::uint32_t>(images.size())});
  images.push_back(description);
  if (kind == detail::ResourceKind::imported_image) {
    resources[resource].import = static_cast<std::uint32_t>(imports.size());
    imports.push_back({.resource = resource, .shape = {}, .vector = {}, .buffer = {}});
  }
  return resource;
}

std::uint32_t Graph::State::import_image(const Image& image, std::string_view id) {
  require_mutable("import");
  if (!image) detail::reject(ErrorCode::missing_operand, "graph", "image", "an imported image has memory");
  if (image.state()->device != device.state()) {
    detail::reject(ErrorCode::foreign_device, "graph", "image", "imports lie on the graph's device");
  }
  for (std::uint32_t import = 0; import < imports.size(); ++import) {
    const Image& known = imports[import].image;
    if (known && known.state()->image == image.state()->image) return import;
  }
  const std::uint32_t resource = add_image(detail::ResourceKind::imported_image, image.description(), id, "image");
  const std::uint32_t import = resources[resource].import;
  imports[import].image = image;
  return import;
}

std::uint32_t Graph::State::declare_image(std::string_view id, const ImageDescription& description) {
  require_mutable("declare");
  detail::require_image_description(*device.state(), description, "declare", id);
  return resources[add_image(detail::ResourceKind::imported_image, description, id, "declared")].import;
}

GraphImage Graph::State::transient_image(const ImageDescription& description, std::string_view id) {
  require_mutable("transient");
  detail::require_image_description(*device.state(), description, "transient", id);
  const std::uint32_t resource = add_image(detail::ResourceKind::transient_image, description, id, "transient");
  return GraphImage(identity, resource, description);
}

GraphImage Graph::State::image_of_import(std::uint32_t import) const {
  const std::uint32_t resource = imports[import].resource;
  return GraphImage(identity, resource, images[resources[resource].image]);
}

void Graph::State::require_image(const GraphImage& image, ImageAccess access, std::string_view operation,
                                 std::string_view operand) const {
  if (image.graph() != identity) {
    detail::reject(ErrorCode::foreign_graph, operation, operand, "images belong to the graph they are used in");
  }
  if (image.resource() >= resources.size() || !resources[image.resource()].is_image()) {
    detail::reject(ErrorCode::unknown_id, operation, operand, "images name resources of their graph",
                   detail::values_of("resource", image.resource()));
  }
  const detail::GraphResource& resource = resources[image.resource()];
  const ImageUsage needed = detail::usage_for(access);
  if (!contains(images[resource.image].usage, needed)) {
    detail::reject(ErrorCode::usage_mismatch, operation, operand, "an image is made for what nodes do with it",
                   detail::values_of("image", resource.id, "needs", names_of(needed), "has",
                                     names_of(images[resource.image].usage)));
  }
}

}  // namespace tessera
