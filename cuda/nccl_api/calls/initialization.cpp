// Communicators made of unique ids.
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "entry_points.hpp"
#include "functions.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/calls/group_calls.hpp"
#include "nccl_api/machines/reception.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

Making begin(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank, int device, const Config& config) {
  if (!RealNccl::isForAll()) {
    const Invitation invitation = invitationOf(id);
    Making making = Making::prepare(comm, invitation.name, ranks, rank, device, config);
    making.elsewhere = invitation.elsewhere;
    return making;
  }
  if (isOurs(id)) {
    refuseArgument("The unique id was made where DFCCL_REAL_NCCL_FOR isn't set, and here it is.",
                   "Set it to the same on all ranks.");
  }
  Making making = Making::prepare(comm, {}, ranks, rank, device, config);
  making.realId = id;
  return making;
}

ncclResult_t initialize(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank, const ncclConfig_t* config) {
  checkOut(comm, "communicator");
  *comm = nullptr;
  checkRank(ranks, rank);
  const Config read = Config::read(config);
  return makeSoon(begin(comm, ranks, id, rank, currentDevice(), read));
}

/// Where ranks of other machines can't be heard, those of this one meet all the same.
ncclUniqueId makeIdForMachines() {
  try {
    return Reception::here().makeId();
  } catch (const std::exception& error) {
    static std::once_flag isTold;
    std::call_once(isTold, [&] { std::fprintf(stderr, "dfccl: %s\n", error.what()); });
    return makeUniqueId();
  }
}

}  // namespace

ncclResult_t getUniqueId(ncclUniqueId* id) {
  checkOut(id, "unique id");
  if (RealNccl::isForAll()) {
    RealNccl::open();
    return callReal<decltype(ncclGetUniqueId)>("ncclGetUniqueId", id);
  }
  *id = RealNccl::isNamed() ? makeIdForMachines() : makeUniqueId();
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
      throw Failure(ncclInvalidUsage, "Device " + std::to_string(device) + " is asked for twice.",
                    "Name each device once.");
    }
  }
  ncclUniqueId id{};
  getUniqueId(&id);
  const Config config = Config::read(nullptr);
  groupStart();
  const ncclResult_t begun = enteredInGroup("ncclCommInitAll", [&] {
    for (int r = 0; r < count; ++r) {
      makeSoon(begin(&comms[r], count, id, r, devices == nullptr ? r : devices[r], config));
    }
    return ncclSuccess;
  });
  const ncclResult_t made = groupEnd();
  return begun == ncclSuccess ? made : begun;
}

}  // namespace dfccl::nccl
