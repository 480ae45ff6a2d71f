#include "device/pipeline_cache.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tessera::detail {
namespace {

struct Seal {
  std::uint64_t magic = 0x3165686361637374;  // "tscache1" in file order
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

std::uint64_t checksum_of(std::span<const std::byte> data) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a, 64 bits
  for (const std::byte value : data) hash = (hash ^ std::to_integer<std::uint64_t>(value)) * 1099511628211u;
  return hash;
}

}  // namespace

std::vector<std::byte> seal_pipeline_cache(std::span<const std::byte> data) {
  Seal seal;
  seal.bytes = data.size();
  seal.checksum = checksum_of(data);
  std::vector<std::byte> sealed(sizeof seal + data.size());
  std::memcpy(sealed.data(), &seal, sizeof seal);
  std::copy(data.begin(), data.end(), sealed.begin() + sizeof seal);
  return sealed;
}

std::span<const std::byte> open_pipeline_cache(std::span<const std::byte> sealed,
                                               const VkPhysicalDeviceProperties& properties) {
  Seal seal;
  if (sealed.size() < sizeof seal) return {};
  std::memcpy(&seal, sealed.data(), sizeof seal);
  const auto data = sealed.subspan(sizeof seal);
  if (seal.magic != Seal{}.magic || seal.bytes != data.size() || seal.checksum != checksum_of(data)) return {};

  // Drivers should check their own header; some trust it.
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return {};
  std::memcpy(&header, data.data(), sizeof header);
  const bool same_device = header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
                           header.vendorID == properties.vendorID && header.deviceID == properties.deviceID &&
                           std::equal(std::begin(header.pipelineCacheUUID), std::end(header.pipelineCacheUUID),
                                      std::begin(properties.pipelineCacheUUID));
  return same_device ? data : std::span<const std::byte>();
}

}  // namespace tessera::detail
