#include "device/instance.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "device/result.hpp"

namespace tessera::detail {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

PFN_vkGetInstanceProcAddr find_loader() {
  // Never closed: drivers below it keep threads and exit handlers of their own.
  static void* const library = [] {
    void* found = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    return found != nullptr ? found : dlopen("libvulkan.so", RTLD_NOW | RTLD_LOCAL);
  }();
  if (library == nullptr) return nullptr;
  PFN_vkGetInstanceProcAddr function = nullptr;
  void* const symbol = dlsym(library, "vkGetInstanceProcAddr");
  std::memcpy(&function, &symbol, sizeof function);
  return function;
}

LogLevel level_of(VkDebugUtilsMessageSeverityFlagBitsEXT severity) {
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT) return LogLevel::error;
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT) return LogLevel::warning;
  if (severity >= VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT) return LogLevel::information;
  return LogLevel::debug;
}

VKAPI_ATTR VkBool32 VKAPI_CALL receive(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                       VkDebugUtilsMessageTypeFlagsEXT types,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  try {
    const bool validation = (types & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) != 0;
    std::string message = validation ? "Vulkan validation: " : "Vulkan: ";
    message += data->pMessage != nullptr ? data->pMessage : "(no text)";
    send(*static_cast<const LogCallback*>(user), level_of(severity), message);
  } catch (...) {
    return VK_FALSE;  // out of memory for a message: the message is lost, the call goes on
  }
  return VK_FALSE;
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info(LogCallback* log) {
  using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
  using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
  return vk::DebugUtilsMessengerCreateInfoEXT({}, Severity::eWarning | Severity::eError,
                                              Type::eGeneral | Type::eValidation | Type::ePerformance, receive, log);
}

bool has_extension(const std::vector<vk::ExtensionProperties>& extensions, std::string_view name) {
  return std::any_of(extensions.begin(), extensions.end(), [name](const vk::ExtensionProperties& extension) {
    return std::string_view(extension.extensionName.data()) == name;
  });
}

}  // namespace

vk::raii::Context make_context() {
  const PFN_vkGetInstanceProcAddr loader = find_loader();
  if (loader == nullptr) {
    throw Error(ErrorCode::no_device, {.operation = "Vulkan",
                                       .operand = {},
                                       .rule = "no Vulkan loader is installed",
                                       .values = "libvulkan.so.1 was not found"});
  }
  return vk::raii::Context(loader);
}

void send(const LogCallback& callback, LogLevel level, std::string_view message) noexcept {
  if (!callback) return;
  try {
    callback(level, message);
  } catch (...) {
    return;  // there is nowhere left to report it
  }
}

VulkanInstance::VulkanInstance(LogCallback log, Validation validation)
    : log_(std::make_unique<LogCallback>(std::move(log))),
      context_(make_context()),
      api_version_(translated("Vulkan", [&] { return context_.enumerateInstanceVersion(); })),
      instance_(translated("Vulkan instance", [&] { return make_instance(validation); })) {
  const bool wanted = *log_ || validation != Validation::off;
  if (debug_utils_ && wanted) {
    messenger_ = translated("Vulkan instance",
                            [&] { return vk::raii::DebugUtilsMessengerEXT(instance_, messenger_info(log_.get())); });
  }
}

bool VulkanInstance::validation_layer_present() const {
  const std::vector<vk::LayerProperties> layers = context_.enumerateInstanceLayerProperties();
  return std::any_of(layers.begin(), layers.end(), [](const vk::LayerProperties& layer) {
    return std::string_view(layer.layerName.data()) == validation_layer;
  });
}

vk::raii::Instance VulkanInstance::make_instance(Validation validation) {
  std::vector<const char*> layers;
  std::vector<const char*> extensions;
  const std::vector<vk::ExtensionProperties> available = context_.enumerateInstanceExtensionProperties();
  debug_utils_ = has_extension(available, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);

  bool synchronization = validation == Validation::core_and_synchronization;
  if (validation != Validation::off) {
    if (validation_layer_present()) {
      layers.push_back(validation_layer);
      const auto of_layer = context_.enumerateInstanceExtensionProperties(std::string(validation_layer));
      debug_utils_ = debug_utils_ || has_extension(of_layer, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
      if (synchronization && has_extension(of_layer, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME)) {
        extensions.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
      } else {
        synchronization = false;
      }
    } else {
      send(*log_, LogLevel::warning, "the Vulkan validation layer was asked for and is not installed");
      synchronization = false;
    }
  }
  if (debug_utils_) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);

  const vk::ApplicationInfo application("tessera", 1, "tessera", 1, VK_API_VERSION_1_3);
  const vk::InstanceCreateInfo info({}, &application, layers, extensions);
  const std::array enabled = {vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
  vk::StructureChain chain(info, messenger_info(log_.get()), vk::ValidationFeaturesEXT(enabled));
  // Without a messenger the layer would print to standard output.
  const bool messages = debug_utils_ && (*log_ || !layers.empty());
  if (!messages) chain.unlink<vk::DebugUtilsMessengerCreateInfoEXT>();
  if (!synchronization) chain.unlink<vk::ValidationFeaturesEXT>();
  return context_.createInstance(chain.get<vk::InstanceCreateInfo>());
}

}  // namespace tessera::detail
