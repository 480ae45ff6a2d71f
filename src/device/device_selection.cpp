#include "device/device_selection.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <tessera/error.hpp>

namespace tessera::detail {
namespace {

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  const auto found = std::search(text.begin(), text.end(), part.begin(), part.end(),
                                 [&](char left, char right) { return lower(left) == lower(right); });
  return part.empty() || found != text.end();
}

bool matches(const DeviceInfo& device, const DeviceSelector& selector) {
  if (selector.index && *selector.index != device.index) return false;
  if (selector.type && *selector.type != device.type) return false;
  return contains_ignoring_case(device.name, selector.name);
}

std::string text_of(const DeviceSelector& selector) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += text.empty() ? part : ", " + part; };
  if (selector.index) add("index " + std::to_string(*selector.index));
  if (selector.type) add("type " + std::string(name_of(*selector.type)));
  if (!selector.name.empty()) add("name \"" + selector.name + "\"");
  return text.empty() ? "any device" : text;
}

std::string list_of(std::span<const DeviceInfo> devices) {
  std::string text;
  for (const DeviceInfo& device : devices) {
    if (!text.empty()) text += ", ";
    text += std::to_string(device.index) + " " + device.name + " [" + std::string(name_of(device.type)) + "]";
  }
  return text.empty() ? "none" : text;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

std::size_t select_device(std::span<const DeviceInfo> devices, const DeviceSelector& selector) {
  std::optional<std::size_t> best;
  std::optional<std::size_t> unusable;
  for (std::size_t position = 0; position < devices.size(); ++position) {
    const DeviceInfo& device = devices[position];
    if (!matches(device, selector)) continue;
    if (!device.missing_features.empty()) {
      if (!unusable) unusable = position;
    } else if (!best || device.type < devices[*best].type) {  // the enumeration is in order of preference
      best = position;
    }
  }
  if (best) return *best;
  if (unusable) {
    const DeviceInfo& device = devices[*unusable];
    throw Error(ErrorCode::missing_feature, {.operation = "device",
                                             .operand = device.name,
                                             .rule = "the device lacks required features",
                                             .values = joined(device.missing_features)});
  }
  throw Error(ErrorCode::no_device, {.operation = "device",
                                     .operand = text_of(selector),
                                     .rule = "no Vulkan device matches",
                                     .values = "devices here: " + list_of(devices)});
}

}  // namespace tessera::detail
