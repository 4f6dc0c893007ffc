// Communicators made of unique ids.
#include <set>
#include <string>
#include <vector>

#include "functions.hpp"
#include "nccl_api/arguments.hpp"
#include "nccl_api/group_calls.hpp"

namespace dfccl::nccl {
namespace {

ncclResult_t initialize(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank, const ncclConfig_t* config) {
  checkOut(comm, "communicator");
  *comm = nullptr;
  checkRank(ranks, rank);
  const Name name = nameOf(id);
  const Config read = Config::read(config);
  return makeSoon(Making::prepare(comm, name, ranks, rank, currentDevice(), read));
}

}  // namespace

ncclResult_t getUniqueId(ncclUniqueId* id) {
  checkOut(id, "unique id");
  *id = makeUniqueId();
  return ncclSuccess;
}

ncclResult_t commInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return initialize(comm, ranks, id, rank, nullptr);
}

ncclResult_t commInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  return initialize(comm, ranks, id, rank, config);
}

ncclResult_t commInitRankScalable(ncclComm_t* comm, int ranks, int rank, int idCount, ncclUniqueId* ids,
                                  ncclConfig_t* config) {
  if (ids == nullptr || idCount < 1) {
    refuseArgument("There are " + std::to_string(idCount) + " unique ids.",
                   "Pass at least one, the same on all ranks.");
  }
  return initialize(comm, ranks, ids[0], rank, config);
}

ncclResult_t commInitAll(ncclComm_t* comms, int count, const int* devices) {
  checkOut(comms, "list of communicators");
  checkRank(count, 0);
  requireGpu();
  int there = 0;
  checkCuda(cudaGetDeviceCount(&there), "cudaGetDeviceCount");
  std::set<int> distinct;
  for (int r = 0; r < count; ++r) {
    const int device = devices == nullptr ? r : devices[r];
    if (device < 0 || device >= there) {
      refuseArgument("Device " + std::to_string(device) + " is asked for.",
                     "Allowed: 0 to " + std::to_string(there - 1) + ".");
    }
    if (!distinct.insert(device).second) {
      refuseArgument("Device " + std::to_string(device) + " is asked for twice.", "Name each device once.");
    }
  }
  const Name name = nameOf(makeUniqueId());
  const Config config = Config::read(nullptr);
  groupStart();
  for (int r = 0; r < count; ++r) {
    makeSoon(Making::prepare(&comms[r], name, count, r, devices == nullptr ? r : devices[r], config));
  }
  return groupEnd();
}

}  // namespace dfccl::nccl
