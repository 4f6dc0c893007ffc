#pragma once
// How the members of a large run that is a kernel of its own meet and part, a lane at a time, so that each may move
// from and to the others' buffers, which lie where the callers have them.
//
//   publish       where this member's buffers are, to each of the others
//   look          until all others have. Is one of the buffers out of some process's reach, they all go by tiles
//   claim         to each other one that from now on its buffers are touched ...
//   isTakenBack   ... unless that one has taken them back meanwhile
//   over          to each other one that its buffers are touched no more; the lane is done when all have said so
//
// A member that has to end takes its buffers back, and waits for those who had claimed them: with either's word before
// its look at the other's, in one order that all see, one of them sees the other's. So nobody touches the buffers of a
// run that its caller was told is over.
#include "daemon/state/records.hpp"
#include "device/captured/captured_run.cuh"

namespace dfccl::gpu {

/// A member's, as this one sees them.
struct DirectBuffers {
  uint64_t send, recv;
};

class DirectLane {
 public:
  enum class Come { notYet, outOfReach, here };
  enum Said : uint64_t { claimed = 1, over = 2, takenBack = 3 };

  /// @param number of the run, over all of the lane's.
  DFCCL_HD DirectLane(const CapturedRun& run, const CapturedMembers& members, uint32_t lane, uint32_t number)
      : run_(run), members_(members), lane_(lane), number_(number) {}

  /// What its buffers hold was written by kernels before this one, whose end has brought it where others read it.
  DFCCL_HD void publish(uint32_t to) const {
    DirectPost& post = postTo(to);
    post.input.store(Mailbox::pack(named(run_.send, run_.sendWindow), number_), order::relaxed);
    post.output.store(Mailbox::pack(named(run_.recv, run_.recvWindow), number_), order::relaxed);
    post.renewals.store(Mailbox::pack(run_.renewals, number_), order::relaxed);
  }

  /// @param found where the member's buffers are, if it is here.
  DFCCL_HD Come look(uint32_t member, DirectBuffers& found) const {
    if (member == run_.member) {
      found = {reinterpret_cast<uint64_t>(run_.send), reinterpret_cast<uint64_t>(run_.recv)};
      const bool isOut = run_.sendWindow == windows::kUnmapped || run_.recvWindow == windows::kUnmapped;
      return isOut ? Come::outOfReach : Come::here;
    }
    const DirectPost& post = postOf(member);
    const uint64_t input = post.input.load(order::relaxed), output = post.output.load(order::relaxed);
    const uint64_t renewals = post.renewals.load(order::relaxed);
    if (!Mailbox::isOfRun(input, number_) || !Mailbox::isOfRun(output, number_)) return Come::notYet;
    if (!Mailbox::isOfRun(renewals, number_)) return Come::notYet;
    found = {Mailbox::address(input), Mailbox::address(output)};
    if (windows::isUnmapped(found.send) || windows::isUnmapped(found.recv)) return Come::outOfReach;
    const windows::Table table = members_.windows[member];
    if (table == nullptr) return Come::here;
    const uint64_t send = run_.known->baseSeen(table, found.send, Mailbox::address(renewals));
    const uint64_t recv = run_.known->baseSeen(table, found.recv, Mailbox::address(renewals));
    found = {windows::seenAt(send, found.send), windows::seenAt(recv, found.recv)};
    return send == 0 || recv == 0 ? Come::notYet : Come::here;
  }

  DFCCL_HD void say(uint32_t to, Said what, Order o) const { postTo(to).said.store(wordOf(what), o); }
  DFCCL_HD bool hasSaid(uint32_t member, Said what, Order o) const {
    return postOf(member).said.load(o) == wordOf(what);
  }
  /// Whoever has ended this run may have said something of a later one since.
  DFCCL_HD bool isTakenBack(uint32_t member, Order o) const {
    constexpr uint64_t kNumbers = uint64_t{1} << 31;
    const uint64_t word = postOf(member).said.load(o);
    const uint64_t ahead = ((word >> 2) - (uint64_t{number_} + 1)) % kNumbers;
    return word == wordOf(takenBack) || (word != 0 && ahead != 0 && ahead < kNumbers / 2);
  }

 private:
  /// Where there are no windows, kUnmapped makes what is no address of any program's.
  DFCCL_HD static uint64_t named(const void* buffer, uint16_t window) {
    return windows::named(reinterpret_cast<uint64_t>(buffer), window);
  }

  DFCCL_HD uint64_t wordOf(Said what) const { return (uint64_t{number_} + 1) << 2 | what; }
  DFCCL_HD DirectPost& postTo(uint32_t to) const { return postsAt(to)[run_.member]; }
  DFCCL_HD DirectPost& postOf(uint32_t member) const { return postsAt(run_.member)[member]; }
  /// Two sets, in turn: a member may have gone on to the next run before another has looked at this one's.
  DFCCL_HD DirectPost* postsAt(uint32_t member) const {
    const uint64_t set = (number_ % 2 * run_.layout.lanes + lane_) * uint64_t{run_.members};
    const uint64_t slots = run_.layout.slotsBytes(member, run_.members, run_.root);
    return reinterpret_cast<DirectPost*>(members_.landings[member] + slots) + set;
  }

  const CapturedRun& run_;
  const CapturedMembers& members_;
  const uint32_t lane_;
  const uint32_t number_;
};

}  // namespace dfccl::gpu
