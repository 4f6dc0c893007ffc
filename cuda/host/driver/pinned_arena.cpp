#include "host/driver/pinned_arena.hpp"

#include <bit>
#include <cstring>
#include <string>

namespace dfccl::gpu {
namespace {

size_t pinnedSize(size_t bytes) { return std::bit_ceil(bytes < 128 ? size_t{128} : bytes); }

}  // namespace

uint8_t* PinnedArena::allocate(size_t bytes) {
  const size_t size = pinnedSize(bytes);
  std::vector<uint8_t*>& idle = idle_[size];
  if (!idle.empty()) {
    uint8_t* const block = idle.back();
    idle.pop_back();
    used_ += size;
    return block;
  }
  if (capacity_ - top_ < size) {
    throw Error(
        dfcclOutOfMemory,
        "Of the host's memory for what goes to other machines, " + std::to_string(used_) + " of " +
            std::to_string(capacity_) + " bytes are used, and " + std::to_string(size) + " more don't fit.",
        "Unregister collectives that are done; or open the world with a larger arena, of which it is half, up to "
        "512 MiB.",
        {{"bytes", std::to_string(size)}, {"used", std::to_string(used_)}});
  }
  uint8_t* const block = memory_.take(size);
  top_ += size;
  used_ += size;
  return block;
}

void PinnedArena::free(uint8_t* block, size_t bytes) {
  const size_t size = pinnedSize(bytes);
  std::memset(block, 0, size);
  used_ -= size;
  idle_[size].push_back(block);
}

}  // namespace dfccl::gpu
