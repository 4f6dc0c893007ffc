#pragma once
// What the machines of a world tell each other to agree on the survivors (quorum_agreement.hpp).
#include <cstdint>

#include "processes/rank_set.hpp"

namespace dfccl {

/// Names a proposal of one agreement. Higher is later: a later agreement's, a later round of it, a higher rank's.
using Ballot = uint64_t;

inline constexpr uint32_t kBallotRankBits = 10;
inline constexpr uint32_t kBallotRoundBits = 22;
static_assert(kMaxProcesses == 1u << kBallotRankBits);

inline Ballot ballotOf(uint64_t agreement, uint64_t round, uint32_t rank) {
  return agreement << (kBallotRoundBits + kBallotRankBits) | round << kBallotRankBits | rank;
}
inline uint64_t agreementOf(Ballot ballot) { return ballot >> (kBallotRoundBits + kBallotRankBits); }
inline uint64_t roundOf(Ballot ballot) { return ballot >> kBallotRankBits & ((uint64_t{1} << kBallotRoundBits) - 1); }

enum class VoteKind : uint32_t {
  came,      // to the agreement; ranks: those that the sender has lost
  prepare,   // ballot; ranks: the last agreement's survivors, who vote
  promise,   // ballot: the last that was promised; accepted: of this agreement, 0 where none is, with its ranks
  accept,    // ballot, with its ranks
  accepted,  // ballot: the last that was promised
  decided,   // ranks
};

struct Vote {
  VoteKind kind{};
  uint32_t reserved = 0;
  uint64_t agreement = 0;
  Ballot ballot = 0;
  Ballot accepted = 0;
  RankSet ranks{};
};
static_assert(sizeof(Vote) == 32 + sizeof(RankSet), "it travels as it lies in memory");

}  // namespace dfccl
