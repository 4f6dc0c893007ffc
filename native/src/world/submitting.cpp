#include "world/submitting.hpp"

#include <string>

#include "base/error.hpp"

namespace dfccl {

void askAboutMemory(Backend& backend, uint32_t rank, uint32_t index, const RunShape& shape, KnownBuffers& known,
                    const void* send, const void* recv) {
  backend.checkHealth(rank);
  const RunMemory memory = backend.checkMemory(rank, backend.specOf(rank, index), shape, send, recv);
  known.send.remember(memory.send);
  known.recv.remember(memory.recv);
}

RunWindows nameWindows(Backend& backend, uint32_t rank, const RunShape& shape, const void*& send, void*& recv) {
  const RunWindows windows = backend.windowsOf(rank, shape, send, recv);
  if (windows.send == 0) send = nullptr;
  if (windows.recv == 0) recv = nullptr;
  return windows;
}

void refuseSubmission(Backend& backend, uint32_t rank, uint32_t slot) {
  const std::string number = std::to_string(rank);
  if (slot == RankQueues::kNoMemory) {
    throw Error(dfcclOutOfMemory,
                "Rank " + number + " has " + std::to_string(backend.queues(rank).waiting()) +
                    " runs that wait for their turn, and there is no memory for another.",
                "Wait for some of them (dfcclWait, dfcclPoll) before you submit more.", {{"rank", number}});
  }
  if (backend.isInOrder()) {
    throw Error(dfcclQueueFull,
                "Rank " + number + " has as many runs queued or in flight as its queues hold, in a world that keeps " +
                    "the order of submission.",
                "Try again after a completion (dfcclPoll, dfcclWait), or open the world with more slots.",
                {{"rank", number}});
  }
  throw Error(dfcclQueueFull, "Rank " + number + " has runs on their way on as many streams as there can be.",
              "Try again after a completion (dfcclPoll, dfcclWait), or use fewer streams.", {{"rank", number}});
}

}  // namespace dfccl
