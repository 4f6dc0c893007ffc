// Stands for NVIDIA's libnccl in tests: its communicators do nothing but tell that it was they who were called.
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "simulated/fake_nccl.hpp"

// An address that is none of the other library's handles.
struct ncclComm {
  int ranks, rank;
};

namespace {

std::atomic<int> calls[kFakeCalls];
thread_local int depth = 0;
thread_local ncclResult_t groupError = ncclSuccess;
std::atomic<int> lastDevice{-1};

/// Of the program's: this library has none of its own.
void noteDevice() {
  int device = -1;
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "cudaGetDevice"));
  if (get != nullptr) get(&device);
  lastDevice = device;
}

ncclResult_t called(FakeCall call) {
  ++calls[call];
  return ncclSuccess;
}

ncclResult_t makeOne(ncclComm_t* comm, int ranks, int rank) {
  *comm = new ncclComm{ranks, rank};
  return ncclSuccess;
}

}  // namespace

extern "C" {

int fakeCallCount(FakeCall call) { return calls[call]; }
int fakeLastDevice() { return lastDevice; }

ncclResult_t ncclGetVersion(int* version) {
  *version = kFakeVersion;
  return ncclSuccess;
}
const char* ncclGetLastError(ncclComm_t) { return "the fake one's last error"; }
ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, kFakeId, sizeof *id);
  return called(kFakeUniqueId);
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  called(kFakeInit);
  noteDevice();
  if (id.internal[127] != kFakeId) return ncclInvalidArgument;
  if (config != nullptr && std::strcmp(config->commName, kFakeName) != 0) return ncclInvalidUsage;
  makeOne(comm, ranks, rank);
  return config != nullptr && config->blocking == 0 ? ncclInProgress : ncclSuccess;
}
ncclResult_t ncclCommShrink(ncclComm_t comm, int*, int excludedCount, ncclComm_t* rest, ncclConfig_t*, int) {
  return makeOne(rest, comm->ranks - excludedCount, comm->rank);
}
ncclResult_t ncclCommGetUniqueId(ncclComm_t, ncclUniqueId* id) { return ncclGetUniqueId(id); }
ncclResult_t ncclCommGrow(ncclComm_t comm, int ranks, const ncclUniqueId*, int rank, ncclComm_t* grown, ncclConfig_t*) {
  return makeOne(grown, ranks, comm == nullptr ? rank : comm->rank);
}
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void*, ncclDataType_t, ncclScalarResidence_t, ncclComm_t) {
  *op = static_cast<ncclRedOp_t>(kFakeOp);
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t) { return op == kFakeOp ? ncclSuccess : ncclInvalidArgument; }
ncclResult_t ncclCommSplit(ncclComm_t, int color, int, ncclComm_t* part, ncclConfig_t*) {
  called(kFakeSplit);
  return color < 0 ? ncclSuccess : makeOne(part, 1, 0);
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  delete comm;
  return called(kFakeDestroy);
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  delete comm;
  return called(kFakeAbort);
}
ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  *count = comm->ranks;
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
  *error = ncclTimeout;
  return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void*, void* recv, size_t count, ncclDataType_t, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t) {
  if (comm == nullptr) {
    if (depth > 0) groupError = ncclInvalidArgument;
    return ncclInvalidArgument;
  }
  if (op != ncclSum && op != kFakeOp) return ncclInvalidArgument;
  // NVIDIA's calls it too, and gets what the loader finds first from there.
  const auto found = reinterpret_cast<decltype(&ncclCommGetAsyncError)>(dlsym(RTLD_DEFAULT, "ncclCommGetAsyncError"));
  ncclResult_t error = ncclSuccess;
  if (found(comm, &error) != ncclSuccess || error != ncclTimeout) return ncclInternalError;
  called(depth > 0 ? kFakeAllReduceInGroup : kFakeAllReduce);
  for (size_t i = 0; i < count; ++i) static_cast<float*>(recv)[i] = kFakeSum + static_cast<float>(comm->rank);
  return ncclSuccess;
}
ncclResult_t ncclBroadcast(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t) {
  return ncclSystemError;
}
ncclResult_t ncclGroupStart() {
  ++depth;
  return called(kFakeGroupStart);
}
ncclResult_t ncclGroupEnd() {
  --depth;
  if (groupError == ncclSuccess) return called(kFakeGroupEnd);
  called(kFakeGroupDropped);
  return std::exchange(groupError, ncclSuccess);
}
ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  *memory = ::operator new(bytes);
  return called(kFakeMemAlloc);
}
ncclResult_t ncclMemFree(void* memory) {
  ::operator delete(memory);
  return ncclSuccess;
}
ncclResult_t ncclCommWindowRegister(ncclComm_t, void* buffer, size_t, ncclWindow_t* window, int) {
  *window = static_cast<ncclWindow_t>(buffer);
  return ncclSuccess;
}
ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int, void** pointer) {
  *pointer = reinterpret_cast<char*>(window) + offset;
  return ncclSuccess;
}

}  // extern "C"
