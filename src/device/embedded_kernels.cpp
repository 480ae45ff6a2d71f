#include "device/embedded_kernels.hpp"

#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include <tessera/error.hpp>

namespace tessera::detail {
namespace {

class ModuleRegistry {
 public:
  static ModuleRegistry& instance() {
    static ModuleRegistry registry;
    return registry;
  }

  void add(std::span<const EmbeddedModule> modules) {
    const std::unique_lock lock(mutex_);
    insert(modules);
  }

  const EmbeddedModule* find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = modules_.find(name);
    return found == modules_.end() ? nullptr : &found->second;
  }

  std::vector<EmbeddedModule> all() const {
    const std::shared_lock lock(mutex_);
    std::vector<EmbeddedModule> result;
    result.reserve(modules_.size());
    for (const auto& [name, module] : modules_) result.push_back(module);
    return result;
  }

 private:
  ModuleRegistry() { insert(core_modules()); }

  void insert(std::span<const EmbeddedModule> modules) {
    for (const EmbeddedModule& module : modules) {
      const auto [position, inserted] = modules_.try_emplace(module.name, module);
      if (!inserted && position->second.words.data() != module.words.data()) {
        throw Error(ErrorCode::duplicate_id, {.operation = "kernel registry",
                                              .operand = std::string(module.name),
                                              .rule = "every embedded kernel has a name of its own",
                                              .values = {}});
      }
    }
  }

  mutable std::shared_mutex mutex_;
  std::map<std::string_view, EmbeddedModule> modules_;  // nodes never move, so pointers handed out stay valid
};

}  // namespace

void register_modules(std::span<const EmbeddedModule> modules) { ModuleRegistry::instance().add(modules); }

const EmbeddedModule* find_module(std::string_view name) { return ModuleRegistry::instance().find(name); }

std::vector<EmbeddedModule> embedded_modules() { return ModuleRegistry::instance().all(); }

}  // namespace tessera::detail
