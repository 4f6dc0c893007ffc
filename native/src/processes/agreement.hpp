#pragma once
// Which ranks go on after others are gone: one answer for all that ask, whoever dies meanwhile (docs/decisions/0016).
//
//   rank 0          rank 1          rank 2
//   comes to n      comes to n      dies, before or after it came
//   \------- all that live have come: the first to see it writes {0, 1} and n, under the lock -------/
//   reads {0, 1}    reads {0, 1}
//
// Agreements are numbered, and nobody comes to number n + 1 who hasn't read n, so a decision stays until all that live
// have read it. Where the ranks are on several machines, their proxies write it (network/quorum_agreement.hpp).
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "processes/segment.hpp"

namespace dfccl {

class Agreement {
 public:
  /// @param isSpread some ranks are on other machines, so nobody decides by what is seen on this one.
  Agreement(std::shared_ptr<Segment> segment, bool isSpread) : segment_(std::move(segment)), isSpread_(isSpread) {}

  /// Comes to the next agreement, or looks at it again. Any rank may die at any instruction of it.
  /// @return the ranks that go on, ascending; nothing while a rank that lives hasn't come.
  /// @throws Error dfcclAborted where the others have given this rank up; dfcclTimeout as Segment::Lock does.
  std::optional<std::vector<uint32_t>> look();
  /// The ranks of this machine that live and haven't come to it yet.
  std::vector<uint32_t> awaited() const;

 private:
  std::shared_ptr<Segment> segment_;
  bool isSpread_;
  uint64_t reached_ = 0;  // agreements that this rank has had the answer of
};

}  // namespace dfccl
