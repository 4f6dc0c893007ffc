#include "nccl_api/universe/scratch.hpp"

#include <bit>

#include "nccl_api/universe/failure.hpp"

namespace dfccl::nccl {
namespace {

constexpr size_t kLeast = 64 << 10;

}  // namespace

std::shared_ptr<void> Scratch::take(int rank, dfcclRankCtx_t context, size_t bytes) {
  const size_t rounded = std::bit_ceil(bytes < kLeast ? kLeast : bytes);
  const auto lend = [this](void* memory) {
    return std::shared_ptr<void>(memory, [this](const void* given) { giveBack(given); });
  };
  {
    const std::lock_guard lock(mutex_);
    for (Piece& piece : pieces_) {
      if (piece.isTaken || piece.rank != rank || piece.bytes != rounded) continue;
      piece.isTaken = true;
      return lend(piece.memory);
    }
  }
  void* memory = nullptr;
  check(dfcclAllocate(rounded, &memory, context));
  const std::lock_guard lock(mutex_);
  pieces_.push_back({rank, rounded, memory, true});
  return lend(memory);
}

void Scratch::giveBack(const void* memory) {
  const std::lock_guard lock(mutex_);
  for (Piece& piece : pieces_) {
    if (piece.memory == memory) piece.isTaken = false;
  }
}

void Scratch::clear(const std::vector<dfcclRankCtx_t>& contexts) {
  const std::lock_guard lock(mutex_);
  for (const Piece& piece : pieces_) dfcclFree(piece.memory, piece.bytes, contexts[static_cast<size_t>(piece.rank)]);
  pieces_.clear();
}

}  // namespace dfccl::nccl
