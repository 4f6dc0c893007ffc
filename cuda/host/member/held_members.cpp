#include "host/member/held_members.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "host/driver/stream_memory.hpp"

namespace dfccl::gpu {

/// A graph may be launched whenever its owner likes, so what its runs look at stays, then, as long as the process.
HeldMembers::~HeldMembers() {
  if (held_.empty()) return;
  for (auto& homes : homes_) static_cast<void>(homes.release());
}

void HeldMembers::add(std::unique_ptr<CapturedHomes> homes) {
  unused_.insert(unused_.end(), homes->all().begin(), homes->all().end());
  homes_.push_back(std::move(homes));
}

CapturedHome HeldMembers::takeHome() {
  const CapturedHome home = unused_.back();
  unused_.pop_back();
  new (home.notes) CapturedNotes{};
  return home;
}

void HeldMembers::giveBack(std::shared_ptr<CapturedMember> member, const CapturedHome& home,
                           std::function<void()> free) {
  std::erase(there_, member.get());
  held_.push_back({std::move(member), home, std::move(free)});
  sweep();
}

bool HeldMembers::sweep() {
  std::erase_if(held_, [&](const Held& held) {
    if (held.member->isHeld()) return false;
    held.free();
    endedBefore_ += held.member->ended();
    unused_.push_back(held.home);
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
