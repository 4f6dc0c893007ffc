#pragma once
// Mailboxes of members that are other processes with addresses of their own: what they hold is known once this process
// has mapped it, and until then the run waits, as it does for a member that hasn't come.
#include <cstdint>

#include "dfccl/daemon/records.hpp"

namespace dfccl {

class NamedMailboxes {
 public:
  /// As a platform's lookForMailboxes. @pre places.windows
  DFCCL_HD static uint32_t look(const MeetingPlaces& places, uint64_t run, uint32_t known, Order o) {
    // Several members at once: what each has published, and then where that is seen, are trips to memory.
    while (known < places.members) {
      Seen seen[kAtOnce];
      uint32_t words = 0;
      for (; words < kAtOnce && known + words < places.members; ++words) {
        const Mailbox& box = places.mailboxes[known + words];
        seen[words] = {box.input.load(o), box.output.load(o)};
      }
      for (uint32_t i = 0; i < words; ++i) seen[i] = seenBy(places.windows[known + i], run, seen[i]);
      for (uint32_t i = 0; i < words; ++i, ++known) {
        if (seen[i].input == 0 || seen[i].output == 0) return known;
        places.knownMailboxes[known].input.store(seen[i].input, order::relaxed);
        places.knownMailboxes[known].output.store(seen[i].output, order::relaxed);
      }
    }
    return known;
  }

  /// After the nearer copy was lost: what look() has found before.
  DFCCL_HD static void recall(const MeetingPlaces& places) {
    for (uint32_t m = 0; m < places.members; ++m) {
      const Mailbox& box = places.mailboxes[m];
      const Seen seen{box.input.load(order::relaxed), box.output.load(order::relaxed)};
      const Seen here = seenBy(places.windows[m], Mailbox::runOf(seen.input), seen);
      places.knownMailboxes[m].input.store(here.input, order::relaxed);
      places.knownMailboxes[m].output.store(here.output, order::relaxed);
    }
  }

 private:
  static constexpr uint32_t kAtOnce = 4;

  struct Seen {
    uint64_t input, output;
  };

  /// @return words with addresses of this process; 0 where one isn't of this run, or not known here yet.
  DFCCL_HD static Seen seenBy(windows::Table table, uint64_t run, const Seen& named) {
    return {seenBy(table, run, named.input), seenBy(table, run, named.output)};
  }
  DFCCL_HD static uint64_t seenBy(windows::Table table, uint64_t run, uint64_t word) {
    if (!Mailbox::isOfRun(word, run) || table == nullptr) return Mailbox::isOfRun(word, run) ? word : 0;
    const uint64_t address = windows::seen(table, Mailbox::address(word));
    return address == 0 ? 0 : Mailbox::pack(address, run);
  }
};

}  // namespace dfccl
