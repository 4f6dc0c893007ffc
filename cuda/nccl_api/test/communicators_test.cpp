// How communicators are made, asked and ended, ranks as threads.
#include <atomic>
#include <cstdlib>
#include <string>

#include "call_beside.hpp"
#include "nccl_api/calls/communicator.hpp"
#include "nccl_api/test/ranks.hpp"

using namespace dfccl::nccl::test;
using dfccl::gpu::test::CallBeside;
using dfccl::gpu::test::comesToHold;

TEST_CASE("threads make a communicator of a unique id, and sum up in it") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    int size = 0, number = -1, device = -1;
    CHECK_NCCL(ncclCommCount(comm, &size));
    CHECK_NCCL(ncclCommUserRank(comm, &number));
    CHECK_NCCL(ncclCommCuDevice(comm, &device));
    CHECK(size == kRanks);
    CHECK(number == rank);
    CHECK(device == deviceOf(rank));
    checkSum(comm, static_cast<float>(rank + 1), 10);
    ncclResult_t error = ncclInProgress;
    CHECK_NCCL(ncclCommGetAsyncError(comm, &error));
    CHECK(error == ncclSuccess);
  });
}

TEST_CASE("ranks need not be numbered as their devices are, and a device may have several") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int thread) {
    const int rank = kRanks - 1 - thread;
    const Comm comm(id, kRanks, rank);
    checkSum(comm, static_cast<float>(rank), 6);
  });
  const ncclUniqueId shared = newId();
  onRanks(kRanks, [&](int rank) {
    cudaSetDevice(deviceOf(rank / 2));
    const Comm comm(shared, kRanks, rank);
    checkSum(comm, static_cast<float>(rank), 6);
  });
}

TEST_CASE("a communicator is split by color, its ranks sorted by key") {
  constexpr int kRanks = 4;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    const Comm comm(id, kRanks, rank);
    ncclComm_t half = nullptr;
    CHECK_NCCL(ncclCommSplit(comm, rank % 2, -rank, &half, nullptr));
    int size = 0, number = -1;
    CHECK_NCCL(ncclCommCount(half, &size));
    CHECK_NCCL(ncclCommUserRank(half, &number));
    CHECK(size == 2);
    CHECK(number == 1 - rank / 2);
    checkSum(half, static_cast<float>(rank), rank % 2 == 0 ? 2 : 4);
    ncclComm_t some = nullptr;
    CHECK_NCCL(ncclCommSplit(comm, rank == 3 ? -1 : 0, rank, &some, nullptr));
    CHECK((some == nullptr) == (rank == 3));
    if (some != nullptr) checkSum(some, 1, 3);
    CHECK_NCCL(ncclCommDestroy(some));
    // Both parts at a time.
    ncclComm_t again = nullptr;
    CHECK_NCCL(ncclCommSplit(half, 0, 0, &again, nullptr));
    checkSum(again, static_cast<float>(rank), rank % 2 == 0 ? 2 : 4);
    CHECK_NCCL(ncclCommDestroy(again));
    CHECK_NCCL(ncclCommDestroy(half));
  });
}

TEST_CASE("a communicator tells its properties, and lends memory and handles") {
  cudaSetDevice(deviceOf(1));
  ncclUniqueId ids[] = {newId(), newId()};
  ncclComm_t comm = nullptr;
  CHECK_NCCL(ncclCommInitRankScalable(&comm, 1, 0, 2, ids, nullptr));
  checkSum(comm, 3, 3);
  ncclCommProperties_t properties{};
  CHECK(ncclCommQueryProperties(comm, &properties) == ncclInvalidArgument);
  properties.size = sizeof properties;
  properties.magic = kNcclMagic;
  properties.version = kNcclVersion;
  properties.deviceApiSupport = true;
  CHECK_NCCL(ncclCommQueryProperties(comm, &properties));
  CHECK(properties.size == sizeof properties);
  CHECK(properties.rank == 0);
  CHECK(properties.nRanks == 1);
  CHECK(properties.cudaDev == deviceOf(1));
  CHECK_FALSE(properties.deviceApiSupport);
  // A caller of an older version has less of it.
  properties.size = offsetof(ncclCommProperties_t, deviceApiSupport);
  properties.rank = 7;
  properties.deviceApiSupport = true;
  CHECK_NCCL(ncclCommQueryProperties(comm, &properties));
  CHECK(properties.rank == 0);
  CHECK(properties.deviceApiSupport);
  void *memory = nullptr, *handle = nullptr;
  CHECK_NCCL(ncclMemAlloc(&memory, kCount));
  REQUIRE(memory != nullptr);
  CHECK_NCCL(ncclCommRegister(comm, memory, kCount, &handle));
  CHECK(handle != nullptr);
  CHECK_NCCL(ncclCommDeregister(comm, handle));
  CHECK_NCCL(ncclMemFree(memory));
  CHECK_NCCL(ncclCommDestroy(comm));
}

