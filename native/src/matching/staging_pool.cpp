#include "matching/staging_pool.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "world/backend.hpp"

namespace dfccl {
namespace {

constexpr uint32_t kLeastClass = 12;  // a page

}  // namespace

Staged StagingPool::take(uint64_t bytes) {
  const uint32_t sizeClass = std::max(kLeastClass, static_cast<uint32_t>(std::bit_width(bytes - 1)));
  {
    const std::lock_guard lock(mutex_);
    std::vector<void*>& unused = unused_[sizeClass];
    if (!unused.empty()) {
      const Staged piece{unused.back(), sizeClass};
      unused.pop_back();
      return piece;
    }
  }
  try {
    return {backend_.allocate(rank_, size_t{1} << sizeClass), sizeClass};
  } catch (const Error& error) {
    if (error.status() != dfcclOutOfMemory) throw;
  }
  freeUnused();
  return {backend_.allocate(rank_, size_t{1} << sizeClass), sizeClass};
}

void StagingPool::giveBack(Staged& piece) {
  if (piece.memory == nullptr) return;
  const std::lock_guard lock(mutex_);
  unused_[piece.sizeClass].push_back(piece.memory);
  piece = {};
}

void StagingPool::setAside(Staged& piece, uint64_t registration) {
  const std::lock_guard lock(mutex_);
  if (ended_.contains(registration)) {
    unused_[piece.sizeClass].push_back(piece.memory);
  } else {
    aside_.emplace(registration, piece);
    asideCount_.store(aside_.size(), order::relaxed);
  }
  piece = {};
}

void StagingPool::endQuarantine(uint64_t registration) {
  const std::lock_guard lock(mutex_);
  ended_.insert(registration);
  const auto [begin, end] = aside_.equal_range(registration);
  for (auto at = begin; at != end; ++at) unused_[at->second.sizeClass].push_back(at->second.memory);
  aside_.erase(begin, end);
  asideCount_.store(aside_.size(), order::relaxed);
}

void StagingPool::freeUnused() {
  const std::lock_guard lock(mutex_);
  for (uint32_t c = 0; c < kClasses; ++c) {
    for (void* memory : unused_[c]) backend_.free(rank_, memory, size_t{1} << c);
    unused_[c].clear();
  }
}

}  // namespace dfccl
