// Receives from any member: who has sent is seen in what the engine knows of each member's progress.
#include <utility>

#include "base/error.hpp"
#include "matching/buffer_copies.hpp"
#include "matching/matching.hpp"

namespace dfccl {

thread_local const Matching* Matching::looking_ = nullptr;

bool Matching::lookForSendersOfAny() {
  struct Looking {
    explicit Looking(const Matching* rank) : outer(std::exchange(looking_, rank)) {}
    ~Looking() { looking_ = outer; }
    const Matching* const outer;
  } const looking(this);
  std::vector<RequestPart*> ended;
  bool isAny = false;
  {
    std::unique_lock lock(mutex_);
    for (;;) {
      uint32_t member = 0;
      const std::optional<OpenReceives::Receive> receive = receives_.takeFirst([&](const OpenReceives::Receive& open) {
        member = senderOf(open);
        return member != kNobodyYet;
      });
      if (!receive) break;
      isAny = true;
      if (member != kNobodyLeft && receiveFrom(member, *receive, lock)) {
        receives_.settle(1);
      } else {
        ended.push_back(receive->part);
      }
    }
  }
  for (RequestPart* part : ended) part->end(dfcclAborted);
  receives_.settle(ended.size());
  if (isAny) backend_.ring();
  return isAny;
}

/// The member of the group whose message is the next for a receive. Under the lock.
uint32_t Matching::senderOf(const OpenReceives::Receive& receive) {
  const MatchedGroup& group = *receive.group;
  Signature signature = receive.run.signature;
  uint32_t others = group.size() - 1;
  for (uint32_t i = 1; i <= group.size(); ++i) {
    const uint32_t member = (lastSender_ + i) % group.size();
    signature.root = member;
    const Sent sent = member == group.member ? sentToSelf(signature) : sentBy(signature, receive.group);
    if (sent == Sent::yes) return lastSender_ = member;
    if (sent == Sent::neverAgain) --others;
  }
  return group.size() == 1 || others != 0 ? kNobodyYet : kNobodyLeft;
}

Matching::Sent Matching::sentToSelf(const Signature& signature) const {
  return messages_.hasSend(idOf(signature)) ? Sent::yes : Sent::no;
}

/// Whether it has sent more than this rank receives from it.
Matching::Sent Matching::sentBy(const Signature& signature, const std::shared_ptr<MatchedGroup>& group) {
  try {
    const MatchedCollective& entry = table_.get(signature, group);
    const uint32_t sender = group->ranks[signature.root];
    if (backend_.isAborted(rank_, entry.index)) return Sent::neverAgain;
    const uint64_t received = backend_.queues(rank_).issuedOf(entry.index);
    for (const MemberProgress& member : backend_.explain(rank_, entry.index)) {
      if (member.rank == sender && member.submitted > received) return Sent::yes;
    }
    for (const LostRank& lost : backend_.lostRanks()) {
      if (lost.rank == sender) return Sent::neverAgain;
    }
  } catch (const Error& error) {
    if (error.status() != dfcclOutOfMemory) return Sent::neverAgain;  // there may be room later
  }
  return Sent::no;
}

/// Queues it as a receive from that member. Under the lock, which it keeps, so that nobody else takes the message; for
/// one to itself it has the other half first. @return false: it can't be.
bool Matching::receiveFrom(uint32_t member, const OpenReceives::Receive& receive, std::unique_lock<std::mutex>& lock) {
  MatchedRun run = receive.run;
  run.signature.root = member;
  if (run.source != nullptr) *run.source = static_cast<int>(member);
  try {
    MatchedCollective& entry = table_.get(run.signature, receive.group);
    if (member == receive.group->member) {
      run.kind = RunKind::receiveFromSelf;
      BatchedRun half{this, receive.group, run, receive.part, &entry};
      submitHalf(half, lock);
      return true;
    }
    checkBuffers(entry, nullptr, run.recv);
    const void* nothing = nullptr;
    if (!entry.isReached(run.recv, entry.shape.recvBytes)) {
      bringIntoReach(pool_, entry, nothing, run.recv, *receive.part);
    }
    queue(entry, nothing, run.recv, nullptr, receive.part, lock);
    return true;
  } catch (const Error&) {
    if (run.source != nullptr) *run.source = -1;
    receive.part->giveBackCopies();
    return false;
  }
}

}  // namespace dfccl
