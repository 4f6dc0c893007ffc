// Calls that end in an error, or in another thread's end of the communicator: what is left is as if they had not been.
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>

#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;

namespace {

/// For one case: how long ranks wait for each other.
class JoinTimeout {
 public:
  explicit JoinTimeout(const char* seconds) { setenv("DFCCL_JOIN_TIMEOUT", seconds, 1); }
  ~JoinTimeout() { unsetenv("DFCCL_JOIN_TIMEOUT"); }
};

}  // namespace

TEST_CASE("a communicator may be destroyed in the group that was to make it") {
  cudaSetDevice(deviceOf(0));
  ncclComm_t comm = nullptr;
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclCommInitRank(&comm, 2, newId(), 0));
  CHECK_NCCL(ncclCommDestroy(comm));
  CHECK_NCCL(ncclGroupEnd());
}

TEST_CASE("ranks that wait for one that gives the communicator up are told at once") {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    ncclComm_t comm = nullptr;
    if (rank == 0) {
      CHECK(ncclCommInitRank(&comm, 3, id, 0) == ncclRemoteError);
      CHECK(comm == nullptr);
      return;
    }
    ncclConfig_t config = configThatDoesNotBlock();
    CHECK(ncclCommInitRankConfig(&comm, 3, id, 1, &config) == ncclInProgress);
    CHECK_NCCL(ncclCommAbort(comm));
  });
}

TEST_CASE("a split that one rank is refused is none of the later ones") {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    const Comm comm(id, 2, rank);
    ncclComm_t part = nullptr;
    {
      const JoinTimeout brief("1");
      CHECK(ncclCommSplit(comm, rank == 0 ? -2 : 0, 0, &part, nullptr) ==
            (rank == 0 ? ncclInvalidArgument : ncclTimeout));
      checkSum(comm, 1, 2);  // both are through with it
    }
    CHECK_NCCL(ncclCommSplit(comm, 0, 0, &part, nullptr));
    checkSum(part, 1, 2);
    CHECK_NCCL(ncclCommDestroy(part));
  });
}

TEST_CASE("other ranks than before are left of what is shrunk anew") {
  const ncclUniqueId id = newId();
  onRanks(3, [&](int rank) {
    const Comm comm(id, 3, rank);
    for (int excluded : {2, 1}) {
      if (rank == excluded) continue;
      ncclComm_t rest = nullptr;
      CHECK_NCCL(ncclCommShrink(comm, &excluded, 1, &rest, nullptr, 0));
      checkSum(rest, 1, 2);
      CHECK_NCCL(ncclCommDestroy(rest));
    }
    checkSum(comm, 1, 3);
  });
}

TEST_CASE("a group of which a call is refused changes no buffer that another call was to multiply") {
  cudaSetDevice(deviceOf(0));
  const Comm comm(newId(), 1, 0);
  const RankStream stream;
  const Buffer values(kCount, 1);
  std::vector<float> ofHost(kCount);
  ncclRedOp_t tripled{};
  float three = 3;
  CHECK_NCCL(ncclRedOpCreatePreMulSum(&tripled, &three, ncclFloat32, ncclScalarHostImmediate, comm));
  CHECK_NCCL(ncclGroupStart());
  CHECK_NCCL(ncclAllReduce(values, values, kCount, ncclFloat32, tripled, comm, stream));
  CHECK_NCCL(ncclAllReduce(ofHost.data(), ofHost.data(), kCount, ncclFloat32, ncclSum, comm, stream));
  CHECK(ncclGroupEnd() == ncclInvalidArgument);
  CHECK(stream.synchronize());
  CHECK(values.isAll(1));
  CHECK_NCCL(ncclAllReduce(values, values, kCount, ncclFloat32, tripled, comm, stream));
  CHECK(stream.synchronize());
  CHECK(values.isAll(3));
  CHECK_NCCL(ncclRedOpDestroy(tripled, comm));
}

TEST_CASE("a scalar that a GPU can't read is refused where its operator is made") {
  cudaSetDevice(deviceOf(0));
  const Comm comm(newId(), 1, 0);
  const Buffer scalars(2, 3);
  std::vector<float> ofHost(1, 3);
  ncclRedOp_t op{};
  const auto make = [&](void* scalar) {
    return ncclRedOpCreatePreMulSum(&op, scalar, ncclFloat32, ncclScalarDevice, comm);
  };
  CHECK(make(ofHost.data()) == ncclInvalidArgument);
  CHECK(make(reinterpret_cast<char*>(scalars.data()) + 1) == ncclInvalidArgument);
  CHECK_NCCL(make(scalars.data() + 1));
  CHECK_NCCL(ncclRedOpDestroy(op, comm));
}

TEST_CASE("of a config that ends within a name, the name is left out") {
  cudaSetDevice(deviceOf(0));
  ncclConfig_t config;
  std::memset(&config, 0x11, sizeof config);
  const ncclConfig_t usual = configThatDoesNotBlock();
  std::memcpy(&config, &usual, offsetof(ncclConfig_t, netName));
  config.minCTAs = config.maxCTAs = kNcclUnset;
  config.blocking = 1;
  config.size = offsetof(ncclConfig_t, netName) + 4;
  ncclComm_t comm = nullptr;
  CHECK_NCCL(ncclCommInitRankConfig(&comm, 1, newId(), 0, &config));
  CHECK_NCCL(ncclCommDestroy(comm));
}

// As PyTorch's watchdog does it.
TEST_CASE("a communicator is aborted by one thread while another calls") {
  cudaSetDevice(deviceOf(0));
  const RankStream stream;
  const Buffer values(8, 1);
  for (int round = 0; round < 300; ++round) {
    ncclComm_t comm = nullptr;
    CHECK_NCCL(ncclCommInitRank(&comm, 1, newId(), 0));
    std::thread caller([&] {
      cudaSetDevice(deviceOf(0));
      while (ncclAllReduce(values, values, 8, ncclFloat32, ncclSum, comm, stream) == ncclSuccess) {
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(round % 50));
    CHECK_NCCL(ncclCommAbort(comm));
    caller.join();
  }
  CHECK(stream.synchronize());
}
