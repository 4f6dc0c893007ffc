#pragma once
// Mailboxes of members that are other processes with addresses of their own: what they hold is known once this process
// has mapped it, and until then the run waits, as it does for a member that hasn't come.
#include <cstdint>

#include "daemon/state/records.hpp"

namespace dfccl {

class NamedMailboxes {
 public:
  /// As a platform's lookForMailboxes. @pre places.windows
  /// @param isOwn nobody else writes to the copy of what is known, so that it can be gone by from run to run.
  DFCCL_HD static uint32_t look(const MeetingPlaces& places, uint64_t run, uint32_t known, Order o, bool isOwn) {
    // Several members at once, because a look is a trip to memory. The counts are fixed, so that what was read can stay
    // in registers.
    while (known < places.members) {
      Words words[kAtOnce];
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        const uint32_t member = known + i < places.members ? known + i : places.members - 1;
        words[i] = {places.mailboxes[member].input.load(o), places.mailboxes[member].output.load(o)};
      }
      const uint32_t first = known;
      for (uint32_t i = 0; i < kAtOnce; ++i) {
        if (known != first + i || known == places.members) continue;
        if (!Mailbox::isOfRun(words[i].input, run) || !Mailbox::isOfRun(words[i].output, run)) continue;
        if (translate(places, known, words[i], run, isOwn)) ++known;
      }
      if (known != first + kAtOnce) return known;
    }
    return known;
  }

  /// After the nearer copy was lost: what look() has found before.
  DFCCL_HD static void recall(const MeetingPlaces& places, bool isOwn) {
    for (uint32_t m = 0; m < places.members; ++m) {
      const Mailbox& box = places.mailboxes[m];
      const Words words{box.input.load(order::relaxed), box.output.load(order::relaxed)};
      translate(places, m, words, Mailbox::runOf(words.input), isOwn);
    }
  }

 private:
  static constexpr uint32_t kAtOnce = 4;

  struct Words {
    uint64_t input, output;
  };

  /// Puts what a member has published into the nearer copy, with addresses of this process. Buffers are mostly those of
  /// the run before, and their names never mean anything else, so the tables need not be asked again.
  /// @return false if this process doesn't know where it sees them yet.
  DFCCL_HD static bool translate(const MeetingPlaces& places, uint32_t member, const Words& words, uint64_t run,
                                 bool isOwn) {
    Mailbox& known = places.knownMailboxes[member];
    const Words names{Mailbox::address(words.input), Mailbox::address(words.output)};
    uint64_t input = Mailbox::address(known.input.load(order::relaxed));
    uint64_t output = Mailbox::address(known.output.load(order::relaxed));
    const bool isSame =
        known.inputName.load(order::relaxed) == names.input && known.outputName.load(order::relaxed) == names.output;
    if (!isOwn || !isSame) {
      const windows::Table table = places.windows[member];
      // Both at once: each is a trip to memory. A member of this process has no table.
      const uint64_t inputBase = table == nullptr ? windows::kUnused : windows::baseSeen(table, names.input);
      const uint64_t outputBase = table == nullptr ? windows::kUnused : windows::baseSeen(table, names.output);
      if (inputBase == 0 || outputBase == 0) return false;
      input = table == nullptr ? names.input : windows::seenAt(inputBase, names.input);
      output = table == nullptr ? names.output : windows::seenAt(outputBase, names.output);
      known.inputName.store(names.input, order::relaxed);
      known.outputName.store(names.output, order::relaxed);
    }
    known.publish(input, output, run, order::relaxed);
    return true;
  }
};

}  // namespace dfccl
