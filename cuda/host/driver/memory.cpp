#include "host/driver/memory.hpp"

#include <bit>
#include <cstring>
#include <string>

#include "host/driver/rank_requests.hpp"

namespace dfccl::gpu {
namespace {

constexpr size_t kAlignment = 128;

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
size_t sizeClass(size_t bytes) { return std::bit_ceil(bytes < kAlignment ? kAlignment : bytes); }

}  // namespace

PinnedMemory::PinnedMemory(size_t bytes) : capacity_(bytes) {
  DFCCL_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&base_), bytes, cudaHostAllocPortable | cudaHostAllocMapped));
  std::memset(base_, 0, bytes);
}

PinnedMemory::~PinnedMemory() { cudaFreeHost(base_); }

uint8_t* PinnedMemory::take(size_t bytes) {
  uint8_t* part = base_ + used_;
  used_ += rounded(bytes);
  if (used_ > capacity_) {
    throw Error(dfcclOutOfMemory, "The pinned memory of a rank is too small for its queues.",
                "Report this: the sizes are computed from the limits.");
  }
  return part;
}

DeviceArena::DeviceArena(int device, size_t bytes) : device_(device), capacity_(bytes) {
  const OnDevice here(device);
  DFCCL_CUDA(cudaMalloc(reinterpret_cast<void**>(&base_), bytes));
  DFCCL_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  DFCCL_CUDA(cudaMemsetAsync(base_, 0, bytes, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

DeviceArena::~DeviceArena() {
  int former = 0;
  cudaGetDevice(&former);
  cudaSetDevice(device_);
  cudaStreamDestroy(stream_);
  if (!isAbandoned_) cudaFree(base_);
  cudaSetDevice(former);
}

uint8_t* DeviceArena::allocate(size_t bytes) {
  const size_t size = sizeClass(bytes);
  std::deque<Idle>& idle = idle_[size];
  // What the daemon has yet to clear is not waited for, unless there is nothing else.
  const bool isCleared = !idle.empty() && (requests_ == nullptr || requests_->isDone(idle.front().cleared));
  if (isCleared || (!idle.empty() && capacity_ - top_ < size && requests_->awaitDone(idle.front().cleared))) {
    uint8_t* block = idle.front().block;
    idle.pop_front();
    if (requests_ == nullptr) clear(block, size);
    used_ += size;
    return block;
  }
  if (capacity_ - top_ < size) {
    throw Error(dfcclOutOfMemory,
                "Device " + std::to_string(device_) + ": " + std::to_string(size) +
                    " bytes don't fit into the arena (" + std::to_string(used_) + " of " + std::to_string(capacity_) +
                    " bytes are used).",
                "Unregister collectives that are done, or open the world with a larger arena.",
                {{"device", std::to_string(device_)}, {"bytes", std::to_string(size)}});
  }
  uint8_t* block = base_ + top_;
  top_ += size;
  used_ += size;
  return block;
}

void DeviceArena::free(uint8_t* block, size_t bytes) {
  if (block == nullptr) return;
  const size_t size = sizeClass(bytes);
  idle_[size].push_back({block, requests_ == nullptr ? 0 : requests_->clear(block, size)});
  used_ -= size;
}

uint64_t DeviceArena::store(void* to, const void* from, size_t bytes) {
  if (requests_ != nullptr) return requests_->copy(to, from, bytes);
  write(to, from, bytes);
  return 0;
}

bool DeviceArena::isStored(uint64_t request) const { return requests_ == nullptr || requests_->isDone(request); }

void DeviceArena::clear(void* memory, size_t bytes) {
  const OnDevice here(device_);
  DFCCL_CUDA(cudaMemsetAsync(memory, 0, bytes, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

void DeviceArena::checkOpen() const {
  if (requests_ == nullptr) return;
  throw Error(
      dfcclSystemError, "A rank's memory on its device is not read or written through CUDA once the rank is open.",
      "Report this: what the host tells the daemon goes through its requests.", {{"device", std::to_string(device_)}});
}

void DeviceArena::write(void* to, const void* from, size_t bytes) {
  checkOpen();
  if (bytes == 0) return;
  const OnDevice here(device_);
  DFCCL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

void DeviceArena::read(void* to, const void* from, size_t bytes) {
  checkOpen();
  if (bytes == 0) return;
  const OnDevice here(device_);
  DFCCL_CUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_));
  DFCCL_CUDA(cudaStreamSynchronize(stream_));
}

ArenaBlocks::~ArenaBlocks() {
  for (const Block& block : blocks_) arena_->free(block.memory, block.bytes);
}

ArenaBlocks::ArenaBlocks(ArenaBlocks&& other) noexcept
    : arena_(other.arena_), blocks_(std::move(other.blocks_)), bytes_(other.bytes_) {
  other.blocks_.clear();
}

}  // namespace dfccl::gpu
