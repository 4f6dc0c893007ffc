// What is asked of communicators, and how they end.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string>

#include "entry_points.hpp"
#include "functions.hpp"
#include "host/driver/nvml.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/calls/falling_back.hpp"
#include "nccl_api/calls/group_calls.hpp"
#include "nccl_api/universe/arguments.hpp"

namespace dfccl::nccl {
namespace {

/// Stores what a communicator says. @param ask a member of it
template <class Ask>
ncclResult_t tell(ncclComm_t comm, const Ask& ask, const char* what, int* out) {
  checkOut(out, what);
  *out = std::invoke(ask, *communicatorWithRanks(comm));
  return ncclSuccess;
}

/// @return the device's own where that isn't known.
int nvmlDeviceOf(int device) {
  char address[32] = "";
  if (cudaDeviceGetPCIBusId(address, sizeof address, device) != cudaSuccess) {
    cudaGetLastError();
    return device;
  }
  return gpu::Nvml().numberOf(address).value_or(device);
}

}  // namespace

ncclResult_t commCount(ncclComm_t comm, int* count) {
  return tell(comm, &Communicator::size, "number of ranks", count);
}

ncclResult_t commCuDevice(ncclComm_t comm, int* device) { return tell(comm, &Communicator::device, "device", device); }

ncclResult_t commUserRank(ncclComm_t comm, int* rank) { return tell(comm, &Communicator::rank, "rank", rank); }

ncclResult_t commGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  checkOut(error, "error");
  *error = Communicators::find(comm)->asyncError();
  return ncclSuccess;
}

ncclResult_t commQueryProperties(ncclComm_t comm, ncclCommProperties_t* properties) {
  checkOut(properties, "properties");
  // A caller of an older version has less of it.
  constexpr size_t kFewest = offsetof(ncclCommProperties_t, deviceApiSupport);
  if (properties->size < kFewest || properties->magic != kNcclMagic) {
    refuseArgument("The properties were not set up.", "Begin with NCCL_COMM_PROPERTIES_INITIALIZER.");
  }
  const std::shared_ptr<Communicator> communicator = communicatorWithRanks(comm);
  ncclCommProperties_t found{};
  found.size = properties->size;
  found.magic = properties->magic;
  found.version = properties->version;
  found.rank = communicator->rank();
  found.nRanks = communicator->size();
  found.cudaDev = communicator->device;
  found.nvmlDev = nvmlDeviceOf(communicator->device);
  std::memcpy(properties, &found, std::min(properties->size, sizeof found));
  return ncclSuccess;
}

ncclResult_t commFinalize(ncclComm_t comm) {
  const std::shared_ptr<Communicator> communicator = Communicators::find(comm);
  communicator->finalize();
  if (!communicator->config.isBlocking) return communicator->beginDrain();
  communicator->drain();
  return ncclSuccess;
}

ncclResult_t commDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  const std::shared_ptr<Communicator> communicator = Communicators::remove(comm);
  dropFromGroup(communicator);
  communicator->awaitMade();
  if (const ncclComm_t real = communicator->real()) {
    return callReal<decltype(ncclCommDestroy)>("ncclCommDestroy", real);
  }
  communicator->awaitSplits();
  if (communicator->isReady()) communicator->drain();
  communicator->leave();
  return ncclSuccess;
}

ncclResult_t commRevoke(ncclComm_t comm, int flags) {
  const std::shared_ptr<Communicator> communicator = communicatorWithRanks(comm);
  if (flags != 0) {
    refuseArgument("The flags are " + std::to_string(flags) + ".", "Allowed: NCCL_REVOKE_DEFAULT (0).");
  }
  communicator->revoke();
  return ncclSuccess;
}

ncclResult_t commAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  const std::shared_ptr<Communicator> communicator = Communicators::remove(comm);
  communicator->abort();
  communicator->leave();
  return ncclSuccess;
}

}  // namespace dfccl::nccl
