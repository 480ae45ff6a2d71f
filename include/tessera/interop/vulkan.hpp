#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include <tessera/device/buffer.hpp>
#include <tessera/device/device.hpp>
#include <tessera/device/encoder.hpp>
#include <tessera/device/fence.hpp>
#include <tessera/device/image.hpp>
#include <tessera/export.hpp>

namespace tessera {
class RenderPass;
enum class ImageLayout : std::uint8_t;
}  // namespace tessera

/// Sharing Vulkan objects with an application: its device, its buffers, its command buffers, memory by file descriptor.
namespace tessera::interop {

/// What an application must enable on a device of its own before Tessera can take part in it, and may enable for speed.
/// Ask after choosing the physical device: `device_extensions` and `features` hold only what it has, so that they can
/// go into `VkDeviceCreateInfo` as they are (or be merged with the application's own). Not copied: the features are a
/// chain. Thread-safe to read.
class TESSERA_EXPORT VulkanRequirements {
 public:
  /// Throws `missing_feature`, which names every required feature that the physical device lacks, and `no_device` where
  /// `loader` is null and no Vulkan loader is installed.
  VulkanRequirements(VkInstance instance, VkPhysicalDevice physical_device, PFN_vkGetInstanceProcAddr loader = nullptr);
  VulkanRequirements(VulkanRequirements&&) noexcept;
  VulkanRequirements& operator=(VulkanRequirements&&) noexcept;
  ~VulkanRequirements();

