// Processes that use several devices each, one after the other.
#include "nccl_api/test/processes.hpp"

using namespace dfccl::nccl::test;

// The second was placed in the first one's world, whose ranks are on other devices: its buffers were refused.
TEST_CASE("processes make a second communicator on other devices") {
  constexpr uint32_t kRanks = 2;
  onProcesses(kRanks, 3, [&](uint32_t rank, const std::vector<ncclUniqueId>& ids) -> int {
    const auto first = static_cast<int>(rank), second = static_cast<int>(rank + kRanks);
    EXPECT(deviceCount() > second);
    ncclComm_t comms[3] = {};
    for (size_t i = 0; i < 3; ++i) {
      const int device = i == 1 ? second : first;
      cudaSetDevice(device);
      const RankStream stream;
      OK(ncclCommInitRank(&comms[i], kRanks, ids[i], first));
      int found = -1;
      OK(ncclCommCuDevice(comms[i], &found));
      EXPECT(found == device);
      EXPECT(sumOnes(comms[i], stream, 100) == kFine);
    }
    for (const ncclComm_t comm : comms) OK(ncclCommDestroy(comm));
    return kFine;
  });
}
