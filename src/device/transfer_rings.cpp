#include "device/transfer_rings.hpp"

#include <algorithm>
#include <utility>

namespace tessera::detail {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t smallest_ring = 4096;

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

}  // namespace

struct TransferRing::Piece final : BufferState {
  Piece() = default;
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  ~Piece() {
    if (ring != nullptr) ring->give_back(number);
  }

  TransferRing* ring = nullptr;
  std::uint64_t number = 0;
};

TransferRing::TransferRing(MemoryAllocator& memory, MemoryPool pool, std::uint64_t bytes)
    : memory_(memory), pool_(pool), bytes_(std::max(aligned(bytes), smallest_ring)) {}

TransferRing::~TransferRing() { memory_.release_block(block_); }

std::shared_ptr<BufferState> TransferRing::take(std::shared_ptr<DeviceState> device, std::uint64_t bytes) {
  const std::uint64_t wanted = aligned(std::max<std::uint64_t>(bytes, 1));
  if (wanted > largest_piece()) return nullptr;
  auto piece = std::make_shared<Piece>();
  std::uint64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    if (*block_.buffer == vk::Buffer()) block_ = memory_.create_block({.pool = pool_, .bytes = bytes_});
    offset = head_ % bytes_;
    const std::uint64_t skipped = offset + wanted > bytes_ ? bytes_ - offset : 0;  // a piece never wraps
    if (head_ + skipped + wanted - tail_ > bytes_) return nullptr;
    if (skipped != 0) offset = 0;
    regions_.push_back({head_ + skipped + wanted, false});
    head_ += skipped + wanted;
    piece->number = first_number_ + regions_.size() - 1;
    piece->ring = this;
  }
  piece->buffer = static_cast<VkBuffer>(*block_.buffer);
  piece->offset = offset;
  piece->size = bytes;
  piece->capacity = wanted;
  piece->address = block_.address + offset;
  piece->mapped = block_.mapped + offset;
  piece->host_cached = block_.host_cached;
  piece->memory = pool_ == MemoryPool::upload ? MemoryKind::upload : MemoryKind::download;
  piece->device = std::move(device);
  return piece;
}

void TransferRing::give_back(std::uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  regions_[number - first_number_].free = true;
  while (!regions_.empty() && regions_.front().free) {
    tail_ = regions_.front().end;
    regions_.pop_front();
    ++first_number_;
  }
}

}  // namespace tessera::detail
