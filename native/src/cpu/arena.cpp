#include "cpu/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace dfccl {

Arena::Arena(size_t bytes) : capacity_(bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw Error(dfcclOutOfMemory, "The system refused to reserve " + std::to_string(bytes) + " bytes for connectors.",
                "Open the world with a smaller arenaBytes.", {{"bytes", std::to_string(bytes)}});
  }
  base_ = static_cast<uint8_t*>(memory);
}

Arena::~Arena() { munmap(base_, capacity_); }

size_t Arena::sizeClass(size_t bytes) { return std::bit_ceil(std::max<size_t>(bytes, 128)); }

uint8_t* Arena::allocate(size_t bytes) {
  if (bytes > capacity_) refuse(bytes);  // before it is rounded up: there may be no such power of two
  const size_t size = sizeClass(bytes);
  std::vector<uint8_t*>& list = free_[std::countr_zero(size)];
  if (!list.empty()) {
    uint8_t* block = list.back();
    list.pop_back();
    used_ += size;
    std::memset(block, 0, size);
    return block;
  }
  if (capacity_ - top_ < size) refuse(size);
  uint8_t* block = base_ + top_;
  top_ += size;
  used_ += size;
  return block;
}

void Arena::refuse(size_t bytes) const {
  throw Error(
      dfcclOutOfMemory,
      "The arena is full: " + std::to_string(bytes) + " bytes asked for, " + std::to_string(used_) + " of " +
          std::to_string(capacity_) + " in use.",
      "Unregister collectives that are done, or open the world with a larger arenaBytes.",
      {{"bytes", std::to_string(bytes)}, {"used", std::to_string(used_)}, {"capacity", std::to_string(capacity_)}});
}

void Arena::free(uint8_t* block, size_t bytes) {
  if (block == nullptr) return;
  const size_t size = sizeClass(bytes);
  used_ -= size;
  free_[std::countr_zero(size)].push_back(block);
}

}  // namespace dfccl
