// Memory that collectives work on: the user's, and what is taken for him.
#include <cinttypes>
#include <cstdio>
#include <string>

#include "host/driver/buffer_fault.hpp"
#include "host/driver/relaxed_capture.hpp"
#include "host/world/gpu_world.hpp"
#include "world/collective_name.hpp"

namespace dfccl::gpu {
namespace {

std::string hex(const void* address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIxPTR, reinterpret_cast<uintptr_t>(address));
  return text;
}

}  // namespace

RunMemory GpuWorld::checkMemory(uint32_t rank, const CollectiveSpec& spec, const RunShape& shape, const void* send,
                                const void* recv) {
  const int device = deviceOf(rank);
  RunMemory memory;
  const struct {
    const char* name;
    const void* address;
    uint64_t bytes;
    MemoryRange& range;
  } buffers[] = {{"send", send, shape.sendBytes, memory.send}, {"receive", recv, shape.recvBytes, memory.recv}};
  for (const auto& [name, address, bytes, range] : buffers) {
    if (bytes == 0) continue;
    const auto fault = findFault(address, bytes, sizeOf(spec.type), nameOf(spec.type), device, range);
    if (!fault) continue;
    throw Error(
        dfcclInvalidArgument,
        nameOf(spec) + " on rank " + std::to_string(rank) + ": the " + name + " buffer " + hex(address) + " " +
            fault->what + ".",
        fault->remedy,
        {{"id", spec.id.text()}, {"rank", std::to_string(rank)}, {"buffer", name}, {"device", std::to_string(device)}});
  }
  return memory;
}

void* GpuWorld::allocate(uint32_t rank, size_t bytes) {
  const RelaxedCapture relaxed;
  void* memory = copies_[rank]->allocateZeroed(bytes);
  noteAllocated(rank, memory);
  return memory;
}

void GpuWorld::noteAllocated(uint32_t rank, void* memory) {
  const std::lock_guard lock(allocatedMutex_);
  allocated_.emplace(memory, rank);
}

void GpuWorld::free(uint32_t rank, void* memory, size_t) {
  forgetAllocated(rank, memory);
  freeLater(rank, memory);
}

void GpuWorld::forgetAllocated(uint32_t rank, void* memory) {
  const std::lock_guard lock(allocatedMutex_);
  const auto found = allocated_.find(memory);
  if (found == allocated_.end() || found->second != rank) {
    throw Error(dfcclInvalidArgument,
                "The memory at " + hex(memory) + " was not allocated for rank " + std::to_string(rank) + ".",
                "Pass what dfcclAllocate gave, once.", {{"rank", std::to_string(rank)}});
  }
  allocated_.erase(found);
}

void GpuWorld::freeLater(uint32_t rank, void* memory) { watcher_.freeLater(deviceOf(rank), memory); }

void GpuWorld::freeAllocated() {
  const std::lock_guard lock(allocatedMutex_);
  for (const auto& [memory, rank] : allocated_) watcher_.freeLater(deviceOf(rank), memory);
  allocated_.clear();
}

void GpuWorld::copyIn(uint32_t rank, void* to, const void* from, size_t bytes) {
  copies_[rank]->copy(to, from, bytes, cudaMemcpyHostToDevice);
}

void GpuWorld::copyOut(uint32_t rank, void* to, const void* from, size_t bytes) {
  copies_[rank]->copy(to, from, bytes, cudaMemcpyDeviceToHost);
}

}  // namespace dfccl::gpu
