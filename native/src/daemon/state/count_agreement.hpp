#pragma once
// How the members of a run that brings its count agree on it before anything is moved. Each publishes its count and
// arrives; whoever arrives last has all of them before him, and says for everybody what is to be done:
//
//   executed    they agree, and so little is to be moved that he has done it for all
//   apart       they agree, and each does its own part
//   mismatched  they don't: the run is over, and nothing was moved
//
// One word tells the run and the verdict. It stays until the last member has arrived at the next run, which no member
// does before it is done with this one.
#include <cstdint>

#include "daemon/state/records.hpp"

namespace dfccl {

enum class CountVerdict : uint8_t { executed, apart, mismatched };

struct CountAgreement {
  /// Before the member arrives, which releases it.
  DFCCL_HD static void publish(const MeetingPlaces& places, uint32_t member, uint64_t count, uint64_t run) {
    places.mailboxes[member].count.store(Mailbox::pack(count, run), order::relaxed);
  }

  /// @return whether the last member has said what is to be done.
  DFCCL_HD static bool isJudged(const CollectiveShared& shared, uint64_t run, CountVerdict& verdict) {
    const uint64_t word = shared.judgement.load(order::acquire);
    verdict = static_cast<CountVerdict>(word & kVerdictMask);
    return word >> kVerdictBits == run + 1;
  }

  /// Whether all members have published the same count; if not, keeps what each has for whoever asks.
  /// @pre all have arrived.
  DFCCL_HD static bool agree(CollectiveShared& shared, uint64_t run) {
    const uint64_t first = shared.mailboxes[0].count.load(order::relaxed);
    bool isSame = true;
    for (uint32_t m = 1; m < shared.members; ++m) isSame &= shared.mailboxes[m].count.load(order::relaxed) == first;
    if (isSame) return true;
    for (uint32_t m = 0; m < shared.members; ++m) {
      Mailbox& box = shared.mailboxes[m];
      box.mismatchedCount.store(box.count.load(order::relaxed), order::relaxed);
    }
    shared.mismatchedRun.store(run + 1, order::release);
    return false;
  }

  DFCCL_HD static void judge(CollectiveShared& shared, uint64_t run, CountVerdict verdict) {
    // Nobody touches another's buffers in a run that is over with this; the next one counts on from here.
    if (verdict != CountVerdict::apart) shared.finishedAccess.fetchAdd(shared.members, order::relaxed);
    shared.judgement.store((run + 1) << kVerdictBits | static_cast<uint64_t>(verdict), order::release);
  }

 private:
  static constexpr int kVerdictBits = 2;
  static constexpr uint64_t kVerdictMask = (uint64_t{1} << kVerdictBits) - 1;
};

}  // namespace dfccl
