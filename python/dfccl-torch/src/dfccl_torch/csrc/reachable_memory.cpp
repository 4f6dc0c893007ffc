#include "reachable_memory.hpp"

#include <c10/util/safe_numerics.h>
#include <unistd.h>

#include "error.hpp"

namespace dfccl_torch {

at::Tensor reachableTensor(std::shared_ptr<World> world, int64_t size, const at::TensorOptions& options) {
  if (size < 0) refuse("A tensor of " + std::to_string(size) + " elements was asked for.", "Ask for 0 or more.");
  if (size == 0) return at::empty({0}, options);
  uint64_t bytes = 0;
  if (c10::mul_overflows(static_cast<uint64_t>(size), uint64_t{options.dtype().itemsize()}, &bytes)) {
    refuse("A tensor of " + std::to_string(size) + " elements was asked for.", "Ask for fewer.");
  }
  void* memory = nullptr;
  check(dfcclAllocate(bytes, &memory, world->ctx()), "allocating a tensor of " + std::to_string(bytes) + " bytes");
  const auto giveBack = [world = std::move(world), bytes, process = getpid()](void* given) {
    // A forked child's tensors are its parent's.
    if (process == getpid()) dfcclFree(given, bytes, world->ctx());
  };
  return at::from_blob(memory, {size}, giveBack, options);
}

}  // namespace dfccl_torch