// What it asks before it begins made it forget the error.
TEST_CASE("a program's own error of CUDA's outlives the making of a communicator") {
  REQUIRE(cudaSetDevice(1 << 20) == cudaErrorInvalidDevice);
  const RankStream stream;
  const Comm comm(newId(), 1, 0);
  checkSum(comm, 5, 5);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
}

TEST_CASE("of a config, blocking and the number of blocks are heeded; the environment comes first") {
  using dfccl::nccl::Config;
  const char* const said = std::getenv("NCCL_MAX_CTAS");
  const std::string former = said == nullptr ? "" : said;
  unsetenv("NCCL_MAX_CTAS");
  CHECK(Config::read(nullptr).isBlocking);
  CHECK(Config::read(nullptr).mostBlocks == 0);
  CHECK(Config::read(nullptr).mostBlocksInStreams == 0);
  ncclConfig_t config{};
  config.size = sizeof config;
  config.blocking = 0;
  config.maxCTAs = 5;
  CHECK_THROWS(Config::read(&config));  // its magic number is missing
  config.magic = kNcclMagic;
  CHECK_FALSE(Config::read(&config).isBlocking);
  CHECK(Config::read(&config).mostBlocks == 1 + 5);
  CHECK(Config::read(&config).mostBlocksInStreams == 5);
  config.blocking = config.maxCTAs = kNcclUnset;
  CHECK(Config::read(&config).isBlocking);
  CHECK(Config::read(&config).mostBlocks == 0);
  config.maxCTAs = 1000;
  CHECK(Config::read(&config).mostBlocks == 1 + 16);
  CHECK(Config::read(&config).mostBlocksInStreams == 1000);
  setenv("NCCL_MAX_CTAS", "3", 1);
  CHECK(Config::read(&config).mostBlocks == 1 + 3);
  CHECK(Config::read(&config).mostBlocksInStreams == 3);
  config.blocking = 2;
  CHECK_THROWS(Config::read(&config));
  if (said == nullptr) {
    unsetenv("NCCL_MAX_CTAS");
  } else {
    setenv("NCCL_MAX_CTAS", former.c_str(), 1);
  }
}

TEST_CASE("nonblocking communicators are asked until they are made") {
  constexpr int kRanks = 3;
  const ncclUniqueId id = newId();
  onRanks(kRanks, [&](int rank) {
    ncclConfig_t config = configThatDoesNotBlock();
    ncclComm_t comm = nullptr;
    CHECK(ncclCommInitRankConfig(&comm, kRanks, id, rank, &config) == ncclInProgress);
    REQUIRE(comm != nullptr);
    const auto awaited = [comm] {
      ncclResult_t state = ncclInProgress;
      while (state == ncclInProgress) {
        CHECK_NCCL(ncclCommGetAsyncError(comm, &state));
        std::this_thread::yield();
      }
      return state;
    };
    CHECK(awaited() == ncclSuccess);
    checkSum(comm, 1, kRanks);
    // The host may hear of the run later than the stream.
    const ncclResult_t ended = ncclCommFinalize(comm);
    CHECK((ended == ncclSuccess || ended == ncclInProgress));
    CHECK(awaited() == ncclSuccess);
    CHECK_NCCL(ncclCommDestroy(comm));
  });
}

