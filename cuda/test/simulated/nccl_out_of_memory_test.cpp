// A group for which the host's memory runs out, wherever it does.
#include <cstdlib>
#include <new>
#include <utility>

#include "call_beside.hpp"
#include "nccl_api/test/ranks.hpp"
#include "simulated/call.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::comesToHold;

namespace {

constexpr uint64_t kNever = UINT64_MAX;
constexpr size_t kFailing = 2 * sizeof(std::shared_ptr<void>);  // such as the library's own for each run of a group
// Of so many bytes, of this thread, until one fails; only that one does.
thread_local uint64_t allocationsLeft = kNever;

/// Both ranks of a communicator, on this thread.
struct Pair {
  Pair() {
    const ncclUniqueId id = newId();
    ncclConfig_t config = configThatDoesNotBlock();
    CHECK_NCCL(ncclGroupStart());
    for (int r = 0; r < 2; ++r) {
      cudaSetDevice(deviceOf(r));
      CHECK_NCCL(ncclCommInitRankConfig(&comms[r], 2, id, r, &config));
    }
    CHECK(ncclGroupEnd() == ncclInProgress);
    for (const ncclComm_t comm : comms) CHECK(comesToHold([&] { return stateOf(comm) == ncclSuccess; }));
    cudaSetDevice(deviceOf(0));
  }
  ~Pair() {
    for (const ncclComm_t comm : comms) CHECK_NCCL(ncclCommAbort(comm));
  }
  static ncclResult_t stateOf(ncclComm_t comm) {
    ncclResult_t state = ncclInProgress;
    CHECK_NCCL(ncclCommGetAsyncError(comm, &state));
    return state;
  }
  ncclComm_t comms[2] = {};
};

}  // namespace

// Not inlined: the compiler would take what one of them calls for a mismatch with the other.
[[gnu::noinline]] void* operator new(size_t bytes) {
  // CUDA itself is taken to have memory enough.
  const bool mayFail = allocationsLeft != kNever && bytes == kFailing && !dfccl::gpu::simulated::isInCall();
  const bool fails = mayFail && allocationsLeft-- == 0;
  void* const memory = fails ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

// Where streams wait for nothing, nothing may be queued: it would read and write buffers meanwhile.
TEST_CASE("where memory runs out in a group's end, none of it is queued, and no stream waits") {
  cudaSetDevice(deviceOf(0));
  const RankStream first, second;
  const Buffer ones(kCount, 1), sum(kCount, 0), most(kCount, 0);
  uint64_t failures = 0;
  for (bool isPastAll = false; !isPastAll; ++failures) {
    CAPTURE(failures);
    const Pair pair;
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(ncclAllReduce(ones, sum, kCount, ncclFloat32, ncclSum, pair.comms[0], first));
    CHECK_NCCL(ncclAllReduce(ones, most, kCount, ncclFloat32, ncclMax, pair.comms[0], second));
    allocationsLeft = failures;
    const ncclResult_t result = ncclGroupEnd();
    isPastAll = std::exchange(allocationsLeft, kNever) != kNever;
    if (result != ncclSuccess) CHECK(std::string(ncclGetLastError(nullptr)).find("ncclGroupEnd: ") == 0);
    // The other rank doesn't come, so what was queued is not over.
    const bool isQueued = ncclCommFinalize(pair.comms[0]) == ncclInProgress;
    CHECK(isQueued == (result == ncclSuccess));
    const auto areFree = [&] {
      return cudaStreamQuery(first) == cudaSuccess && cudaStreamQuery(second) == cudaSuccess;
    };
    CHECK(comesToHold(areFree, std::chrono::milliseconds(isQueued ? 20 : 20'000)) != isQueued);
  }
  CHECK(failures > 2);
}
