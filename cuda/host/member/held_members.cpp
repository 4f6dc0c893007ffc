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
  if (!kept_.empty()) new std::vector<std::shared_ptr<PinnedMemory>>(std::move(kept_));
}

std::unique_ptr<PinnedMemory> HeldMembers::makeNotes() {
  const RelaxedCapture relaxed;
  return std::make_unique<PinnedMemory>(kNotesOfChunk * sizeof(CapturedNotes));
}

void HeldMembers::add(std::unique_ptr<PinnedMemory> notes) {
  chunks_.push_back(std::move(notes));
  // Each begins at a multiple of what PinnedMemory aligns to.
  for (size_t i = 0; i < kNotesOfChunk; ++i) {
    unused_.push_back(reinterpret_cast<CapturedNotes*>(chunks_.back()->take(sizeof(CapturedNotes))));
  }
}

CapturedNotes& HeldMembers::takeNotes() {
  CapturedNotes* const notes = unused_.back();
  unused_.pop_back();
  return *new (notes) CapturedNotes{};
}

void HeldMembers::giveBack(std::shared_ptr<CapturedMember> member, CapturedNotes& notes, std::function<void()> free) {
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
