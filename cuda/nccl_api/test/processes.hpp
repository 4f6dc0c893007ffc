#pragma once
// Ranks of NCCL's, each a process. The one that starts them calls nothing of CUDA's, which doesn't outlive a fork. What
// runs in one says with EXPECT and OK that all is well.
#include <cstdio>
#include <functional>
#include <vector>

#include "nccl_api/test/ranks.hpp"
#include "processes/support/expect.hpp"
#include "processes/support/processes.hpp"

#define OK(call)                                                                                     \
  do {                                                                                               \
    if ((call) != ncclSuccess) {                                                                     \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, ncclGetLastError(nullptr)); \
      return kWrong;                                                                                 \
    }                                                                                                \
  } while (false)

namespace dfccl::nccl::test {

using dfccl::test::kFine;
using dfccl::test::kWrong;
using dfccl::test::Processes;

/// Ids made beforehand, as a program's store would hand them on.
inline std::vector<ncclUniqueId> newIds(size_t count) {
  std::vector<ncclUniqueId> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(newId());
  return ids;
}

/// Ranks that are processes, with a device each and ids that all of them know; each is to end well.
inline void onProcesses(uint32_t ranks, size_t idCount,
                        const std::function<int(uint32_t rank, const std::vector<ncclUniqueId>& ids)>& run) {
  const std::vector<ncclUniqueId> ids = newIds(idCount);
  Processes processes(ranks, [&](uint32_t rank) {
    cudaSetDevice(deviceOf(static_cast<int>(rank)));
    return run(rank, ids);
  });
  for (uint32_t r = 0; r < ranks; ++r) CHECK(processes.join(r) == kFine);
}

/// A rank's sum of ones in a communicator.
inline int sumOnes(ncclComm_t comm, cudaStream_t stream, size_t count) {
  int size = 0;
  OK(ncclCommCount(comm, &size));
  const Buffer send(count, 1), recv(count, 0);
  OK(ncclAllReduce(send, recv, count, ncclFloat32, ncclSum, comm, stream));
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(recv.isAll(static_cast<float>(size)));
  return kFine;
}

}  // namespace dfccl::nccl::test
