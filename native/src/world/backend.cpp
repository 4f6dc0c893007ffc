#include "world/backend.hpp"

#include <cstring>
#include <numeric>
#include <string>

#include "base/error.hpp"

namespace dfccl {

uint64_t Backend::residentStay(uint32_t rank) {
  Residency& residency = memory(rank).residency;
  return residency.resident.load(order::seqCst) == 0 ? 0 : residency.launches.load(order::seqCst);
}

bool Backend::isStayOver(uint32_t rank, uint64_t stay) {
  Residency& residency = memory(rank).residency;
  return residency.resident.load(order::seqCst) == 0 || residency.launches.load(order::seqCst) != stay;
}

void Backend::copyIn(uint32_t, void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void Backend::copyOut(uint32_t, void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }

std::optional<std::vector<uint32_t>> Backend::agreeOnSurvivors() {
  // The ranks of one process end together.
  std::vector<uint32_t> all(size());
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

namespace {
[[noreturn]] void refuseStream(uint32_t rank) {
  throw Error(dfcclUnavailable, "Rank " + std::to_string(rank) + " is on a CPU, where there are no streams.",
              "Open the world with the backend of GPUs, or run and wait without a stream.",
              {{"rank", std::to_string(rank)}});
}
}  // namespace

std::unique_ptr<Backend::EnteredStream> Backend::enterStream(uint32_t rank, void*) { refuseStream(rank); }
uint32_t Backend::submitOnStream(uint32_t rank, uint32_t index, const void* send, void* recv, void* stream,
                                 RunCallback callback, void* argument, RunWindows windows) {
  const std::unique_ptr<EnteredStream> entered = enterStream(rank, stream);
  if (!entered) return RankQueues::kFull;
  const uint32_t slot = entered->submit(index, send, recv, callback, argument, windows);
  if (RankQueues::isTaken(slot)) entered->arrive();
  return slot;
}
void Backend::waitOnStream(uint32_t rank, uint32_t, void*, uint64_t) { refuseStream(rank); }
CapturedPlace Backend::captureRun(uint32_t rank, uint32_t, const void*, void*, void*) { refuseStream(rank); }
void Backend::letGraphWait(uint32_t rank, const CapturedPlace&, void*) { refuseStream(rank); }
std::unique_ptr<Backend::Launches> Backend::beginLaunches() { refuseStream(0); }
uint64_t Backend::idOfStream(uint32_t rank, void*) { refuseStream(rank); }
void Backend::waitForLaunched(uint32_t rank, uint32_t, const PlaceInStream&, void*) { refuseStream(rank); }

}  // namespace dfccl
