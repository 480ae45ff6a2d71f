#include "device/kernel_cache.hpp"

#include <utility>

#include <tessera/error.hpp>

#include "device/embedded_kernels.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

std::string debug_name(std::string_view module, std::span<const std::uint32_t> constants) {
  std::string name(module);
  char separator = '<';
  for (const std::uint32_t constant : constants) {
    name += separator + std::to_string(constant);
    separator = ',';
  }
  return separator == ',' ? name + '>' : name;
}

}  // namespace

VkPipeline KernelCache::pipeline(std::string_view module, std::span<const std::uint32_t> constants,
                                 SubgroupRule subgroups, VkPipelineLayout layout) {
  Key key{std::string(module), {constants.begin(), constants.end()}, subgroups, layout};
  if (!device_.features().full_subgroups) key.subgroups = SubgroupRule::any;
  Entry& found = entry(key);
  const std::lock_guard lock(found.mutex);
  if (*found.pipeline == vk::Pipeline()) found.pipeline = compile(key);
  return static_cast<VkPipeline>(*found.pipeline);
}

KernelCache::Entry& KernelCache::entry(Key key) {
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) return *found->second;
  }
  auto fresh = std::make_unique<Entry>();
  const std::unique_lock lock(mutex_);
  return *entries_.try_emplace(std::move(key), std::move(fresh)).first->second;
}

vk::raii::Pipeline KernelCache::compile(const Key& key) const {
  const EmbeddedModule* const module = find_module(key.module);
  if (module == nullptr) {
    throw Error(
        ErrorCode::unknown_id,
        {.operation = "kernel", .operand = key.module, .rule = "no kernel of that name is embedded", .values = {}});
  }
  return translated("kernel", [&] {
    device_.count_allocation("kernel");
    const vk::raii::Device& device = device_.device();
    const vk::raii::ShaderModule shader(
        device, vk::ShaderModuleCreateInfo({}, module->words.size_bytes(), module->words.data()));
    std::vector<vk::SpecializationMapEntry> entries;
    for (std::uint32_t index = 0; index < key.constants.size(); ++index) {
      entries.emplace_back(index, index * 4, sizeof(std::uint32_t));
    }
    const vk::SpecializationInfo specialization(static_cast<std::uint32_t>(entries.size()), entries.data(),
                                                key.constants.size() * 4, key.constants.data());
    vk::PipelineShaderStageCreateFlags flags;
    if (key.subgroups == SubgroupRule::full) flags |= vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups;
    const vk::PipelineShaderStageCreateInfo stage(flags, vk::ShaderStageFlagBits::eCompute, *shader, "main",
                                                  &specialization);
    const std::shared_lock cache_lock(device_.pipeline_cache_mutex());
    vk::raii::Pipeline pipeline(device, device_.pipeline_cache(), vk::ComputePipelineCreateInfo({}, stage, key.layout));
    if (device_.features().debug_utils) {
      const std::string name = debug_name(key.module, key.constants);
      device.setDebugUtilsObjectNameEXT(vk::DebugUtilsObjectNameInfoEXT(
          vk::ObjectType::ePipeline, reinterpret_cast<std::uint64_t>(static_cast<VkPipeline>(*pipeline)),
          name.c_str()));
    }
    return pipeline;
  });
}

std::size_t KernelCache::size() const {
  const std::shared_lock lock(mutex_);
  return entries_.size();
}

}  // namespace tessera::detail
