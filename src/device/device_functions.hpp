#pragma once

#include <vulkan/vulkan.h>

namespace tessera::detail {

/// Device-level entry points that layers above the device record with, fetched from the device itself: calls skip the
/// loader's dispatch, and work for an adopted device that came from another loader.
#define TESSERA_FOR_EACH_DEVICE_FUNCTION(visit)                                                                      \
  visit(vkBeginCommandBuffer) visit(vkEndCommandBuffer) visit(vkCmdBindPipeline) visit(vkCmdBindDescriptorSets)      \
      visit(vkCmdPushConstants) visit(vkCmdDispatch) visit(vkCmdDispatchIndirect) visit(vkCmdPipelineBarrier2)       \
          visit(vkCmdUpdateBuffer) visit(vkCmdFillBuffer) visit(vkCmdCopyBuffer) visit(vkCmdCopyBufferToImage)       \
              visit(vkCmdCopyImageToBuffer) visit(vkCmdCopyImage) visit(vkCmdClearColorImage)                        \
                  visit(vkCmdExecuteCommands) visit(vkCmdResetQueryPool) visit(vkCmdWriteTimestamp2)                 \
                      visit(vkCmdBeginRendering) visit(vkCmdEndRendering) visit(vkCmdDraw) visit(vkCmdDrawIndirect)  \
                          visit(vkCmdSetViewport) visit(vkCmdSetScissor) visit(vkCreateImage) visit(vkDestroyImage)  \
                              visit(vkGetImageMemoryRequirements) visit(vkBindImageMemory) visit(vkCreateImageView)  \
                                  visit(vkDestroyImageView) visit(vkAllocateMemory) visit(vkFreeMemory)              \
                                      visit(vkCreateDescriptorSetLayout) visit(vkDestroyDescriptorSetLayout)         \
                                          visit(vkCreateDescriptorPool) visit(vkDestroyDescriptorPool)               \
                                              visit(vkAllocateDescriptorSets) visit(vkUpdateDescriptorSets)          \
                                                  visit(vkCreatePipelineLayout) visit(vkDestroyPipelineLayout)       \
                                                      visit(vkQueueSubmit2) visit(vkWaitSemaphores)                  \
                                                          visit(vkGetSemaphoreCounterValue) visit(vkSignalSemaphore) \
                                                              visit(vkDeviceWaitIdle)

struct DeviceFunctions {
#define TESSERA_DECLARE_FUNCTION(function) PFN_##function function = nullptr;
  TESSERA_FOR_EACH_DEVICE_FUNCTION(TESSERA_DECLARE_FUNCTION)
#undef TESSERA_DECLARE_FUNCTION
  // VK_EXT_debug_utils; null where the extension is not enabled
  PFN_vkSetDebugUtilsObjectNameEXT vkSetDebugUtilsObjectNameEXT = nullptr;
  PFN_vkCmdBeginDebugUtilsLabelEXT vkCmdBeginDebugUtilsLabelEXT = nullptr;
  PFN_vkCmdEndDebugUtilsLabelEXT vkCmdEndDebugUtilsLabelEXT = nullptr;
};

/// A global memory barrier.
inline void record_barrier(const DeviceFunctions& functions, VkCommandBuffer commands,
                           VkPipelineStageFlags2 source_stages, VkAccessFlags2 source_access,
                           VkPipelineStageFlags2 target_stages, VkAccessFlags2 target_access) {
  VkMemoryBarrier2 barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2;
  barrier.srcStageMask = source_stages;
  barrier.srcAccessMask = source_access;
  barrier.dstStageMask = target_stages;
  barrier.dstAccessMask = target_access;
  VkDependencyInfo dependency{};
  dependency.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO;
  dependency.memoryBarrierCount = 1;
  dependency.pMemoryBarriers = &barrier;
  functions.vkCmdPipelineBarrier2(commands, &dependency);
}

}  // namespace tessera::detail