TEST_CASE("an abort ends a communicator that is being made, and runs that others don't come to") {
  const ncclUniqueId never = newId(), id = newId();
  ncclConfig_t config{};
  config.size = offsetof(ncclConfig_t, cgaClusterSize);  // of a caller who knows no more
  config.magic = kNcclMagic;
  config.blocking = 0;
  ncclComm_t comm = nullptr;
  cudaSetDevice(0);
  CHECK(ncclCommInitRankConfig(&comm, 2, never, 0, &config) == ncclInProgress);
  CHECK_NCCL(ncclCommAbort(comm));
  std::atomic<int> left{0};
  onRanks(2, [&](int rank) {
    ncclComm_t mine = nullptr;
    CHECK_NCCL(ncclCommInitRank(&mine, 2, id, rank));
    const RankStream stream;
    const Buffer send(kCount, 1), recv(kCount, 0);
    if (rank == 0) CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, mine, stream));
    CHECK_NCCL(ncclCommAbort(mine));
    CHECK(stream.synchronize());
    ++left;
    // A daemon may still read what others have given up.
    while (left != 2) std::this_thread::yield();
  });
}

TEST_CASE("communicators are finalized and destroyed when their runs are over") {
  for (const auto end : {ncclCommFinalize, ncclCommDestroy}) {
    const ncclUniqueId id = newId();
    std::atomic<bool> isAwaited{false};
    onRanks(2, [&](int rank) {
      const RankStream stream;
      const Buffer send(kCount, 1), recv(kCount, 0);
      ncclComm_t comm = nullptr;
      CHECK_NCCL(ncclCommInitRank(&comm, 2, id, rank));
      const auto addUp = [&] { CHECK_NCCL(ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream)); };
      if (rank == 0) {
        addUp();
        const CallBeside call([&] {
          CHECK_NCCL(end(comm));
          CHECK(recv.isAll(2));
        });
        CHECK_FALSE(comesToHold([&] { return call.hasReturned(); }, std::chrono::milliseconds(50)));
        isAwaited = true;
      } else {
        while (!isAwaited) std::this_thread::yield();
        addUp();
        CHECK_NCCL(end(comm));
      }
      if (end == ncclCommFinalize) CHECK_NCCL(ncclCommDestroy(comm));
    });
  }
}

namespace {

/// What both ranks of a communicator do, in which one sum is called: it has to be right before the communicator goes.
/// @param act calls the last of its arguments where the sum belongs
template <class Act>
void onPairThatSums(const Act& act) {
  const ncclUniqueId id = newId();
  onRanks(2, [&](int rank) {
    const RankStream stream;
    const Buffer send(kCount, 1), recv(kCount, 0);
    ncclComm_t comm = nullptr;
    CHECK_NCCL(ncclCommInitRank(&comm, 2, id, rank));
    act(rank, comm, [&] { return ncclAllReduce(send, recv, kCount, ncclFloat32, ncclSum, comm, stream); });
    CHECK(stream.synchronize());
    CHECK(recv.isAll(2));
    CHECK_NCCL(ncclCommDestroy(comm));
  });
}

}  // namespace

// Later operations were carried out, which a program may not rely on.
TEST_CASE("a finalized communicator takes no more operations, and still tells who it is") {
  onPairThatSums([](int rank, ncclComm_t comm, const auto& sum) {
    CHECK_NCCL(sum());
    CHECK_NCCL(ncclCommFinalize(comm));
    CHECK(sum() == ncclInvalidUsage);
    CHECK(std::string(ncclGetLastError(comm)).find("finalized") != std::string::npos);
    const Buffer other(kCount, 1);
    CHECK(ncclSend(other, kCount, ncclFloat32, 1 - rank, comm, nullptr) == ncclInvalidUsage);
    CHECK(ncclCommFinalize(comm) == ncclInvalidArgument);
    int size = 0;
    CHECK_NCCL(ncclCommCount(comm, &size));
    CHECK(size == 2);
  });
}

TEST_CASE("what a group holds when its communicator is finalized is carried out at the group's end") {
  onPairThatSums([](int, ncclComm_t comm, const auto& sum) {
    CHECK_NCCL(ncclGroupStart());
    CHECK_NCCL(sum());
    CHECK_NCCL(ncclCommFinalize(comm));
    CHECK_NCCL(ncclGroupEnd());
  });
}

TEST_CASE("communicators of one rank and of all are destroyed and made anew") {
  constexpr int kRanks = 3;
  for (int round = 0; round < 10; ++round) {
    const ncclUniqueId all = newId();
    onRanks(kRanks, [&](int rank) {
      const Comm alone(newId(), 1, 0);
      const Comm comm(all, kRanks, rank);
      checkSum(alone, 5, 5);
      checkSum(comm, 1, kRanks);
      checkSum(alone, 7, 7);
    });
  }
}