  /// For `VkApplicationInfo::apiVersion`, at least.
  static std::uint32_t api_version() noexcept { return VK_API_VERSION_1_3; }
  /// Nothing is required of the instance; with these, objects have names and labels in debuggers.
  static std::span<const char* const> optional_instance_extensions() noexcept;
  std::span<const char* const> device_extensions() const noexcept;
  /// Head of a chain of feature structures for `VkDeviceCreateInfo::pNext`; lives as long as this object.
  const VkPhysicalDeviceFeatures2& features() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// An application's device. The handles stay the application's and must outlive every object of the adopted device;
/// `owner` may hold them meanwhile.
struct VulkanAdoption {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;  ///< of a family with compute; with graphics as well for render nodes
  std::uint32_t queue_family = 0;
  /// The feature chain that the device was created with. Without it nothing can be checked: the required features are
  /// taken for granted, and no optional one is used.
  const VkPhysicalDeviceFeatures2* enabled_features = nullptr;
  std::span<const char* const> enabled_device_extensions{};
  std::span<const char* const> enabled_instance_extensions{};
  /// Called around every use of the queue, in pairs, from any thread. Needed where the application uses the queue too.
  std::function<void()> lock_queue{};
  std::function<void()> unlock_queue{};
  PFN_vkGetInstanceProcAddr loader = nullptr;  ///< null: the installed loader
  std::shared_ptr<const void> owner{};         ///< dropped after the last object of the adopted device
};

/// Makes an application's device usable as a Tessera device; `options.validation` has no effect (it is the instance's).
/// Throws `invalid_argument` (a handle is missing, or the queue family has no compute), `missing_feature` (names each).
TESSERA_EXPORT Device adopt(const VulkanAdoption& adoption, DeviceOptions options = {});

/// Raw handles of a device. Use the queue only between `lock_queue` and `unlock_queue`.
struct VulkanDeviceHandles {
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical_device = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::uint32_t queue_family = 0;
};
TESSERA_EXPORT VulkanDeviceHandles handles(const Device& device) noexcept;
TESSERA_EXPORT void lock_queue(const Device& device);
TESSERA_EXPORT void unlock_queue(const Device& device);

/// A Tessera buffer as a range of a Vulkan buffer, which other Tessera buffers may share: never touch bytes outside.
struct VulkanBufferRange {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0;
  VkDeviceSize bytes = 0;
  VkDeviceAddress address = 0;
};
/// Throws `missing_operand` for an empty buffer.
TESSERA_EXPORT VulkanBufferRange handles(const Buffer& buffer);
/// The timeline semaphore. Throws `missing_operand` for an empty one.
TESSERA_EXPORT VkSemaphore handle(const Semaphore& semaphore);

/// A range of an application's buffer.
struct ForeignBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkBufferUsageFlags usage = 0;  ///< that the buffer was created with
  VkDeviceSize offset = 0;       ///< a multiple of 4
  VkDeviceSize bytes = 0;
  VkDeviceAddress address = 0;  ///< of the range's first byte; 0: asked of the driver
  std::byte* mapped = nullptr;  ///< of the range's first byte, where its memory is mapped and coherent
  std::string name{};
  std::shared_ptr<const void> owner{};  ///< dropped when no Tessera object uses the buffer any more
};

/// Makes an application's buffer usable as a Tessera buffer. It needs the usages storage buffer, shader device address,
/// transfer source and transfer destination (indirect buffer as well where it holds count words).
/// Throws `missing_operand`, `missing_feature` (names each missing usage), `layout_mismatch` (offset or address).
TESSERA_EXPORT Buffer wrap(const Device& device, const ForeignBuffer& foreign);

/// A Tessera image with a view of all of it. Between submissions it is in `VK_IMAGE_LAYOUT_GENERAL`: whoever changes
/// the layout restores it.
struct VulkanImage {
  VkImage image = VK_NULL_HANDLE;
  VkImageView view = VK_NULL_HANDLE;  ///< null for an image that is only copied
  VkFormat format = VK_FORMAT_UNDEFINED;
  VkExtent2D extent{};
};
/// Throws `missing_operand` for an empty image.
TESSERA_EXPORT VulkanImage handles(const Image& image);
TESSERA_EXPORT VkFormat vulkan_format(ImageFormat format) noexcept;

/// An application's two-dimensional image of one level, layer and sample, with optimal tiling, in
/// `VK_IMAGE_LAYOUT_GENERAL` whenever Tessera is given it.
struct ForeignImage {
  VkImage image = VK_NULL_HANDLE;
  VkImageUsageFlags usage = 0;  ///< that the image was created with
  ImageFormat format = ImageFormat::r32_float;
  VkExtent2D extent{};
  VkImageView view = VK_NULL_HANDLE;  ///< of all of it; null: one is made
  std::string name{};
  std::shared_ptr<const void> owner{};  ///< dropped when no Tessera object uses the image any more
};

/// Makes an application's image usable as a Tessera image, with what its usage flags allow.
/// Throws `missing_operand`, and `invalid_argument`, `limit_exceeded` and `missing_feature` as `Device::create_image`.
TESSERA_EXPORT Image wrap(const Device& device, const ForeignImage& foreign);

/// Starts recording into an application's command buffer, which must be in the recording state, outside of rendering,
/// and of a pool of the device's queue family. A full barrier stands before and after what is recorded; bound pipelines
/// and push constants of the compute bind point are undefined afterwards. The encoder can't be submitted: see `finish`.
/// Throws `missing_operand`, `device_lost`.
TESSERA_EXPORT Encoder record_into(const Device& device, VkCommandBuffer commands);

/// Ends such a recording. The result owns a share of everything that the commands use: drop it when they are done (or
/// will never run). Throws `execution_order` for an encoder of another kind or one that was finished before.
[[nodiscard]] TESSERA_EXPORT std::shared_ptr<const void> finish(Encoder&& encoder);

/// The command buffer that an encoder records into. The encoder takes everything recorded through it for conflicting
/// with what follows. Throws `execution_order` once submitted or finished.
TESSERA_EXPORT VkCommandBuffer command_buffer(Encoder& encoder);

/// The command buffer of a render node, inside dynamic rendering.
TESSERA_EXPORT VkCommandBuffer command_buffer(const RenderPass& pass);
/// What Vulkan calls a layout of the graph's.
TESSERA_EXPORT VkImageLayout vulkan_layout(ImageLayout layout) noexcept;

/// Memory that another device, process or library can open. The descriptor is an opaque Vulkan one
/// (`VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT`): valid for the same physical device and driver only.
struct MemoryDescriptor {
  int descriptor = -1;
  std::uint64_t allocation_bytes = 0;  ///< of the whole allocation, which the importer must be told
  std::uint64_t buffer_bytes = 0;      ///< of the Vulkan buffer that covers it
  std::uint64_t bytes = 0;             ///< of the Tessera buffer at its start
};

/// A buffer in memory of its own that can be exported. Throws as `Device::allocate`, and `missing_feature` where
/// `DeviceLimits::external_memory_descriptor` is false.
TESSERA_EXPORT Buffer allocate_exportable(const Device& device, std::uint64_t bytes, const BufferOptions& options = {});
/// A new descriptor of the buffer's memory, which the caller owns (and closes, or gives to an importer).
/// Throws `invalid_argument` for a buffer that is not exportable.
TESSERA_EXPORT MemoryDescriptor export_memory(const Buffer& buffer);
/// Opens exported memory. Takes the descriptor over on success; closes nothing otherwise. The memory does not count
/// against the memory limit. Throws `missing_feature`, `invalid_argument` (not a descriptor of this device).
TESSERA_EXPORT Buffer import_memory(const Device& device, const MemoryDescriptor& memory,
                                    const BufferOptions& options = {});

/// A timeline semaphore that can be exported, its descriptor (the caller's), and one opened from a descriptor (taken
/// over on success). Throw `missing_feature` where `DeviceLimits::external_semaphore_descriptor` is false,
/// `invalid_argument`.
TESSERA_EXPORT Semaphore create_exportable_semaphore(const Device& device, std::uint64_t initial_value = 0);
TESSERA_EXPORT int export_semaphore(const Semaphore& semaphore);
TESSERA_EXPORT Semaphore import_semaphore(const Device& device, int descriptor);

}  // namespace tessera::interop
