#include "host/member/captured_home.hpp"

#include <new>

#include "host/driver/check.hpp"

namespace dfccl::gpu {

CapturedHomes::CapturedHomes() : memory_(kMembers * sizeof(CapturedNotes)) {
  try {
    for (size_t i = 0; i < kMembers; ++i) {
      // Each begins at a multiple of what PinnedMemory aligns to.
      auto* const notes = new (memory_.take(sizeof(CapturedNotes))) CapturedNotes{};
      cudaEvent_t over = nullptr;
      DFCCL_CUDA(cudaEventCreateWithFlags(&over, cudaEventDisableTiming));
      homes_.push_back({notes, over});
    }
  } catch (...) {
    free();
    throw;
  }
}

CapturedHomes::~CapturedHomes() { free(); }

void CapturedHomes::free() {
  for (const CapturedHome& home : homes_) cudaEventDestroy(home.over);
}

}  // namespace dfccl::gpu
