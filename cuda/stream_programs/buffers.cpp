#include "stream_programs/buffers.hpp"

#include <bit>

#include "stream_programs/cuda_calls.hpp"

namespace dfccl::gpu::programs {
namespace {

constexpr size_t kMostDecoys = 8;

}  // namespace

// What is left goes with the process, which ends then: freeing it all would only wait.
Buffers::~Buffers() = default;

void* Buffers::take(size_t bytes, BufferKind place, cudaStream_t stream) {
  if (bytes == 0) return nullptr;
  // Few sizes, so that buffers serve again; new ones have the size that is asked for.
  const bool isKept = place == BufferKind::kept || place == BufferKind::pinned;
  if (isKept) bytes = std::bit_ceil(bytes < 256 ? size_t{256} : bytes);
  void* memory = nullptr;
  if (auto& free = kept_[{place, bytes}]; isKept && !free.empty()) {
    memory = free.back();
    free.pop_back();
  } else if (place == BufferKind::pool) {
    PROGRAMS_CUDA(cudaMallocAsync(&memory, bytes, stream));
  } else if (place == BufferKind::pinned) {
    PROGRAMS_CUDA(cudaMallocHost(&memory, bytes));
  } else {
    PROGRAMS_CUDA(cudaMalloc(&memory, bytes));
  }
  taken_.push_back({memory, bytes, place});
  return memory;
}

void Buffers::giveAllBack(cudaStream_t stream) {
  for (const Piece& piece : taken_) {
    if (piece.place == BufferKind::pool) {
      PROGRAMS_CUDA(cudaFreeAsync(piece.memory, stream));
    } else if (piece.place == BufferKind::fresh) {
      PROGRAMS_CUDA(cudaFree(piece.memory));
    } else {
      kept_[{piece.place, piece.bytes}].push_back(piece.memory);
    }
  }
  taken_.clear();
}

void Buffers::addDecoy(size_t bytes) {
  if (decoys_.size() == kMostDecoys) return;
  decoys_.push_back(nullptr);
  PROGRAMS_CUDA(cudaMalloc(&decoys_.back(), bytes));
}

void Buffers::freeDecoy() {
  if (decoys_.empty()) addDecoy(4096);
  void* const memory = decoys_.back();
  decoys_.pop_back();
  PROGRAMS_CUDA(cudaFree(memory));
}

void Buffers::addHostDecoy(size_t bytes) {
  if (hostDecoys_.size() == kMostDecoys) return;
  hostDecoys_.push_back(nullptr);
  PROGRAMS_CUDA(cudaMallocHost(&hostDecoys_.back(), bytes));
}

void Buffers::freeHostDecoy() {
  if (hostDecoys_.empty()) addHostDecoy(4096);
  void* const memory = hostDecoys_.back();
  hostDecoys_.pop_back();
  PROGRAMS_CUDA(cudaFreeHost(memory));
}

}  // namespace dfccl::gpu::programs
