// Communicators made of unique ids.
#include <set>
#include <string>
#include <vector>

#include "functions.hpp"
#include "nccl_api/arguments.hpp"
#include "nccl_api/group_calls.hpp"
#include "world/gpu_backend.hpp"

namespace dfccl::nccl {
namespace {

/// @throws Failure ncclUnhandledCudaError where no GPU can be used, with the reason.
void requireGpu() {
  const std::optional<Error> obstacle = reportGpus().obstacle;
  if (obstacle) throw Failure(ncclUnhandledCudaError, obstacle->what());
}

int currentDevice() {
  requireGpu();
  int device = 0;
  checkCuda(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

void checkRank(int ranks, int rank) {
  if (ranks < 1 || ranks > 1024) {
    refuseArgument("The number of ranks is " + std::to_string(ranks) + ".", "Allowed: 1 to 1024.");
  }
  if (rank < 0 || rank >= ranks) {
    refuseArgument("Rank " + std::to_string(rank) + " is not in a communicator of " + std::to_string(ranks) + ".",
                   "Allowed: 0 to " + std::to_string(ranks - 1) + ".");
  }
}

Making prepare(ncclComm_t* comm, const Name& name, int ranks, int rank, int device, const Config& config) {
  Making making;
  making.made = std::make_shared<Communicator>(config, device);
  making.handle = Communicators::add(making.made);
  making.given = comm;
  making.meeting = name;
  making.ranks = ranks;
  making.rank = rank;
  *comm = making.handle;
  return making;
}

ncclResult_t initialize(ncclComm_t* comm, int ranks, const ncclUniqueId& id, int rank, const ncclConfig_t* config) {
  checkOut(comm, "communicator");
  *comm = nullptr;
  checkRank(ranks, rank);
  const Name name = nameOf(id);
  const Config read = Config::read(config);
  return makeSoon(prepare(comm, name, ranks, rank, currentDevice(), read));
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
    makeSoon(prepare(&comms[r], name, count, r, devices == nullptr ? r : devices[r], config));
  }
  return groupEnd();
}

ncclResult_t commSplit(ncclComm_t comm, int color, int key, ncclComm_t* part, ncclConfig_t* config) {
  checkOut(part, "communicator");
  *part = nullptr;
  const std::shared_ptr<Communicator> parent = readyCommunicator(comm);
  if (color < -1) {
    refuseArgument("The color is " + std::to_string(color) + ".", "Allowed: 0 or more, or NCCL_SPLIT_NOCOLOR (-1).");
  }
  Config read = parent->config;
  if (config != nullptr) read = Config::read(config);
  Making making;
  if (color >= 0) making = prepare(part, {}, 0, 0, parent->device, read);
  making.parent = parent;
  making.meeting = parent->name().derived(parent->nextSplit(), 1);
  making.ranks = parent->size();
  making.rank = parent->rank();
  making.color = color;
  making.key = key;
  return makeSoon(std::move(making));
}

}  // namespace dfccl::nccl
