#pragma once
// How a communicator comes to be, from a unique id or from another communicator: its ranks meet, and find a world.
#include <memory>
#include <optional>
#include <vector>

#include "nccl_api/calls/communicator.hpp"

namespace dfccl::nccl {

/// One rank's part in it. Waits for the others, in a thread of its own where several are made at once.
struct Making {
  std::shared_ptr<Communicator> made;  // null: of a split that the rank is in no part of
  ncclComm_t handle = nullptr;         // of `made`
  ncclComm_t* given = nullptr;         // where the caller was given it, and nothing once it fails
  Name meeting;
  std::optional<Reach> elsewhere;        // where the ranks meet, if that isn't on this machine
  int ranks = 0, rank = 0;               // of the meeting
  std::shared_ptr<Communicator> parent;  // of a split or of what is shrunk
  std::shared_ptr<Communicator> former;  // of what has grown
  int color = 0, key = 0;                // of a split
  std::vector<int> kept;                 // of what is shrunk: the parent's ranks that are left
  std::optional<ncclUniqueId> realId;    // the id is another NCCL's: so is what is made
  const char* function = "ncclCommInitRank";
  bool isBlocking = true;
  std::shared_ptr<Atomic<uint32_t>> isGivenUp;  // by others that it is made together with; may be null

  /// Of a communicator whose handle the caller has from now on in `comm`.
  static Making prepare(ncclComm_t* comm, const Name& meeting, int ranks, int rank, int device, const Config& config);
  /// @return ncclSuccess, or what went wrong, which ncclGetLastError tells then; the communicator knows as well.
  ncclResult_t run() noexcept;
  /// In its place, where no thread could be had for it. @param why that is. @return as run()
  ncclResult_t giveUp(const char* why) noexcept;
  /// Those that wait for this rank, or will, where it has failed and doesn't come to the meeting that is next.
  void tellOthersOfGivingUp() const noexcept;
  /// In its place, where it is not to be made any more: the communicator fails. @param why other than ncclSuccess
  void drop(ncclResult_t why) noexcept {
    end(why);
    tellOthersOfGivingUp();
  }

 private:
  void make();
  std::vector<Arrival> meetOthers(uint64_t step, const Arrival& own);
  void fallBack(const std::vector<Arrival>& all);
  bool isCancelled() const;
  ncclResult_t end(ncclResult_t result) noexcept;
  void makeReal(const ncclUniqueId& id);

  std::optional<uint64_t> nextMeeting_ = 0;  // that this rank has yet to come to
};

/// @throws Failure ncclUnhandledCudaError where no GPU can be used, with the reason.
void requireGpu();
/// @return the calling thread's. @throws Failure
int currentDevice();
/// @throws Failure ncclInvalidArgument: such a communicator can't be, or the rank is not in it.
void checkRank(int ranks, int rank);

}  // namespace dfccl::nccl
