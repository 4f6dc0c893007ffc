// Memory that collectives work on, for those who ask a world on CPUs for it.
#include <cstring>
#include <new>
#include <string>

#include "base/error.hpp"
#include "cpu/cpu_world.hpp"
#include "world/refusals.hpp"

namespace dfccl {
namespace {

constexpr std::align_val_t kPage{4096};

}  // namespace

void* CpuWorld::allocate(uint32_t, size_t bytes) {
  if (options_.segment) {
    checkAllocation(bytes, options_.segment->end() - options_.segment->begin());
    return options_.segment->allocateBuffer(bytes);
  }
  checkAllocation(bytes);
  void* memory = ::operator new(bytes, kPage, std::nothrow);
  if (memory == nullptr) {
    throw Error(dfcclOutOfMemory, "The system refused " + std::to_string(bytes) + " bytes.", "Use smaller buffers.",
                {{"bytes", std::to_string(bytes)}});
  }
  return std::memset(memory, 0, bytes);
}

void CpuWorld::free(uint32_t, void* memory, size_t bytes) {
  if (!options_.segment) {
    ::operator delete(memory, kPage);
    return;
  }
  if (!options_.segment->contains(memory, bytes)) {
    throw Error(dfcclInvalidArgument, "The memory was not made by dfcclAllocate.", "Pass what dfcclAllocate gave.");
  }
  options_.segment->freeBuffer(static_cast<uint8_t*>(memory), bytes);
}

}  // namespace dfccl
