#include "device/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tessera::detail {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// The number after `key` at the start of a line, as in `/proc/meminfo` and `memory.stat`.
std::optional<std::uint64_t> value_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    std::uint64_t value = 0;
    if (word == key && file >> value) return value;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

/// The only number in a file; none where the file is absent or says `max`.
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// Path of this process below the unified hierarchy, for example `/user.slice`.
std::string control_group() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("0::")) return line.substr(3);
  }
  return {};
}

std::uint64_t left_in_control_groups() {
  std::uint64_t left = unlimited;
  std::string group = control_group();
  while (true) {
    const std::string folder = "/sys/fs/cgroup" + (group == "/" ? std::string() : group);
    const auto limit = number_in(folder + "/memory.max");
    const auto used = number_in(folder + "/memory.current");
    if (limit && used) {
      const std::uint64_t reclaimable = value_after(folder + "/memory.stat", "inactive_file").value_or(0);
      const std::uint64_t held = *used - std::min(*used, reclaimable);
      left = std::min(left, *limit - std::min(*limit, held));
    }
    const std::size_t slash = group.rfind('/');
    if (group.empty() || slash == std::string::npos) return left;
    group.resize(slash);
  }
}

}  // namespace

std::uint64_t available_host_memory() {
  const auto kibibytes = value_after("/proc/meminfo", "MemAvailable:");
  const std::uint64_t available = kibibytes ? *kibibytes * 1024 : unlimited;
  return std::min(available, left_in_control_groups());
}

}  // namespace tessera::detail
