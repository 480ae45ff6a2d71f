#include "device/encoder_state.hpp"

#include <algorithm>

#include <tessera/error.hpp>

#include "device/command_recycler.hpp"
#include "device/result.hpp"
#include "device/vulkan_device.hpp"

namespace tessera::detail {
namespace {

void start_label(const DeviceFunctions& functions, VkCommandBuffer commands, const std::string& label) {
  VkDebugUtilsLabelEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_LABEL_EXT;
  info.pLabelName = label.c_str();
  functions.vkCmdBeginDebugUtilsLabelEXT(commands, &info);
}

}  // namespace

bool AddressHazards::conflicts(std::uint64_t begin, std::uint64_t end, RangeAccess access) const noexcept {
  const auto overlaps = [begin, end](const Range& range) { return begin < range.second && range.first < end; };
  if (std::any_of(writes_.begin(), writes_.end(), overlaps)) return true;
  return access == RangeAccess::write && std::any_of(reads_.begin(), reads_.end(), overlaps);
}

void AddressHazards::add(std::uint64_t begin, std::uint64_t end, RangeAccess access) {
  auto& ranges = access == RangeAccess::write ? writes_ : reads_;
  if (!ranges.empty() && ranges.back().second == begin) {
    ranges.back().second = end;  // consecutive pieces of one transfer
  } else {
    ranges.emplace_back(begin, end);
  }
}

void AddressHazards::clear() noexcept {
  reads_.clear();
  writes_.clear();
}

void record_closing_barrier(const DeviceFunctions& functions, VkCommandBuffer commands) {
  record_barrier(functions, commands, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT,
                 VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_2_HOST_BIT,
                 VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
}

EncoderState::EncoderState(std::shared_ptr<DeviceState> device, std::string_view label)
    : device_(std::move(device)), label_(label) {}

EncoderState::EncoderState(std::shared_ptr<DeviceState> device, VkCommandBuffer foreign)
    : device_(std::move(device)), commands_(foreign), foreign_(true) {
  full_barrier();  // what the application recorded before is not known here
}

EncoderState::~EncoderState() = default;

VkCommandBuffer EncoderState::commands() {
  if (commands_ != VK_NULL_HANDLE) return commands_;
  auto primary = device_->commands().take(device_);
  const DeviceFunctions& functions = device_->functions();
  VkCommandBufferBeginInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  device_->check(functions.vkBeginCommandBuffer(primary->handle(), &info), "encoder");
  retained_.reserve(retained_.size() + 8);
  primary_ = std::move(primary);
  commands_ = primary_->handle();
  if (!label_.empty() && functions.vkCmdBeginDebugUtilsLabelEXT != nullptr) {
    start_label(functions, commands_, label_);
    ++open_labels_;
  }
  if (prepared_) {
    const auto parts = prepared_->parts();
    functions.vkCmdExecuteCommands(commands_, static_cast<std::uint32_t>(parts.size()), parts.data());
    prepared_.reset();
  }
  return commands_;
}

void EncoderState::adopt(std::shared_ptr<const PreparedCommands> prepared) {
  prepared_ = std::move(prepared);
  mark_external_work();
}

void EncoderState::require_open(std::string_view operation) const {
  if (closed_) {
    throw Error(ErrorCode::execution_order, {.operation = std::string(operation),
                                             .operand = "encoder",
                                             .rule = "the encoder was already submitted or finished",
                                             .values = {}});
  }
  device_->require_alive(operation);
}

void EncoderState::barrier(VkPipelineStageFlags2 source_stages, VkAccessFlags2 source_access,
                           VkPipelineStageFlags2 target_stages, VkAccessFlags2 target_access) {
  record_barrier(device_->functions(), commands(), source_stages, source_access, target_stages, target_access);
}

void EncoderState::full_barrier() {
  barrier(VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT, VK_ACCESS_2_MEMORY_WRITE_BIT, VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT,
          VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT);
  hazards_.clear();
  external_work_ = false;
}

void EncoderState::begin_external_work() {
  if (external_work_ || !hazards_.empty()) full_barrier();
}

void EncoderState::touch(const BufferState& buffer, std::uint64_t offset, std::uint64_t bytes, RangeAccess access) {
  const std::uint64_t begin = buffer.address + offset;
  if (external_work_ || hazards_.full() || hazards_.conflicts(begin, begin + bytes, access)) full_barrier();
  hazards_.add(begin, begin + bytes, access);
}

Buffer EncoderState::staging(std::uint64_t bytes) {
  auto buffer = device_->staging(bytes);
  retain(buffer);
  return Buffer(std::move(buffer));
}

void EncoderState::begin_label(std::string_view label) {
  const DeviceFunctions& functions = device_->functions();
  if (functions.vkCmdBeginDebugUtilsLabelEXT == nullptr) return;
  start_label(functions, commands(), std::string(label));
  ++open_labels_;
}

void EncoderState::end_label() {
  if (open_labels_ == 0) return;
  device_->functions().vkCmdEndDebugUtilsLabelEXT(commands());
  --open_labels_;
}

std::vector<std::shared_ptr<const void>> EncoderState::finish() {
  if (commands_ != VK_NULL_HANDLE) {
    while (open_labels_ > 0) end_label();
    record_closing_barrier(device_->functions(), commands_);
    if (!foreign_) device_->check(device_->functions().vkEndCommandBuffer(commands_), "encoder");
  }
  closed_ = true;
  if (primary_) retained_.push_back(std::move(primary_));
  if (prepared_) retained_.push_back(std::move(prepared_));
  return std::move(retained_);
}

}  // namespace tessera::detail
