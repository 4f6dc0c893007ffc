#include "nccl_api/calls/agreed_in_streams.hpp"

#include <algorithm>

namespace dfccl::nccl {
namespace {

bool shareDevice(const Arrival& a, const Arrival& b) {
  return a.device >= 0 && a.device == b.device && a.process == b.process;
}

/// Whether a rank's kernels may wait in streams. They keep other streams of their hardware queue waiting, those of
/// ranks that they wait for, too, where they are on the same device: with as many queues as there can be, streams have
/// one each. And each queue's needs room on the device, beside the daemons of all ranks there.
/// @param areOpen the daemons of these ranks are there already
bool haveRoomInStreams(const Arrival& one, const std::vector<Arrival>& all, bool areOpen) {
  constexpr uint32_t kFewestQueues = 4, kFewestOfShared = 32, kUsualBlocks = 17;
  uint32_t sharing = 0, blocks = 0;
  for (const Arrival& other : all) {
    if (&other != &one && !shareDevice(one, other)) continue;
    ++sharing;
    if (!areOpen) blocks += other.mostBlocks == 0 ? kUsualBlocks : other.mostBlocks;
  }
  const uint32_t fewest = sharing > 1 ? kFewestOfShared : kFewestQueues;
  return one.hardwareQueues >= fewest && one.roomForRuns >= blocks + one.hardwareQueues;
}

}  // namespace

InStreams agreedInStreams(const std::vector<Arrival>& all, bool areOpen) {
  uint64_t most = ~uint64_t{0};
  uint32_t blocks = 0;
  for (const Arrival& one : all) {
    most = std::min(most, haveRoomInStreams(one, all, areOpen) ? one.mostBytesInStreams : 0);
    if (one.mostBlocksInStreams != 0 && (blocks == 0 || one.mostBlocksInStreams < blocks)) {
      blocks = one.mostBlocksInStreams;
    }
  }
  return {most, static_cast<int>(blocks)};
}

}  // namespace dfccl::nccl
