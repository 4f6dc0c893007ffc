#pragma once
// How the members of a run that touches their buffers meet and part: each tells the others where its buffers are, and
// at the end that it is done with theirs.
#include <cstdint>

#include "daemon/state/records.hpp"

namespace dfccl {

template <class P>
struct Meeting {
  DFCCL_HD DFCCL_HOT static void publishBuffers(const MeetingPlaces& places, uint32_t member, const RunAddresses& run) {
    for (uint32_t copy = 0; copy < places.copyCount; ++copy) {
      places.mailboxCopies[copy][member].publish(run.publishedSend(), run.publishedRecv(), run.run, P::kPublishOrder);
    }
  }

  /// Whether some member's buffer is one that not all have mapped. All read the same names, so they come to the same
  /// answer. @pre The names of all members are there.
  DFCCL_HD static bool isAnyUnmapped(const MeetingPlaces& places) {
    for (uint32_t m = 0; m < places.members; ++m) {
      const Mailbox& known = places.knownMailboxes[m];
      if (windows::isUnmapped(known.inputName.load(order::relaxed))) return true;
      if (windows::isUnmapped(known.outputName.load(order::relaxed))) return true;
    }
    return false;
  }

  /// Whether a run goes through connectors: then no block begins it before what another one has done with them.
  /// @pre The names of all members are there.
  DFCCL_HD static bool isToStage(const CollectiveRecord& collective, const MeetingPlaces& places) {
    return collective.staged != nullptr && isStaged(places);
  }

  DFCCL_HD DFCCL_COLD static bool isStaged(const MeetingPlaces& places) {
    if (!isAnyUnmapped(places)) return false;
    P::acquireEntry();
    return true;
  }

  /// @return whether all members are done with the others' buffers in run `run`; P::finishAccess says so for this one.
  DFCCL_HD DFCCL_HOT static bool isAccessOver(P& platform, const CollectiveRecord& collective,
                                              const MeetingPlaces& places, uint64_t run) {
    const uint64_t everybody = (run + 1) * places.members;
    const Atomic<uint64_t>& finished = collective.shared->finishedAccess;
    if (!platform.poll([&] { return finished.load(P::kLook) >= everybody; })) return false;
    P::found(finished);
    return true;
  }
};

}  // namespace dfccl
