#pragma once
// What a rank and the process that made its unique id tell each other over a network, as bytes of one version.
#include "nccl_api/universe/arrivals.hpp"

namespace dfccl::nccl {

/// A rank comes to a meeting.
struct Request {
  static constexpr uint64_t kMagic = 0x3176636c63636664;  // "dfcclcv1"

  uint64_t magic = kMagic;
  uint64_t arrivalBytes = sizeof(Arrival);  // another version's are others
  Name name;                                // of the id: whoever has it may come
  uint64_t step;                            // which of the meetings that come of it, see meetingOf()
  int32_t ranks, rank;
  Arrival arrival;
};

/// What it gets: all arrivals behind this, or a sentence that says what is wrong.
struct Answer {
  static constexpr int32_t kNotMadeHere = -1;  // another process may be reached at another of the addresses

  int32_t result;  // ncclResult_t, or that
  uint32_t bytes;  // of what follows
};

/// @param step 0: that of the id itself
inline Name meetingOf(const Name& name, uint64_t step) { return step == 0 ? name : name.derived(0, step); }

}  // namespace dfccl::nccl
