#include "host/member/held_members.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "host/driver/relaxed_capture.hpp"
#include "host/driver/stream_memory.hpp"

namespace dfccl::gpu {

/// A graph may be launched whenever its owner likes, so what its runs look at stays, then, as long as the process.
HeldMembers::~HeldMembers() {
  if (held_.empty()) return;
  for (auto& chunk : chunks_) static_cast<void>(chunk.release());
}

CapturedNotes& HeldMembers::takeNotes() {
  if (unused_.empty()) {
    const RelaxedCapture relaxed;
    chunks_.push_back(std::make_unique<PinnedMemory>(kNotesOfChunk * sizeof(CapturedNotes)));
    // Each begins at a multiple of what PinnedMemory aligns to.
    for (size_t i = 0; i < kNotesOfChunk; ++i) {
      unused_.push_back(reinterpret_cast<CapturedNotes*>(chunks_.back()->take(sizeof(CapturedNotes))));
    }
  }
  CapturedNotes* const notes = unused_.back();
  unused_.pop_back();
  return *new (notes) CapturedNotes{};
}

void HeldMembers::giveBack(std::unique_ptr<CapturedMember> member, CapturedNotes& notes, std::function<void()> free) {
  std::erase(there_, member.get());
  held_.push_back({std::move(member), &notes, std::move(free)});
  sweep();
}

bool HeldMembers::sweep() {
  std::erase_if(held_, [&](const Held& held) {
    if (held.member->isHeld()) return false;
    held.free();
    endedBefore_ += held.member->ended();
    unused_.push_back(held.notes);
    return true;
  });
  return !held_.empty();
}

uint64_t HeldMembers::ended() const {
  uint64_t ended = endedBefore_;
  for (const CapturedMember* member : there_) ended += member->ended();
  for (const Held& held : held_) ended += held.member->ended();
  return ended;
}

void HeldMembers::end(cudaStream_t stream) {
  const auto endOne = [&](CapturedMember& member) {
    member.end();
    try {
      storeOnStream(stream, member.mustEndOnDevice(), 1);
    } catch (const Error&) {  // of a device that is broken, which launches nothing more
    }
  };
  for (CapturedMember* member : there_) endOne(*member);
  for (const Held& held : held_) endOne(*held.member);
}

}  // namespace dfccl::gpu
